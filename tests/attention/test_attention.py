"""Attention against the lessons' own numbers and gradients, and what its contract says of masks,
batches, dropout, names and errors."""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from attention import SelfAttention, causal_mask, scaled_dot_product_attention, softmax
from attention.functional import dropout
from minigrad import Tensor, gradcheck, trace
from minigrad.graph import history
from tests.helpers import Array, assert_close, assert_same, gradient_of, leaf, node_of

REFERENCE = Path(__file__).parent.parent / "reference" / "lessons.json"
LESSONS: dict[str, Any] = json.loads(REFERENCE.read_text(encoding="utf-8"))
Rng = np.random.Generator


@pytest.fixture
def rng() -> Rng:
    return np.random.default_rng(20240607)


def by_hand(q: Array, k: Array, v: Array, bias: Any = 0.0) -> tuple[Array, Array]:
    """Output and weights in plain NumPy; `bias` is added to the scaled scores."""
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1]) + bias
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights


# --------------------------------------------------------------------- L1: the cat eats the fish


@pytest.mark.parametrize("variant", ["scaled", "unscaled"])
def test_l1_every_step_of_the_lesson_and_the_gradient_at_every_step(variant: str) -> None:
    lesson = LESSONS["cat_eats_fish"]
    q, k, v = (leaf(lesson[name], name=name) for name in "QKV")
    expected = lesson[variant]
    with trace():
        scores = q @ k.mT
        scaled = minigrad.scale(scores, 0.5 if variant == "scaled" else 1.0)
        weights = softmax(scaled)
        context = weights @ v
        loss = (context * np.array(expected["upstream"])).sum()
    assert_close(scores, expected["scores"])
    assert_close(scaled, expected["scaled_scores"])
    assert_close(weights, expected["weights"])
    assert_close(context, expected["context"])
    assert_close(loss, expected["loss"])

    loss.backward()
    gradients = expected["grad"]
    for tensor, name in (
        (context, "Z"),
        (weights, "A"),
        (scaled, "scaled_scores"),
        (scores, "S"),
        (q, "Q"),
        (k, "K"),
        (v, "V"),
    ):
        assert_close(gradient_of(tensor), gradients[name], atol=1e-15)


@pytest.mark.parametrize(("variant", "scale"), [("scaled", None), ("unscaled", 1.0)])
def test_l1_in_one_call(variant: str, scale: float | None) -> None:
    lesson = LESSONS["cat_eats_fish"]
    q, k, v = (leaf(lesson[name]) for name in "QKV")
    expected = lesson[variant]
    output, weights = scaled_dot_product_attention(q, k, v, scale=scale)
    assert_close(output, expected["context"])
    assert_close(weights, expected["weights"])
    output.backward(np.array(expected["upstream"]))
    for tensor, name in ((q, "Q"), (k, "K"), (v, "V")):
        assert_close(gradient_of(tensor), expected["grad"][name], atol=1e-15)


def test_l1_fed_through_the_class() -> None:
    """One-hot words times matrices whose rows are Q, K and V give these back."""
    lesson = LESSONS["cat_eats_fish"]
    layer = SelfAttention(3, 4)
    for parameter, name in zip(layer.parameters(), "QKV", strict=True):
        parameter.data = lesson[name]
    output, weights = layer(np.eye(3))
    assert_close(output, lesson["scaled"]["context"])
    assert_close(weights, lesson["scaled"]["weights"])
    output.backward(np.array(lesson["scaled"]["upstream"]))
    for parameter, name in zip(layer.parameters(), "QKV", strict=True):
        assert_close(gradient_of(parameter), lesson["scaled"]["grad"][name], atol=1e-15)


def test_the_rows_of_the_gradient_at_the_scores_sum_to_0() -> None:
    lesson = LESSONS["cat_eats_fish"]
    q, k, v = (leaf(lesson[name]) for name in "QKV")
    with trace():
        scores = q @ k.mT
        output = softmax(scores) @ v
    output.backward(np.array(lesson["scaled"]["upstream"]))
    assert_close(gradient_of(scores).sum(axis=-1), np.zeros(3), atol=1e-15)
    assert np.abs(gradient_of(scores)).max() > 0.01


