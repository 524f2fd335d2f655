"""Matrix products of any ranks and einsum with one and two operands, as NumPy has them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import minigrad
from tests.properties.support import (
    Array,
    Draw,
    Function,
    Shape,
    assert_like_numpy,
    broadcastable,
    holds_for,
    normal,
    seeds,
)


@st.composite
def factors(draw: Draw) -> tuple[Shape, Shape]:
    """Shapes of a matrix product: vectors, matrices, and batches of them that broadcast."""
    n, k, m = draw(st.permutations([2, 3, 4]))
    first, second = draw(broadcastable(max_ndim=2))
    kinds = st.sampled_from(["vector", "matrix", "batch"])
    left = {"vector": (k,), "matrix": (n, k), "batch": (*first, n, k)}[draw(kinds)]
    right = {"vector": (k,), "matrix": (k, m), "batch": (*second, k, m)}[draw(kinds)]
    return left, right


PRODUCTS: dict[str, Function] = {
    "a @ b": lambda a, b: a @ b,
    "np.matmul": np.matmul,
}


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS.keys())
@holds_for(shapes=factors(), seed=seeds)
def test_a_matrix_product_takes_all_ranks(
    product: Function, shapes: tuple[Shape, Shape], seed: int
) -> None:
    assert_like_numpy(product, product, *normal(seed, *shapes))


@holds_for(shapes=factors(), seed=seeds, array_first=st.booleans())
def test_an_array_may_be_a_factor(
    shapes: tuple[Shape, Shape], seed: int, array_first: bool
) -> None:
    a, b = normal(seed, *shapes)
    x, constant = (b, a) if array_first else (a, b)

    def product(x: Any) -> Any:
        return constant @ x if array_first else x @ constant

    assert_like_numpy(product, product, x)


LENGTHS = {"i": 2, "j": 3, "k": 4, "l": 5}


@st.composite
def subscripts(draw: Draw) -> tuple[str, list[Shape]]:
    """Subscripts and shapes that fit: repeated, dropped, swapped and elided indices."""
    count = draw(st.integers(1, 2))
    terms, shapes = [], []
    batches = draw(broadcastable(count, max_ndim=2))
    elided = draw(st.booleans())
    for batch in batches:
        letters = draw(st.lists(st.sampled_from("ijkl"), min_size=not elided, max_size=3))
        front = draw(st.integers(0, len(letters))) if elided else 0
        before, after = letters[:front], letters[front:]
        terms.append("".join([*before, "..." if elided else "", *after]))
        middle = batch if elided else ()
        shapes.append((*[LENGTHS[c] for c in before], *middle, *[LENGTHS[c] for c in after]))
    text = ",".join(terms)
    if draw(st.booleans()):
        used = sorted(set(text) & set(LENGTHS))
        out = draw(st.permutations(used)) if used else []
        kept = "".join(out[: draw(st.integers(0, len(out)))])
        text += "->" + ("..." if elided else "") + kept
    return text, shapes


@pytest.mark.parametrize("einsum", [minigrad.einsum, np.einsum], ids=["minigrad", "numpy"])
@holds_for(case=subscripts(), seed=seeds)
def test_einsum_is_numpys(einsum: Function, case: tuple[str, list[Shape]], seed: int) -> None:
    text, shapes = case
    assert_like_numpy(
        lambda *x: einsum(text, *x), lambda *x: np.einsum(text, *x), *normal(seed, *shapes)
    )


FORMS: dict[str, list[Shape]] = {
    "i->": [(3,)],
    "ii": [(3, 3)],
    "iij->ji": [(3, 3, 2)],
    "ji": [(2, 3)],
    "i,i": [(3,), (3,)],
    "i,j->ji": [(2,), (3,)],
    "ij,kl->": [(2, 3), (4, 5)],
    "iij,jk->k": [(2, 2, 3), (3, 4)],
    "ij, jk -> ik": [(2, 3), (3, 4)],
    "...,j->j...": [(2, 3), (4,)],
    "i...,...i->...": [(2, 3, 4), (4, 2)],
    "ij,ij->j": [(2, 3), (1, 3)],
}


@pytest.mark.parametrize("text", FORMS)
def test_einsum_reads_the_form(text: str) -> None:
    def compute(*operands: Any) -> Any:
        return np.einsum(text, *operands)

    assert_like_numpy(lambda *x: minigrad.einsum(text, *x), compute, *normal(0, *FORMS[text]))


def test_einsum_takes_capital_letters_beside_an_ellipsis() -> None:
    def compute(a: Any, b: Any) -> Any:
        return np.einsum("A...,AB->B...", a, b)

    assert_like_numpy(compute, compute, *normal(0, (2, 3), (2, 4)))


def test_a_product_over_no_entries_is_zero() -> None:
    a, b = np.ones((2, 0)), np.ones((0, 3))
    arrays: list[Array] = [a, b]
    assert_like_numpy(lambda a, b: a @ b, lambda a, b: a @ b, *arrays)
