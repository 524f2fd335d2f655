"""minigrad: a tensor with backpropagation in NumPy, small enough to read in one sitting.

Start with `tensor` for what a tensor is, `tape` for how it is recorded and walked back through,
`primitive` for what an op is, and `ops` for the rules themselves.
"""

import importlib
from typing import TYPE_CHECKING, Any

from minigrad import functional, ops
from minigrad.check import (
    GradcheckError,
    check_primitive,
    check_primitives,
    detect_anomaly,
    gradcheck,
    gradgradcheck,
)
from minigrad.creation import arange, eye, full, ones, ones_like, rand, randn, zeros, zeros_like
from minigrad.equations import Formula, equations, formula
from minigrad.joint import joint_primitive
from minigrad.modes import enable_grad, no_grad, scope, trace
from minigrad.ops.elementwise import (
    abs,
    add,
    astype,
    clip,
    cos,
    divide,
    divide_or_zero,
    exp,
    gelu,
    log,
    log1p,
    masked_fill,
    maximum,
    minimum,
    multiply,
    negative,
    power,
    relu,
    scale,
    sigmoid,
    silu,
    sin,
    sqrt,
    subtract,
    tanh,
    where,
)
from minigrad.ops.indexing import embedding, getitem, scatter_add, take
from minigrad.ops.linalg import einsum, matmul, matrix_transpose
from minigrad.ops.probability import cross_entropy, log_softmax, logsumexp, softmax
from minigrad.ops.reductions import cumsum, max, mean, min, norm, prod, spread, std, sum, var
from minigrad.ops.shaping import (
    broadcast_to,
    concatenate,
    expand_dims,
    flip,
    pad,
    permute,
    reshape,
    split,
    squeeze,
    stack,
    swapaxes,
    transpose,
    tril,
)
from minigrad.primitive import PRIMITIVES, Primitive, primitive
from minigrad.symbol import Symbol
from minigrad.tape import grad
from minigrad.tensor import Tensor

if TYPE_CHECKING:
    from minigrad.stepper import BackwardSteps, debugging, step_backward

__version__ = "0.1.0"

__all__ = [
    "PRIMITIVES",
    "BackwardSteps",
    "Formula",
    "GradcheckError",
    "Primitive",
    "Symbol",
    "Tensor",
    "abs",
    "add",
    "arange",
    "astype",
    "broadcast_to",
    "check_primitive",
    "check_primitives",
    "clip",
    "concatenate",
    "cos",
    "cross_entropy",
    "cumsum",
    "debugging",
    "detect_anomaly",
    "divide",
    "divide_or_zero",
    "einsum",
    "embedding",
    "enable_grad",
    "equations",
    "exp",
    "expand_dims",
    "eye",
    "flip",
    "formula",
    "full",
    "functional",
    "gelu",
    "getitem",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "joint_primitive",
    "log",
    "log1p",
    "log_softmax",
    "logsumexp",
    "masked_fill",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "negative",
    "no_grad",
    "norm",
    "ones",
    "ones_like",
    "ops",
    "pad",
    "permute",
    "power",
    "primitive",
    "prod",
    "rand",
    "randn",
    "relu",
    "reshape",
    "scale",
    "scatter_add",
    "scope",
    "sigmoid",
    "silu",
    "sin",
    "softmax",
    "split",
    "spread",
    "sqrt",
    "squeeze",
    "stack",
    "std",
    "step_backward",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "tanh",
    "trace",
    "transpose",
    "tril",
    "var",
    "where",
    "zeros",
    "zeros_like",
]


def __getattr__(name: str) -> Any:
    """The stepper, which few scripts need, is imported when it is first asked for."""
    if name in ("BackwardSteps", "debugging", "step_backward"):
        return getattr(importlib.import_module("minigrad.stepper"), name)
    raise AttributeError(f"module 'minigrad' has no attribute {name!r}")