# ------------------------------------------------------------------------------- other lessons


def test_l6_the_chain_of_shapes() -> None:
    layer = SelfAttention(8, 4, 6, rng=np.random.default_rng(1))
    assert [p.shape for p in layer.parameters()] == [(8, 4), (8, 4), (8, 6)]
    x = np.random.default_rng(2).normal(size=(3, 8))
    output, weights = layer(x)
    assert (output.shape, weights.shape) == ((3, 6), (3, 3))
    assert_close(weights.numpy().sum(axis=-1), np.ones(3))
    expected, _ = by_hand(*(x @ p.data for p in layer.parameters()))
    assert_close(output, expected)


def test_l6_the_values_may_be_wider_or_narrower_than_the_keys(rng: Rng) -> None:
    for d_v in (1, 4, 9):
        output, _ = SelfAttention(8, 4, d_v, rng=rng)(rng.normal(size=(3, 8)))
        assert output.shape == (3, d_v)
    assert SelfAttention(8, 4).W_V.shape == (8, 4)


def test_l8_another_base_is_e_with_the_scores_times_its_logarithm() -> None:
    lesson = LESSONS["normalisations"]
    assert_close(softmax(Tensor(lesson["compare"]["z"])), lesson["compare"]["softmax"])
    assert_close(softmax(Tensor(lesson["base2"]["z"]), base=2.0), lesson["base2"]["p"])


@pytest.mark.parametrize("base", [0.5, 2.0, 10.0])
def test_l8_the_gradient_carries_the_logarithm_of_the_base(base: float, rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=(2, 5))), rng.normal(size=(2, 5))
    p = base**x.data / (base**x.data).sum(axis=-1, keepdims=True)
    y = softmax(x, base=base)
    assert_close(y, p)
    y.backward(upstream)
    centred = upstream - (upstream * p).sum(axis=-1, keepdims=True)
    assert_close(gradient_of(x), math.log(base) * p * centred, atol=1e-15)


def test_l8_base_1_weighs_everything_alike_and_a_base_has_to_be_positive() -> None:
    assert_close(softmax(Tensor([1.0, 2.0, 3.0]), base=1.0), [1 / 3] * 3)
    for base in (0.0, -2.0, math.nan):
        with pytest.raises(ValueError, match="base must be positive"):
            softmax(Tensor([1.0, 2.0]), base=base)


def test_l8_the_axis_is_free(rng: Rng) -> None:
    x = rng.normal(size=(2, 3))
    assert_close(softmax(Tensor(x), 0), np.exp(x) / np.exp(x).sum(axis=0))


def test_l10_four_one_hot_words_stage_by_stage() -> None:
    lesson = LESSONS["one_hot_words"]
    state = random.getstate()
    random.seed(42)
    layer = SelfAttention(lesson["d_model"], lesson["d_k"])
    for parameter in layer.parameters():
        parameter.data = [[random.normalvariate(0, 0.1) for _ in range(6)] for _ in range(8)]
    random.setstate(state)
    x = np.eye(8)[:4]
    with trace():
        output, weights = layer(x)
    assert_close(output, lesson["output"])
    assert_close(weights, lesson["weights"])
    stages = named_stages(output)
    assert_close(stages["scores"], lesson["scores"])
    assert_close(stages["scaled"], lesson["scaled_scores"])


def test_l13_the_matrix_form_in_batches(rng: Rng) -> None:
    lesson = LESSONS["matrix_form"]
    layer = SelfAttention(lesson["d_model"], lesson["d_k"], rng=rng)
    x = rng.normal(size=(lesson["batch"], lesson["L"], lesson["d_model"]))
    output, weights = layer(x)
    assert list(output.shape) == lesson["output_shape"]
    assert list(weights.shape) == lesson["weights_shape"]
    assert_close(weights.numpy().sum(axis=-1), np.ones((2, 4)))
    for sentence in range(2):
        alone, _ = layer(x[sentence])
        assert_close(output.numpy()[sentence], alone, rtol=1e-9, atol=1e-12)


