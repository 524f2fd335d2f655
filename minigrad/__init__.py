"""minigrad: a tensor with backpropagation in NumPy, small enough to read in one sitting.

Start with `tensor` for what a tensor is, `tape` for how it is recorded and walked back through,
`primitive` for what an op is, and `ops` for the rules themselves.
"""

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
from minigrad.modes import enable_grad, no_grad, scope
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
from minigrad.symbol import Formula, Symbol, formula
from minigrad.tape import grad, trace
from minigrad.tensor import Tensor

__version__ = "0.1.0"
