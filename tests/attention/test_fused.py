"""Attention as one primitive: the values and gradients of the composed form, whatever the shapes,
masks, tiles and threads, in linear memory, and with BLAS left as it was."""

import inspect
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import minigrad
from attention import fused, fused_attention, scaled_dot_product_attention, threads, tiling
from attention.fused import _composed
from minigrad import Tensor, check_primitive, grad
from tests.helpers import Array, assert_close, assert_same, leaf

Rng = np.random.Generator


def some_shapes(rng: Rng) -> tuple[list[Array], dict[str, Any]]:
    """Queries, keys and values of any shapes that go together, and options."""
    leading = [(), (2,), (2, 3), (1, 3)][rng.integers(4)]
    length, keys, width, wide = (int(n) for n in rng.integers(1, 20, 4))

    def drawn(*sides: int) -> Array:
        lead = [1 if rng.random() < 0.25 else n for n in leading]
        lead = lead[int(rng.integers(0, len(lead) + 1)) :] if rng.random() < 0.3 else lead
        return np.asarray(rng.normal(size=(*lead, *sides)))

    inputs = [drawn(length, width) * rng.choice([1, 16]), drawn(keys, width), drawn(keys, wide)]
    options: dict[str, Any] = {"is_causal": bool(rng.random() < 0.5)}
    if rng.random() < 0.5:
        options["scale"] = float(rng.normal())
    full = np.broadcast_shapes(*[x.shape[:-2] for x in inputs])
    kind = rng.random()
    if kind < 0.3:
        lead = [1 if rng.random() < 0.5 else n for n in full]
        options["mask"] = rng.random((*lead, length, keys)) < 0.6
    elif kind < 0.5:
        options["mask"] = rng.normal(size=(length if rng.random() < 0.5 else 1, keys))
    return inputs, options


def assert_equal_to_composed(rng: Rng) -> None:
    arrays, options = some_shapes(rng)
    inputs = [leaf(x) for x in arrays]
    fused = fused_attention(*inputs, **options, threads=int(rng.integers(1, 4)))
    composed = _composed(*inputs, **options)
    upstream = rng.normal(size=composed.shape)
    pairs = zip(grad(fused, inputs, upstream), grad(composed, inputs, upstream), strict=True)
    for ours, theirs in [(fused, composed), *pairs]:
        size = 1 + np.abs(theirs.numpy()).max(initial=0)
        assert_close(ours.numpy() / size, theirs.numpy() / size, rtol=0, atol=1e-11)