def test_l14_the_score_matrix_is_queries_by_keys(rng: Rng) -> None:
    q, k, v = rng.normal(size=(2, 4)), rng.normal(size=(3, 4)), rng.normal(size=(3, 5))
    output, weights = scaled_dot_product_attention(q, k, v)
    assert weights is not None
    assert (output.shape, weights.shape) == ((2, 5), (2, 3))


def test_l15_the_gradient_at_the_values_does_not_pass_through_the_softmax(rng: Rng) -> None:
    q, k, v = leaf(rng.normal(size=(2, 4))), leaf(rng.normal(size=(3, 4))), leaf(np.eye(3, 5))
    upstream = rng.normal(size=(2, 5))
    output, weights = scaled_dot_product_attention(q, k, v)
    output.backward(upstream)
    assert weights is not None
    assert_close(gradient_of(v), weights.data.T @ upstream)


# ----------------------------------------------------------------------------------- gradients


CALLS: dict[str, Callable[..., Any]] = {
    "plain": lambda q, k, v: scaled_dot_product_attention(q, k, v)[0],
    "unscaled": lambda q, k, v: scaled_dot_product_attention(q, k, v, scale=1.0)[0],
    "causal": lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True)[0],
    "masked": lambda q, k, v: scaled_dot_product_attention(q, k, v, np.eye(4, 5, dtype=bool))[0],
    "weights": lambda q, k, v: scaled_dot_product_attention(q, k, v)[1],
    "dropout": lambda q, k, v: scaled_dot_product_attention(
        q, k, v, dropout_p=0.4, rng=np.random.default_rng(3)
    )[0],
}


@pytest.mark.parametrize("name", CALLS)
def test_the_gradients_of_attention_are_those_of_finite_differences(name: str, rng: Rng) -> None:
    q, k, v = (leaf(rng.normal(size=shape)) for shape in ((2, 4, 3), (5, 3), (2, 5, 6)))
    assert gradcheck(CALLS[name], [q, k, v])


def test_attention_can_be_differentiated_twice(rng: Rng) -> None:
    q, k, v = (leaf(rng.normal(size=shape)) for shape in ((2, 3), (4, 3), (4, 5)))
    assert minigrad.gradgradcheck(CALLS["plain"], [q, k, v], rtol=1e-5, atol=1e-8)


# --------------------------------------------------------------------------------------- masks


def random_mask(rng: Rng, shape: tuple[int, ...]) -> Array:
    """Half of the keys at random, and always the first."""
    mask = rng.random(shape) < 0.5
    mask[..., 0] = True
    return mask


MASK_SHAPES = [(3, 4), (1, 4), (3, 1), (4,), (1,), (2, 1, 4), (2, 3, 4), (1, 3, 4)]


@pytest.mark.parametrize("shape", MASK_SHAPES)
def test_a_boolean_mask_broadcasts_to_the_scores(shape: tuple[int, ...], rng: Rng) -> None:
    q, k, v = (rng.normal(size=s) for s in ((2, 3, 5), (2, 4, 5), (2, 4, 6)))
    mask = random_mask(rng, shape)
    expected, weights = by_hand(q, k, v, np.where(mask, 0.0, -np.inf))
    for given in (mask, Tensor(mask)):
        found, found_weights = scaled_dot_product_attention(q, k, v, given)
        assert_close(found, expected)
        assert_close(found_weights, weights)


@pytest.mark.parametrize("shape", MASK_SHAPES)
def test_an_additive_mask_is_added_to_the_scaled_scores(shape: tuple[int, ...], rng: Rng) -> None:
    q, k, v = (rng.normal(size=s) for s in ((2, 3, 5), (2, 4, 5), (2, 4, 6)))
    bias = rng.normal(size=shape)
    expected, weights = by_hand(q, k, v, bias)
    for given in (bias, Tensor(bias), leaf(bias)):
        found, found_weights = scaled_dot_product_attention(q, k, v, given)
        assert_close(found, expected)
        assert_close(found_weights, weights)


