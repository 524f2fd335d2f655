"""Matrix products and the transposes that their gradients need; `norm` is among the reductions."""

from __future__ import annotations

from string import ascii_letters
from typing import Any

import numpy as np

from minigrad.equations import opaque
from minigrad.notation import explicit
from minigrad.operand import FUNCTIONS
from minigrad.primitive import PRIMITIVES, primitive


def _with_vectors(a: Any, b: Any) -> Any:
    """A vector stands as a row on the left, as a column on the right; its extra axis goes again."""
    a_ndim, b_ndim = np.ndim(a), np.ndim(b)
    if a_ndim == 0 or b_ndim == 0:
        raise ValueError("matmul: a number is no matrix; write * for the product with a number.")
    if np.shape(a)[-1] != np.shape(b)[max(b_ndim - 2, 0)]:
        raise PRIMITIVES["matmul"].explained(ValueError("the lengths differ."), (a, b))
    left = FUNCTIONS["expand_dims"](a, 0) if a_ndim == 1 else a
    right = FUNCTIONS["expand_dims"](b, 1) if b_ndim == 1 else b
    extra = tuple([axis for axis, n in ((-2, a_ndim), (-1, b_ndim)) if n == 1])
    return FUNCTIONS["squeeze"](matmul(left, right), extra)


@primitive(
    lambda g, b: matmul(g, b.mT),
    lambda g, a: matmul(a.mT, g),
    example=lambda rng: [
        (rng.normal(size=(2, 3)), rng.normal(size=(3, 4))),
        (rng.normal(size=(5, 1, 2, 3)), rng.normal(size=(6, 3, 4))),
    ],
    expects="a (..., n, k) and b (..., k, m), with k equal; .mT swaps the last two axes",
    composed=lambda a, b: a @ b,
    otherwise=_with_vectors,
)
def matmul(a: Any, b: Any) -> Any:
    """The matrix product, over any leading batch axes, which broadcast.

    Args: a (..., n, k) and b (..., k, m); a vector (k,) stands as a row or as a column.
    Returns (..., n, m), without the axis of a vector.

    >>> matmul(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0]))
    array([17., 39.])
    """
    a_ndim, b_ndim = getattr(a, "ndim", 0), getattr(b, "ndim", 0)
    if a_ndim == 2 == b_ndim:
        return a.dot(b)  # takes half the time on small ones
    return a @ b if a_ndim > 1 and b_ndim > 1 else NotImplemented


@primitive(lambda g: g.mT, example=lambda rng: (rng.normal(size=(2, 3, 4)),), expects="two axes")
def matrix_transpose(x: Any) -> Any:
    """The last two axes swapped: `x.mT`, (..., n, m) to (..., m, n).

    >>> matrix_transpose(np.ones((2, 3, 4))).shape
    (2, 4, 3)
    """
    return x.mT


def _called(call: Any, *args: Any, subscripts: Any = None, optimize: Any = True) -> Any:
    subscripts, *operands = (subscripts or "", *args) if subscripts or not args else args
    if not isinstance(subscripts, str):
        raise TypeError("einsum: the subscripts come first, as in einsum('ij,jk->ik', a, b).")
    return call(*operands, subscripts=explicit(subscripts, [np.shape(x) for x in operands]))


@opaque
def einsum_gradient(g: Any, position: int, operands: Any, subscripts: str) -> Any:
    """The gradient at one operand: again an einsum, of the upstream and the other operands.

    An index that only this operand has (or has at full length) was summed, so its gradient is
    repeated along it: a vector of ones does that. An index that it has twice took a diagonal: an
    identity matrix does that.
    """
    terms, _, out = subscripts.partition("->")
    inputs = terms.split(",")
    own, shape = inputs[position], operands[position].shape
    others = [i for i in range(len(inputs)) if i != position]
    factors = [g, *[operands[i] for i in others]]
    names = [out, *[inputs[i] for i in others]]
    lengths = dict.fromkeys("".join(names), 1)
    for name, factor in zip(names, factors, strict=True):
        lengths |= {c: n for c, n in zip(name, factor.shape, strict=True) if n != 1}
    target = ""
    for letter, n in zip(own, shape, strict=True):
        if letter in target:
            fresh = next(c for c in ascii_letters if c not in own + target + "".join(names))
            factors.append(np.eye(n, dtype=g.dtype))
            names.append(letter + fresh)
            letter = fresh
        elif lengths.get(letter) != n:
            factors.append(np.ones(n, g.dtype))
            names.append(letter)
        target += letter
    return FUNCTIONS["einsum"](f"{','.join(names)}->{target}", *factors)


@primitive(
    lambda g, index, operands, *, subscripts: einsum_gradient(g, index, operands, subscripts),
    example=lambda rng: [
        (rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), {"subscripts": "ij,jk->ik"}),
        (rng.normal(size=(2, 3, 4)), {"subscripts": "ijk->ki"}),
        (rng.normal(size=(3, 3)), {"subscripts": "ii->i"}),
        (rng.normal(size=(3, 3)), {"subscripts": "ii->"}),
        (rng.normal(size=(2, 3)), rng.normal(size=(1, 3)), {"subscripts": "ij,ij->j"}),
        (rng.normal(size=(5, 2, 3)), rng.normal(size=(3, 4)), {"subscripts": "Aij,jk->Aik"}),
    ],
    expects="one term of subscripts for each operand, one letter for each of its axes",
    called=_called,
)
def einsum(*operands: Any, subscripts: str) -> Any:
    """The sum of products over named axes: `einsum(subscripts, *operands)`, as NumPy's.

    >>> einsum("ij,j->i", np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0]))
    array([17., 39.])
    """
    return np.einsum(subscripts, *operands, optimize=len(operands) > 1)