@pytest.mark.parametrize("times", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_it_is_the_composed_form_whatever_the_shapes_masks_tiles_and_threads(
    times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    for _ in range(times):
        monkeypatch.setattr(tiling, "QUERIES", int(rng.choice([1, 3, 7, 16, 256])))
        monkeypatch.setattr(tiling, "KEYS", int(rng.choice([1, 5, 8, 64, 1024])))
        monkeypatch.setattr(tiling, "GROUP", int(rng.choice([1, 50, 65536])))
        assert_equal_to_composed(rng)


@pytest.mark.slow
def test_all_that_is_promised_of_a_primitive_holds() -> None:
    result = check_primitive(fused_attention)
    assert result.ok, result.problem
    assert result.second is not None


MISTAKES = {
    "forward: no scale": ("query = block.query[:, rows] * dtype.type(problem.scale)", "query = block.query[:, rows]"),  # noqa: E501
    "forward: sums not shrunk": ("sums *= shrink", "pass"),
    "forward: result not shrunk": ("out *= shrink", "pass"),
    "forward: the last tile alone": ("first=start == 0", "first=True"),
    "the diagonal is hidden": ("np.tri(queries, keys, offset)", "np.tri(queries, keys, offset-1)"),
    "one key too many": ("np.tri(queries, keys, offset)", "np.tri(queries, keys, offset+1)"),
    "mask turned round": ("where=~mask", "where=mask"),
    "backward: no scale": ("d_query[:, rows] *= dtype.type(problem.scale)", "pass"),
    "backward: scores without scale": ("scaled = block.query[:, rows] * dtype.type(problem.scale)", "scaled = block.query[:, rows]"),  # noqa: E501
    "backward: D dropped": ("turn = -(given", "turn = -0 * (given"),
    "backward: D of one entry": ("turn = -(given * out[:, rows])", "turn = -(given * out[:, rows])[..., :1]"),  # noqa: E501
    "backward: not times the weights": ("change *= weights", "pass"),
    "backward: the last queries alone": ("spaces[2], first)", "spaces[2], True)"),
    "backward: the last keys alone": ("spaces[2], columns.start == 0", "spaces[2], True"),
    "backward: a strip is lost": ("d_key += more_key", "pass"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_no_mistake_in_the_tiles_goes_unnoticed(
    mistake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong = MISTAKES[mistake]
    source = inspect.getsource(tiling)
    assert right in source
    broken: dict[str, Any] = {"__name__": "broken"}
    exec(source.replace(right, wrong) + "\nQUERIES, KEYS, GROUP = 4, 2, 2", broken)
    monkeypatch.setenv("MINIGRAD_NUM_THREADS", "1")
    for name in ("Problem", "forward", "backward"):
        monkeypatch.setattr(fused, name, broken[name])
    assert not check_primitive(fused_attention).ok


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("shape", [(700, 16), (5, 300, 16), (3, 40, 60, 8)])
def test_the_result_does_not_depend_on_the_number_of_threads(
    shape: tuple[int, ...], is_causal: bool
) -> None:
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=shape).astype(np.float32) for _ in range(3)]
    upstream = rng.normal(size=shape).astype(np.float32)
    found = []
    for count in (1, 2, 3):
        inputs = [leaf(x) for x in arrays]
        out = fused_attention(*inputs, is_causal=is_causal, threads=count)
        found.append([out, *grad(out, inputs, upstream)])
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            assert_same(other.numpy(), one.numpy())


def test_heads_may_be_split_from_one_array_and_share_their_keys() -> None:
    rng = np.random.default_rng(2)
    tokens = leaf(rng.normal(size=(2, 9, 4, 6)))  # batch, length, heads, width
    shared = leaf(rng.normal(size=(2, 1, 7, 6)))
    upstream = rng.normal(size=(2, 4, 9, 6))
    pairs = [
        grad(attend(tokens.swapaxes(1, 2), shared, shared), [tokens, shared], upstream)
        for attend in (fused_attention, _composed)
    ]
    for ours, theirs in zip(*pairs, strict=True):
        assert_close(ours.numpy(), theirs.numpy(), rtol=1e-11, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1.0, 16.0])
def test_in_float32_it_is_as_exact_as_the_composed_form(size: float) -> None:
    rng = np.random.default_rng(3)
    arrays = [rng.normal(size=(2, 500, 32)) for _ in range(3)]
    arrays[0] *= size
    upstream = rng.normal(size=(2, 500, 32))

    def gradients(attend: Any, dtype: Any) -> list[Array]:
        inputs = [leaf(x.astype(dtype)) for x in arrays]
        out = attend(*inputs)
        assert out.dtype == dtype
        return [x.numpy() for x in [out, *grad(out, inputs, upstream.astype(dtype))]]

    exact = gradients(_composed, np.float64)
    errors = [
        [np.linalg.norm(x - y) / np.linalg.norm(y) for x, y in zip(found, exact, strict=True)]
        for found in (gradients(fused_attention, np.float32), gradients(_composed, np.float32))
    ]
    assert max(errors[0]) < 2 * max(errors[1]) + 1e-6


def test_a_query_that_may_look_at_nothing_gets_0_and_passes_0() -> None:
    x = leaf(np.random.default_rng(4).normal(size=(3, 4)))
    allowed = np.array([[True, True, False], [False] * 3, [True] * 3])
    out = fused_attention(x, x, x, mask=allowed)
    assert_same(out.numpy()[1], np.zeros(4))
    query = leaf(x.numpy())
    out = fused_attention(query, x, x, mask=allowed)
    (slope,) = grad(out, [query], np.ones((3, 4)))
    assert_same(slope.numpy()[1], np.zeros(4))


def test_memory_grows_with_the_length_and_not_with_its_square() -> None:
    rng = np.random.default_rng(5)
    peaks = []
    for length in (1024, 4096):
        inputs = [leaf(rng.normal(size=(length, 16)).astype(np.float32)) for _ in range(3)]
        upstream = np.ones((length, 16), np.float32)
        tracemalloc.start()
        fused_attention(*inputs, threads=1).backward(upstream)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 4096 * 4096 * 4 / 4  # a quarter of one matrix of weights
    assert peaks[1] < 4.5 * peaks[0]


@pytest.mark.slow
def test_a_long_causal_head_takes_under_sixty_megabytes_beyond_what_it_is_given_and_gives() -> None:
    rng = np.random.default_rng(12)
    tracemalloc.start()
    arrays = [rng.standard_normal((1, 32_768, 64), np.float32) for _ in range(4)]
    query, key, value, upstream = arrays
    problem = tiling.Problem(query, key, value, None, True, 0.125)
    out, log_sums = tiling.forward(problem, 2)
    gradients = tiling.backward(problem, upstream, out, log_sums, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - sum(x.nbytes for x in (*arrays, out, *gradients)) < 60e6


def test_writing_to_the_result_does_not_change_the_gradient() -> None:
    x = leaf(np.random.default_rng(6).normal(size=(4, 3)))
    expected = grad(fused_attention(x, x, x), [x], np.ones((4, 3)))[0].numpy()
    out = fused_attention(x, x, x)
    out.data[...] = 7.0
    assert_same(grad(out, [x], np.ones((4, 3)))[0].numpy(), expected)


def blas_threads() -> list[int]:
    return [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]


def test_blas_is_left_as_it_was_also_after_an_error_and_from_several_threads() -> None:
    before = blas_threads()
    seen: list[list[int]] = []

    def look() -> None:
        seen.append(blas_threads())

    def fail() -> None:
        raise KeyError("a task of its own")

    threads.in_parallel([look] * 4, 2)
    assert {n for counts in seen for n in counts} <= {1}
    with pytest.raises(KeyError, match="a task of its own"):
        threads.in_parallel([look, fail, look], 2)
    x = leaf(np.ones((300, 8)))
    for _ in range(20):
        workers = [threading.Thread(target=lambda: fused_attention(x, x, x)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert blas_threads() == before


def test_blas_is_left_as_it_was_where_the_first_one_in_lives_on() -> None:
    """Whoever leaves last puts it back, whichever thread had set it."""
    before = blas_threads()
    entered, leave, left, end = (threading.Event() for _ in range(4))

    def first() -> None:
        with threads.single_threaded_blas():
            entered.set()
            leave.wait(10)
        left.set()
        end.wait(10)

    worker = threading.Thread(target=first)
    worker.start()
    entered.wait(10)
    with threads.single_threaded_blas():
        leave.set()
        left.wait(10)
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before
    with threads.single_threaded_blas():
        assert set(blas_threads()) <= {1}
    end.set()
    worker.join()
    assert blas_threads() == before


def test_the_environment_says_how_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.VARIABLE, "3")
    assert threads.default_threads() == 3
    monkeypatch.delenv(threads.VARIABLE)
    assert threads.default_threads() >= 1
    for wrong in ("0", "-1", "many", ""):
        monkeypatch.setenv(threads.VARIABLE, wrong)
        with pytest.raises(ValueError, match="MINIGRAD_NUM_THREADS is a number of threads"):
            threads.default_threads()


@pytest.mark.parametrize(
    ("shapes", "options", "said"),
    [
        ([(3,), (3, 4), (3, 4)], {}, r"attention takes \(\.\.\., length, width\)"),
        ([(3, 4), (3, 5), (3, 5)], {}, "queries and keys need one width"),
        ([(3, 4), (3, 4), (2, 4)], {}, "every key needs its value"),
        ([(2, 3, 4), (3, 3, 4), (3, 4)], {}, "fused_attention: "),
        ([(3, 4)] * 3, {"mask": np.ones((2, 3), bool)}, "mask of shape"),
        ([(3, 4)] * 3, {"threads": 0}, "threads is a number, at least 1"),
    ],
)
def test_what_does_not_fit_is_refused(shapes: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fused_attention(*[Tensor(np.zeros(shape)) for shape in shapes], **options)


def test_a_mask_of_integers_is_refused() -> None:
    x = Tensor(np.zeros((3, 4)))
    with pytest.raises(TypeError, match=r"Write mask\.astype\(bool\)"):
        fused_attention(x, x, x, mask=np.ones((3, 3), int))


def test_the_step_by_step_form_uses_it_where_nobody_needs_the_weights() -> None:
    rng = np.random.default_rng(7)
    query, key, value = (leaf(rng.normal(size=(4, 512, 8))) for _ in range(3))
    plain, weights = scaled_dot_product_attention(query, key, value)
    assert weights is not None
    fused, none = scaled_dot_product_attention(query, key, value, need_weights=False)
    assert none is None
    assert fused._node is not None
    assert str(fused._node.primitive) == "fused_attention"
    assert fused.name == "context"
    assert_close(fused.numpy(), plain.numpy(), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("options", [{"dropout_p": 0.5, "rng": np.random.default_rng(0)}, {}])
def test_dropout_and_small_heads_take_the_steps_one_by_one(options: dict[str, Any]) -> None:
    length = 1024 if options else 4
    x = leaf(np.random.default_rng(8).normal(size=(length, 8)))
    out, _ = scaled_dot_product_attention(x, x, x, need_weights=False, **options)
    assert str(out._node and out._node.primitive) == "matmul"


def test_it_is_one_node_that_can_be_stepped_through_and_checked() -> None:
    x = leaf(np.random.default_rng(9).normal(size=(5, 3)), name="x")
    with minigrad.trace():
        out = fused_attention(x, x, x, is_causal=True)
    steps = minigrad.step_backward(out, np.random.default_rng(10).normal(size=(5, 3)), check=True)
    assert [event.op for event in steps if event.kind == "enter"] == ["fused_attention"]
    assert [event.part for event in steps if event.kind == "accumulate"] == [1, 2, 3]


def test_scratch_memory_is_used_again_and_large_pieces_of_it_are_not_kept() -> None:
    double = np.dtype(np.float64)
    tiling._spare.clear()
    with tiling.scratch(double, 10, 20) as (first, second), tiling.scratch(double, 10) as (other,):
        assert (first.size, second.size, other.size) == (10, 20, 10)
        assert not any(map(np.shares_memory, (first, first, second), (second, other, other)))
    with tiling.scratch(double, 5) as (again,):
        assert np.shares_memory(again, first) or np.shares_memory(again, other)
    assert len(tiling._spare) == 2
    with pytest.raises(KeyError), tiling.scratch(double, 5):
        raise KeyError
    assert len(tiling._spare) == 2
    with tiling.scratch(double, tiling.SPARE):
        pass
    assert sum(buffer.nbytes for buffer in tiling._spare) <= tiling.SPARE