def test_both_kinds_of_mask_say_the_same(rng: Rng) -> None:
    mask, upstream = random_mask(rng, (3, 4)), rng.normal(size=(3, 6))
    gradients = []
    for given in (mask, np.where(mask, 0.0, -np.inf)):
        q, k, v = (leaf(np.random.default_rng(1).normal(size=s)) for s in ((3, 5), (4, 5), (4, 6)))
        scaled_dot_product_attention(q, k, v, given)[0].backward(upstream)
        gradients.append([gradient_of(t) for t in (q, k, v)])
    for one, other in zip(*gradients, strict=True):
        assert_close(one, other)


def test_an_additive_mask_that_asks_for_a_gradient_gets_one(rng: Rng) -> None:
    """A learned bias of positions, for example."""
    q, k, v = (rng.normal(size=s) for s in ((2, 3, 5), (2, 4, 5), (2, 4, 6)))
    bias = leaf(rng.normal(size=(3, 4)))
    assert gradcheck(lambda b: scaled_dot_product_attention(q, k, v, b)[0], [bias])


def test_a_masked_key_gets_no_weight_and_no_gradient(rng: Rng) -> None:
    q, k, v = (leaf(rng.normal(size=s)) for s in ((3, 5), (4, 5), (4, 6)))
    mask = np.array([True, False, True, True])
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    output.backward(rng.normal(size=(3, 6)))
    assert weights is not None
    assert_same(weights.numpy()[:, 1], np.zeros(3))
    assert_same(gradient_of(k)[1], np.zeros(5))
    assert_same(gradient_of(v)[1], np.zeros(6))
    assert np.abs(gradient_of(k)[[0, 2, 3]]).min() > 0


FULLY_MASKED: dict[str, Array] = {
    "boolean": np.array([[True, False, True], [False, False, False]]),
    "additive": np.array([[0.0, -np.inf, 0.0], [-np.inf, -np.inf, -np.inf]]),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mask", FULLY_MASKED.values(), ids=FULLY_MASKED)
def test_a_query_that_may_attend_to_nothing_gets_zeros_everywhere(
    mask: Array, dtype: Any, rng: Rng
) -> None:
    q, k, v = (leaf(rng.normal(size=s).astype(dtype)) for s in ((2, 4), (3, 4), (3, 5)))
    upstream = rng.normal(size=(2, 5)).astype(dtype)
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    output.backward(upstream)
    assert weights is not None
    assert output.dtype == weights.dtype == dtype
    assert_same(weights.numpy()[1], np.zeros(3))
    assert_same(output.numpy()[1], np.zeros(5))
    assert_same(gradient_of(q)[1], np.zeros(4))

    alone = leaf(q.data[:1]), leaf(k.data), leaf(v.data)
    first, _ = scaled_dot_product_attention(*alone, mask[:1])
    first.backward(upstream[:1])
    for together, apart in zip((q.grad, k.grad, v.grad), alone, strict=True):
        assert together is not None
        assert_close(together[: apart.shape[0]], gradient_of(apart), rtol=1e-5, atol=1e-7)


def test_everything_masked_gives_zeros(rng: Rng) -> None:
    q, k, v = (leaf(rng.normal(size=s)) for s in ((2, 3, 5), (2, 4, 5), (2, 4, 6)))
    output, _ = scaled_dot_product_attention(q, k, v, np.zeros((3, 4), bool))
    output.backward(rng.normal(size=(2, 3, 6)))
    assert_same(output, np.zeros((2, 3, 6)))
    for tensor in (q, k, v):
        assert_same(gradient_of(tensor), np.zeros(tensor.shape))


def test_a_mask_may_be_changed_afterwards(rng: Rng) -> None:
    mask, upstream = random_mask(rng, (3, 4)), rng.normal(size=(3, 6))
    found = []
    for spoil in (False, True):
        given = mask.copy()
        q, k, v = (leaf(np.random.default_rng(1).normal(size=s)) for s in ((3, 5), (4, 5), (4, 6)))
        output, _ = scaled_dot_product_attention(q, k, v, given)
        if spoil:
            given[:] = ~given
        output.backward(upstream)
        found.append(gradient_of(q))
    assert_same(found[1], found[0])


def test_the_mask_itself_is_left_as_it_was(rng: Rng) -> None:
    mask = random_mask(rng, (3, 4))
    before = mask.copy()
    q, k, v = (leaf(rng.normal(size=s)) for s in ((3, 5), (4, 5), (4, 6)))
    scaled_dot_product_attention(q, k, v, mask)[0].backward(rng.normal(size=(3, 6)))
    assert_same(mask, before)


# --------------------------------------------------------------------------------------- causal


@pytest.mark.parametrize(("n_query", "n_key"), [(3, 3), (2, 5), (5, 2), (1, 4), (4, 1)])
def test_a_causal_mask_lets_query_i_see_keys_0_to_i(n_query: int, n_key: int, rng: Rng) -> None:
    q, k, v = (rng.normal(size=s) for s in ((n_query, 4), (n_key, 4), (n_key, 6)))
    output, weights = scaled_dot_product_attention(q, k, v, is_causal=True)
    assert weights is not None
    for i in range(n_query):
        seen = slice(0, i + 1)
        expected, _ = by_hand(q[i : i + 1], k[seen], v[seen])
        assert_close(output.numpy()[i : i + 1], expected)
        assert_same(weights.numpy()[i, i + 1 :], np.zeros(max(n_key - i - 1, 0)))


def test_is_causal_is_the_causal_mask(rng: Rng) -> None:
    q, k, v = (rng.normal(size=s) for s in ((2, 3, 4), (2, 5, 4), (2, 5, 6)))
    by_flag, _ = scaled_dot_product_attention(q, k, v, is_causal=True)
    by_mask, _ = scaled_dot_product_attention(q, k, v, causal_mask(3, 5))
    assert_same(by_flag, by_mask)


@pytest.mark.parametrize("kind", ["boolean", "additive"])
def test_a_causal_mask_and_another_both_apply(kind: str, rng: Rng) -> None:
    q, k, v = (rng.normal(size=s) for s in ((4, 5), (4, 5), (4, 6)))
    mask = random_mask(rng, (4, 4))
    bias = rng.normal(size=(4, 4))
    given = mask if kind == "boolean" else bias
    added = np.where(mask, 0.0, -np.inf) if kind == "boolean" else bias
    hidden = np.where(np.tri(4, dtype=bool), 0.0, -np.inf)
    output, _ = scaled_dot_product_attention(q, k, v, given, is_causal=True)
    assert_close(output, by_hand(q, k, v, added + hidden)[0])


def test_causal_mask_is_aligned_top_left_or_from_an_offset() -> None:
    assert causal_mask(2).tolist() == [[True, False], [True, True]]
    assert causal_mask(2, 3).tolist() == [[True, False, False], [True, True, False]]
    assert causal_mask(3, 2).tolist() == [[True, False], [True, True], [True, True]]
    assert causal_mask(2, 4, offset=2).tolist() == [[True, True, True, False], [True] * 4]
    assert causal_mask(0, 3).shape == (0, 3)
    assert causal_mask(2, 3).dtype == np.bool_


@pytest.mark.parametrize("arguments", [(-1,), (2, -1)])
def test_a_causal_mask_of_negative_length_is_refused(arguments: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"causal_mask: lengths .* must be ≥ 0"):
        causal_mask(*arguments)
    with pytest.raises(ValueError, match="offset -1"):
        causal_mask(2, offset=-1)


# ------------------------------------------------------------------------------------- batch axes


BATCHES = [
    ((), (), ()),
    ((7,), (7,), (7,)),
    ((7, 2), (7, 2), (7, 2)),
    ((7,), (), ()),
    ((), (7,), (7,)),
    ((7, 1), (2,), (7, 2)),
    ((2,), (7, 1), ()),
    ((7, 2), (1, 2), (7, 1)),
]


@pytest.mark.parametrize("batches", BATCHES)
def test_any_leading_axes_broadcast_in_value_and_gradient(
    batches: tuple[tuple[int, ...], ...], rng: Rng
) -> None:
    sides = ((3, 5), (4, 5), (4, 6))
    q, k, v = (leaf(rng.normal(size=(*b, *s))) for b, s in zip(batches, sides, strict=True))
    batch = np.broadcast_shapes(*batches)
    output, weights = scaled_dot_product_attention(q, k, v)
    expected, _ = by_hand(q.data, k.data, v.data)
    assert output.shape == (*batch, 3, 6)
    assert_close(output, expected)
    assert weights is not None
    assert weights.shape == (*np.broadcast_shapes(*batches[:2]), 3, 4)

    upstream = rng.normal(size=output.shape)
    output.backward(upstream)
    apart = [np.zeros(t.shape) for t in (q, k, v)]
    for index in np.ndindex(batch):
        parts = [leaf(np.broadcast_to(t.data, (*batch, *t.shape[-2:]))[index]) for t in (q, k, v)]
        scaled_dot_product_attention(*parts)[0].backward(upstream[index])
        for total, part in zip(apart, parts, strict=True):
            lead = total.shape[:-2]
            last = index[len(index) - len(lead) :]
            own = tuple(i if n > 1 else 0 for i, n in zip(last, lead, strict=True))
            total[own] += gradient_of(part)
    for tensor, total in zip((q, k, v), apart, strict=True):
        assert_close(gradient_of(tensor), total, rtol=1e-9, atol=1e-12)


def test_no_queries_or_no_keys_are_no_error(rng: Rng) -> None:
    output, weights = scaled_dot_product_attention(
        np.zeros((0, 4)), np.ones((3, 4)), np.ones((3, 5))
    )
    assert weights is not None
    assert (output.shape, weights.shape) == ((0, 5), (0, 3))
    output, weights = scaled_dot_product_attention(
        np.ones((2, 4)), np.ones((0, 4)), np.ones((0, 5))
    )
    assert weights is not None
    assert weights.shape == (2, 0)
    assert_same(output, np.zeros((2, 5)))


def test_queries_keys_and_values_may_be_arrays_lists_or_tensors(rng: Rng) -> None:
    q, k, v = (rng.normal(size=s) for s in ((2, 4), (3, 4), (3, 5)))
    expected, _ = by_hand(q, k, v)
    assert_close(scaled_dot_product_attention(q, k, v)[0], expected)
    assert_close(scaled_dot_product_attention(q.tolist(), Tensor(k), leaf(v))[0], expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_goes_through_to_the_gradients(dtype: Any, rng: Rng) -> None:
    q, k, v = (leaf(rng.normal(size=s).astype(dtype)) for s in ((2, 4), (3, 4), (3, 5)))
    additive = np.zeros((2, 3))
    for mask in (None, additive, np.ones((2, 3), bool)):
        output, weights = scaled_dot_product_attention(
            q, k, v, mask, dropout_p=0.5, rng=rng, is_causal=True
        )
        assert weights is not None
        assert output.dtype == weights.dtype == dtype
        output.backward(np.ones((2, 5)))
    assert {gradient_of(t).dtype for t in (q, k, v)} == {np.dtype(dtype)}


def test_the_scale_may_be_any_number(rng: Rng) -> None:
    q, k, v = (rng.normal(size=s) for s in ((2, 4), (3, 4), (3, 5)))
    for scale in (0.0, 0.3, -1.0, np.float64(2.0), 3):
        output, _ = scaled_dot_product_attention(q, k, v, scale=scale)
        assert_close(output, by_hand(q * scale * 2.0, k, v)[0])


# ---------------------------------------------------------------------------------------- dropout


def test_dropout_draws_from_the_generator_that_is_passed(rng: Rng) -> None:
    q, k, v = (rng.normal(size=s) for s in ((6, 4), (5, 4), (5, 3)))
    _, kept = scaled_dot_product_attention(q, k, v)
    first, weights = scaled_dot_product_attention(
        q, k, v, dropout_p=0.4, rng=np.random.default_rng(7)
    )
    again, _ = scaled_dot_product_attention(q, k, v, dropout_p=0.4, rng=np.random.default_rng(7))
    other, _ = scaled_dot_product_attention(q, k, v, dropout_p=0.4, rng=np.random.default_rng(8))
    assert_same(again, first)
    assert not np.allclose(other, first)
    assert weights is not None
    assert kept is not None
    ratio = weights.numpy() / kept.numpy()
    assert_close(np.unique(ratio.round(9)), [0.0, round(1 / 0.6, 9)])
    assert_close(first, weights.numpy() @ v)


def test_dropout_without_a_generator_says_what_to_pass(rng: Rng) -> None:
    x = rng.normal(size=(2, 4))
    with pytest.raises(ValueError, match=r"pass rng=numpy\.random\.default_rng"):
        scaled_dot_product_attention(x, x, x, dropout_p=0.1)


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan])
def test_dropout_takes_a_probability(p: float, rng: Rng) -> None:
    with pytest.raises(ValueError, match="p is a probability"):
        dropout(Tensor([1.0]), p, rng)


def test_no_dropout_needs_no_generator_and_draws_nothing(rng: Rng) -> None:
    x = leaf([1.0, 2.0])
    before = rng.bit_generator.state
    assert dropout(x, 0.0, rng) is x
    assert dropout(x, 0.7, rng, training=False) is x
    assert rng.bit_generator.state == before


def test_dropped_entries_get_no_gradient_and_the_others_are_scaled(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=(20, 30))), rng.normal(size=(20, 30))
    y = dropout(x, 0.25, rng)
    y.backward(upstream)
    kept = y.numpy() != 0
    assert 0.6 < kept.mean() < 0.9
    assert_close(gradient_of(x), np.where(kept, upstream / 0.75, 0.0))


# ---------------------------------------------------------------------------------------- names


def named_stages(output: Tensor) -> dict[str, Array]:
    """The values of all named results behind the output, recorded under trace()."""
    recorded = history([node_of(output)])
    return {
        node.name: node.trace[len(node.inputs)]
        for node in recorded
        if node.name is not None and node.trace is not None
    }


def test_the_steps_carry_the_lessons_names(rng: Rng) -> None:
    with trace():
        output, weights = SelfAttention(8, 4, 6, rng=rng)(rng.normal(size=(3, 8)))
    assert (output.name, weights.name) == ("context", "weights")
    stages = named_stages(output)
    assert set(stages) == {"Q", "K", "V", "scores", "scaled", "weights", "context"}
    assert_close(stages["scores"], stages["Q"] @ stages["K"].T)
    assert_close(stages["scaled"], stages["scores"] / 2.0)
    assert_close(stages["context"], stages["weights"] @ stages["V"])


def test_a_mask_adds_a_step_of_its_own(rng: Rng) -> None:
    x = leaf(rng.normal(size=(3, 4)))
    with trace():
        output, _ = scaled_dot_product_attention(x, x, x, is_causal=True)
    stages = named_stages(output)
    assert set(stages) == {"scores", "scaled", "masked", "weights", "context"}
    assert_close(stages["scaled"], stages["scores"] / 2.0)
    assert np.isfinite(stages["scaled"]).all()


def test_the_tensors_given_keep_their_names(rng: Rng) -> None:
    q, k, v = (leaf(rng.normal(size=(3, 4)), name=name) for name in ("mine", "yours", "ours"))
    scaled_dot_product_attention(q, k, v)
    x = leaf(rng.normal(size=(3, 8)), name="sentence")
    SelfAttention(8, 4, rng=rng)(x)
    assert (q.name, k.name, v.name, x.name) == ("mine", "yours", "ours", "sentence")


def test_the_weights_can_be_left_out(rng: Rng) -> None:
    x = rng.normal(size=(3, 4))
    output, weights = scaled_dot_product_attention(x, x, x, need_weights=False)
    assert weights is None
    assert_close(output, scaled_dot_product_attention(x, x, x)[0])


# ------------------------------------------------------------------------------------ the class


def test_self_attention_draws_its_parameters_from_the_generator() -> None:
    first, again = (SelfAttention(50, 40, rng=np.random.default_rng(3)) for _ in range(2))
    other = SelfAttention(50, 40, rng=np.random.default_rng(4))
    assert_same(first.W_Q, again.W_Q)
    assert not np.allclose(first.W_Q, other.W_Q)
    drawn = np.concatenate([p.numpy().ravel() for p in first.parameters()])
    assert abs(drawn.std() * math.sqrt(50) - 1) < 4 / math.sqrt(2 * drawn.size)
    assert [p.name for p in first.parameters()] == ["W_Q", "W_K", "W_V"]
    assert all(p.requires_grad and p.is_leaf for p in first.parameters())


@pytest.mark.parametrize(("scale", "factor"), [(None, 0.5), (1.0, 1.0)])
def test_self_attention_takes_the_scale(scale: float | None, factor: float, rng: Rng) -> None:
    layer, x = SelfAttention(8, 4, scale=scale, rng=rng), rng.normal(size=(3, 8))
    q, k, v = (x @ p.data for p in layer.parameters())
    assert_close(layer(x)[0], by_hand(q * 2.0 * factor, k, v)[0])


def test_self_attention_takes_masks(rng: Rng) -> None:
    layer, x = SelfAttention(8, 4, rng=rng), rng.normal(size=(2, 3, 8))
    q, k, v = (x @ p.data for p in layer.parameters())
    hidden = np.where(np.tri(3, dtype=bool), 0.0, -np.inf)
    assert_close(layer(x, is_causal=True)[0], by_hand(q, k, v, hidden)[0])
    assert_close(layer(x, np.tri(3, dtype=bool))[0], by_hand(q, k, v, hidden)[0])


def test_self_attention_reaches_its_input_by_three_paths(rng: Rng) -> None:
    layer = SelfAttention(6, 4, 5, rng=rng)
    x = leaf(rng.normal(size=(3, 6)))
    assert gradcheck(lambda t: layer(t)[0], [x])


def test_a_parameter_may_be_replaced_by_a_tensor_of_ones_own(rng: Rng) -> None:
    layer = SelfAttention(3, 2, rng=rng)
    layer.W_V = leaf(np.eye(3))
    output, weights = layer(np.eye(3))
    assert_close(output, weights)


# ---------------------------------------------------------------------------------------- errors


def _attend(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    return scaled_dot_product_attention(np.ones(q), np.ones(k), np.ones(v), mask)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: _attend((2, 4), (3, 5), (3, 6)),
            ValueError,
            r"widths must be equal; got query \(2, 4\), key \(3, 5\)",
        ),
        (
            lambda: _attend((2, 4), (3, 4), (5, 6)),
            ValueError,
            r"every key needs its value; got .*key \(3, 4\), value \(5, 6\)",
        ),
        (
            lambda: _attend((4,), (3, 4), (3, 6)),
            ValueError,
            r"\(\.\.\., length, width\).*query \(4,\)",
        ),
        (lambda: _attend((2, 0), (3, 0), (3, 6)), ValueError, "d_k must be at least 1"),
        (lambda: _attend((7, 2, 4), (5, 3, 4), (3, 6)), ValueError, r"\(7, 2, 4\).*\(5, .*4"),
        (
            lambda: _attend((2, 4), (3, 4), (3, 6), np.ones((2, 4), bool)),
            ValueError,
            r"mask of shape \(2, 4\) does not broadcast to the scores \(2, 3\).*queries, keys",
        ),
        (
            lambda: _attend((2, 4), (3, 4), (3, 6), np.ones((5, 2, 3), bool)),
            ValueError,
            r"mask of shape \(5, 2, 3\) does not broadcast to the scores \(2, 3\)",
        ),
        (
            lambda: _attend((2, 4), (3, 4), (3, 6), np.ones((2, 3), int)),
            TypeError,
            r"boolean \(True = may attend\) or additive floats; this one is int64.*astype\(bool\)",
        ),
        (
            lambda: SelfAttention(8, 4)(np.ones((3, 7))),
            ValueError,
            r"\(\.\.\., length, 8\); got \(3, 7\)",
        ),
        (lambda: SelfAttention(8, 4)(np.ones(8)), ValueError, r"\(\.\.\., length, 8\); got \(8,\)"),
        (lambda: SelfAttention(0, 4), ValueError, "widths must be at least 1; d_model 0"),
        (lambda: SelfAttention(8, 4, 0), ValueError, "widths must be at least 1.*d_v 0"),
    ],
)
def test_an_error_says_what_was_given_and_what_fits(
    call: Callable[[], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        call()
