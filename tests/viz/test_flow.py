"""Gradient flow: what is drawn where, which ops are marked, and what cannot be drawn."""

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

import minigrad
from attention.layers import SelfAttention
from minigrad import Tensor
from minigrad.graph import history
from tests.helpers import assert_close, leaf, node_of
from tests.viz.test_figures import foreign, svg_texts
from viz.figures import BLUE, NEUTRAL, ORANGE, figure_of, rendered
from viz.flow import TEXTS, gradient_flow
from viz.graph import contribution


def flow_of(compute: Callable[[], Tensor], seed: int = 0, **options: Any) -> Axes:
    """The picture of a computation, after a backward from a random upstream."""
    return gradient_flow(walked(compute, seed), **options)


def walked(compute: Callable[[], Tensor], seed: int = 0) -> Tensor:
    with minigrad.trace():
        root = compute()
    root.backward(np.random.default_rng(seed).normal(size=root.shape))
    return root


def points(axes: Axes, marker: str) -> dict[int, float]:
    """What is drawn with a marker: heights by place in the walk."""
    found = [line for line in axes.get_lines() if line.get_marker() == marker]
    return {
        int(x): float(y)
        for line in found
        for x, y in zip(*np.asarray(line.get_data(), dtype=float), strict=True)
    }


def lines(axes: Axes, colour: str, style: str = "-") -> list[tuple[int, float, int, float]]:
    """The lines of a colour, from one place and norm to another."""
    found = []
    for line in axes.get_lines():
        if (line.get_color(), line.get_linestyle()) == (colour, style):
            x, y = (np.asarray(data, dtype=float).reshape(-1, 3) for data in line.get_data())
            found += [(int(a), b, int(c), d) for (a, c, _), (b, d, _) in zip(x, y, strict=True)]
    return found


def names(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_xticklabels()]


def marked(axes: Axes) -> dict[str, str]:
    """The names that stand out, with their colours."""
    labels = axes.get_xticklabels()
    return {
        label.get_text(): str(label.get_color())
        for label in labels
        if label.get_fontweight() == "bold"
    }


def factors(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def explained(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


# ------------------------------------------------------------------------------ what is drawn


def test_every_op_and_leaf_stands_at_its_norm_in_the_order_of_the_walk() -> None:
    rng = np.random.default_rng(0)
    w = leaf(rng.normal(size=(4, 2)), name="W")
    x = leaf(rng.normal(size=(3, 4)), name="X")
    root = walked(lambda: minigrad.tanh(x @ w))
    axes = gradient_flow(root)
    product = node_of(root).inputs[0]
    gradients: Any = (root.grad, product.grad, x.grad, w.grad)
    norms = [float(np.linalg.norm(gradient)) for gradient in gradients]
    assert names(axes) == ["tanh", "matmul", "X", "W"]
    assert points(axes, "o") == pytest.approx({0: norms[0], 1: norms[1]})
    assert points(axes, "D") == pytest.approx({2: norms[2], 3: norms[3]})
    assert axes.get_yscale() == "log"
    assert axes.get_xlabel() == "backward walk (ops: 2, leaves: 2)"
    assert explained(axes) == [
        "at the result of an op",
        "at a leaf",
        "its typical row (median × √rows)",
    ]


def test_lines_join_an_op_with_its_inputs() -> None:
    x = leaf(np.random.default_rng(0).normal(size=(2, 3)))
    axes = flow_of(lambda: minigrad.exp(x) * minigrad.sin(x))
    assert names(axes) == ["multiply", "sin", "exp", "leaf"]
    ends = {(start, end) for start, _, end, _ in lines(axes, NEUTRAL)}
    assert ends == {(0, 1), (0, 2), (1, 3), (2, 3)}
    heights = points(axes, "o") | points(axes, "D")
    for start, low, end, high in lines(axes, NEUTRAL):
        assert (low, high) == (heights[start], heights[end])


@pytest.mark.parametrize("count", [2, 3])
def test_the_typical_row_is_the_median_of_the_rows(count: int) -> None:
    sizes = np.array([1.0, 5.0, 90.0])[:count, None, None]
    upstream = np.random.default_rng(0).normal(size=(count, 5, 4)) * sizes
    x = leaf(np.zeros((count, 5, 4)))
    with minigrad.trace():
        root = minigrad.negative(x)
    root.backward(upstream)
    rows = np.linalg.norm(upstream.reshape(5 * count, 4), axis=1)
    expected = float(np.median(rows)) * math.sqrt(5 * count)
    assert points(gradient_flow(root), "_") == pytest.approx({0: expected, 1: expected})


def test_a_single_row_has_no_typical_one_apart() -> None:
    x = leaf(np.random.default_rng(0).normal(size=5))
    assert points(flow_of(lambda: minigrad.exp(x)), "_") == {}


def test_names_are_drawn_as_they_stand() -> None:
    x = leaf([1.0, 2.0], name="权重 λ")

    def compute() -> Tensor:
        y: Tensor = x * 2.0
        y.name = "$x^2$ <b>"
        return y

    axes = flow_of(compute, language="zh")
    assert names(axes) == ["multiply → $x^2$ <b>", "权重 λ"]
    texts = svg_texts(rendered(figure_of(axes), "svg"))
    for text in ("multiply → $x^2$ <b>", "权重 λ", "梯度的回程", "梯度的范数", "叶子处"):
        assert text in texts


def test_every_word_has_its_chinese_twin() -> None:
    assert TEXTS["en"].keys() == TEXTS["zh"].keys()
    assert all(TEXTS["en"][name] != TEXTS["zh"][name] for name in TEXTS["en"])


def test_it_can_be_drawn_where_one_wants() -> None:
    _, theirs = foreign()
    x = leaf([1.0, 2.0])
    assert flow_of(lambda: x * 2.0, ax=theirs) is theirs


def test_drawing_changes_no_gradient() -> None:
    x = leaf(np.random.default_rng(0).normal(size=(2, 3)))
    root = walked(lambda: minigrad.exp(x))
    before = {node: node.grad.copy() for node in history([node_of(root)])}
    gradient_flow(root)
    for node, gradient in before.items():
        assert_close(node.grad, gradient, rtol=0.0)


# ------------------------------------------------------------------------------ what is marked


@pytest.mark.parametrize(
    ("factor", "text", "colour"),
    [
        (1e-3, "÷ 1,000", ORANGE),
        (0.1, "÷ 10", ORANGE),
        (25.0, "× 25", BLUE),
        (-3e7, "× 3e7", BLUE),
        (0.0, "→ 0", ORANGE),
    ],
)
def test_an_op_across_which_the_gradient_changes_tenfold_is_marked(
    factor: float, text: str, colour: str
) -> None:
    x = leaf(np.random.default_rng(0).normal(size=(2, 3)))
    axes = flow_of(lambda: minigrad.negative(minigrad.sin(x) * factor))
    assert marked(axes) == {"multiply": colour}
    assert factors(axes) == [text]
    ((start, before, end, after),) = lines(axes, colour)
    assert (start, end) == (1, 1)
    heights = points(axes, "o") | points(axes, "v")
    assert (before, after) == pytest.approx((heights[1], heights[2]))  # there is no other user
    verb = "shrinks" if colour == ORANGE else "grows"
    assert explained(axes)[0] == f"norm {verb} tenfold or more: 1"


@pytest.mark.parametrize("factor", [0.11, 9.9])
def test_a_smaller_change_is_not_marked(factor: float) -> None:
    x = leaf(np.random.default_rng(0).normal(size=(2, 3)))
    axes = flow_of(lambda: minigrad.negative(x * factor))
    assert (marked(axes), factors(axes), lines(axes, ORANGE), lines(axes, BLUE)) == ({}, [], [], [])


def test_the_largest_of_the_inputs_counts() -> None:
    a, b = leaf([1.0, 2.0]), leaf([1e-6, 2e-6])
    axes = flow_of(lambda: minigrad.negative(a * b))
    assert marked(axes) == {}  # ∂L/∂a has a norm of 1e-6, but ∂L/∂b is as large as L's
    assert max(points(axes, "D").values()) / min(points(axes, "D").values()) > 1e5


def test_spreading_a_gradient_out_is_no_change() -> None:
    x = leaf(np.random.default_rng(0).normal(size=(40, 50)))
    for reduce in (minigrad.mean, minigrad.sum):
        axes = flow_of(lambda reduce=reduce: reduce(minigrad.sin(x)))  # type: ignore[misc]
        assert marked(axes) == {}
        assert 20.0 < max(points(axes, "o").values()) / min(points(axes, "o").values()) < 80.0


def test_what_shrinks_beyond_spreading_is_marked() -> None:
    x = leaf(np.random.default_rng(0).normal(size=(40, 50)))
    axes = flow_of(lambda: minigrad.mean(minigrad.mean(x * 1e-2, axis=0)))
    assert marked(axes) == {"multiply": ORANGE}
    x.grad = None
    row = np.full((50, 1), 3e-4)  # of norm 2e-3, where the sizes account for 0.14
    axes = flow_of(lambda: minigrad.negative(minigrad.sin(x[:1]) @ row))
    assert marked(axes) == {"matmul": ORANGE}


def test_an_op_is_judged_by_what_it_passed_back_itself_and_not_by_the_sum_at_its_input() -> None:
    x = leaf([1.0, 2.0])

    def both_ways() -> Tensor:
        y = minigrad.sin(x)
        total: Tensor = y * 1e-6 + minigrad.negative(y)
        return total

    axes = flow_of(both_ways)
    assert names(axes) == ["add", "negative", "multiply", "sin", "leaf"]
    heights = points(axes, "o")
    assert marked(axes) == {"multiply": ORANGE}
    ((_, before, place, after),) = lines(axes, ORANGE)
    assert (place, before) == (2, heights[2])
    assert after == pytest.approx(1e-6 * before)
    assert heights[3] == pytest.approx(before, rel=1e-5)  # where the other way adds to it
    assert axes.get_ylim()[0] <= after


def test_passes_that_add_up_at_a_leaf_mark_no_op() -> None:
    w = leaf(np.random.default_rng(0).normal(size=(2, 3)), name="W")

    def step(factor: float) -> Tensor:
        return walked(lambda: (w * factor).sum())

    for _ in range(20):
        root = step(1.5)
    axes = gradient_flow(root)
    assert points(axes, "D")[2] > 10.0 * points(axes, "o")[1]
    assert (marked(axes), factors(axes)) == ({}, [])
    assert factors(gradient_flow(step(1e-3))) == ["÷ 1,000"]  # nor do they hide one


def test_in_a_residual_chain_the_branch_that_passes_little_is_marked() -> None:
    x = leaf(np.random.default_rng(0).normal(size=(4, 5)))

    def compute() -> Tensor:
        h: Tensor = x
        for block in range(6):
            h = h + h * (1e-5 if block == 2 else 0.5)
        return h

    axes = flow_of(compute)
    assert names(axes) == ["add", "multiply"] * 6 + ["leaf"]
    assert (marked(axes), factors(axes)) == ({"multiply": ORANGE}, ["÷ 100,000"])
    ((place, before, _, after),) = lines(axes, ORANGE)
    assert (place, before) == (7, points(axes, "o")[7])  # the third block from the input
    assert after == pytest.approx(1e-5 * before)


def test_what_an_op_passes_to_an_input_that_it_uses_twice_is_the_sum() -> None:
    x = leaf([1e-4, 2e-4])
    assert factors(flow_of(lambda: minigrad.negative(x * x))) == ["÷ 3,100"]
    x = leaf([1.0, 2.0])
    axes = flow_of(lambda: minigrad.stack([x, x]).sum())
    assert factors(axes) == []
    axes = flow_of(lambda: minigrad.negative(x - x))
    assert (marked(axes), factors(axes)) == ({"subtract": ORANGE}, ["→ 0"])


def test_an_op_with_a_constant_is_judged_by_its_other_input() -> None:
    x = leaf([1.0, 2.0])
    axes = flow_of(lambda: minigrad.negative(x * Tensor([1e-3, 1e-3])))
    assert factors(axes) == ["÷ 1,000"]


def test_an_op_of_which_nothing_was_kept_is_not_judged() -> None:
    x = leaf([1.0, 2.0])
    y = x * 1e-3
    root = minigrad.exp(y)
    for tensor in (y, root):
        tensor.retain_grad()
    root.backward(np.ones(2))
    axes = gradient_flow(root)
    assert points(axes, "o").keys() == {0, 1}
    assert (marked(axes), factors(axes)) == ({}, [])


def test_each_contribution_is_computed_once_and_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, int]] = []
    arrays: list[weakref.ref[Any]] = []
    alive: list[int] = []

    def watched(node: Any, position: int) -> Any:
        alive.append(sum(array() is not None for array in arrays))
        asked.append((node, position))
        passed = contribution(node, position)
        arrays.append(weakref.ref(passed))
        return passed

    monkeypatch.setattr("viz.flow.contribution", watched)
    x = leaf(np.random.default_rng(0).normal(size=(2, 3)))
    flow_of(lambda: minigrad.sin(x) * minigrad.exp(x) * minigrad.tanh(x) * minigrad.cos(x))
    assert len(asked) == len(set(asked)) == 10
    assert max(alive) <= 2


def attention(scale: float | None) -> Axes:
    rng = np.random.default_rng(0)
    layer = SelfAttention(256, 256, 64, scale=scale, rng=rng)
    x = Tensor(rng.normal(size=(8, 256)), name="X")
    return flow_of(lambda: layer(x)[0])


def test_without_the_scale_the_softmax_is_marked_above_all_in_the_typical_row() -> None:
    axes = attention(1.0)
    assert marked(axes) == {"softmax → weights": ORANGE}
    norm, typical = (float(factor[2:].replace(",", "")) for factor in factors(axes))
    assert 50 < norm < 150
    assert typical > 20 * norm
    ((start, high, end, low),) = lines(axes, ORANGE, ":")
    assert (start, end) == (1, 1)
    assert (high, low) == pytest.approx((points(axes, "_")[1], points(axes, "_")[2]))
    assert high / low == pytest.approx(typical, rel=0.05)
    assert explained(axes)[:2] == [
        "norm shrinks tenfold or more: 1",
        "typical row shrinks tenfold or more: 1",
    ]


def test_with_the_scale_only_the_scale_itself_is_marked() -> None:
    axes = attention(None)
    assert marked(axes) == {"scale → scaled": ORANGE}
    assert factors(axes) == ["÷ 16"]  # = √256, which the product with K undoes
    assert lines(axes, ORANGE, ":") == []


# ---------------------------------------------------------------------- what has no logarithm


def test_zeros_stand_at_the_lower_edge() -> None:
    x = leaf([1.0, 2.0, 3.0])
    axes = flow_of(lambda: minigrad.negative(minigrad.exp(x) * 0.0))
    floor = axes.get_ylim()[0]
    assert points(axes, "v") == {2: floor, 3: floor}
    assert points(axes, "o").keys() == {0, 1}
    assert "exactly 0" in explained(axes)
    assert "no gradient" not in explained(axes)
    assert factors(axes) == ["→ 0"]


def test_what_has_no_gradient_is_not_drawn_as_zero() -> None:
    x, y = leaf([1.0, 2.0], name="x"), leaf([3.0, 4.0], name="y")
    root = walked(lambda: minigrad.sin(x) * 1e-3 + y * 0.0)
    x.grad = None
    axes = gradient_flow(root)
    assert names(axes) == ["add", "multiply", "multiply", "sin", "y", "x"]
    floor, ceiling = axes.get_ylim()
    assert points(axes, "x") == {5: floor}
    assert points(axes, "v") == {4: floor}
    assert points(axes, "X") == {}
    assert explained(axes)[-2:] == ["exactly 0", "no gradient"]
    assert explained(gradient_flow(root, language="zh"))[-2:] == ["恰为 0", "没有梯度"]
    assert all(5 not in (start, end) for start, _, end, _ in lines(axes, NEUTRAL))
    assert ceiling < 1e3
    assert factors(axes) == ["→ 0", "÷ 1,000"]  # sin passed on what came, whoever took it away


def test_a_leaf_without_a_gradient_is_not_held_against_its_op() -> None:
    x = leaf([1.0, 2.0], name="x")
    root = walked(lambda: minigrad.negative(x))
    x.grad = None
    assert marked(gradient_flow(root)) == {}
    root = walked(lambda: x * 1e-3)
    x.grad = None
    assert marked(gradient_flow(root)) == {"multiply": ORANGE}


@pytest.mark.parametrize(("factor", "text"), [(math.inf, "→ ∞"), (math.nan, "→ nan")])
def test_what_is_not_finite_stands_at_the_upper_edge(factor: float, text: str) -> None:
    x = leaf([1.0, 2.0])
    axes = flow_of(lambda: minigrad.negative(minigrad.sin(x) * factor))
    ceiling = axes.get_ylim()[1]
    assert points(axes, "X") == {2: ceiling, 3: ceiling}
    assert points(axes, "_") == {}
    assert "not a finite number" in explained(axes)
    assert (marked(axes), factors(axes)) == ({"multiply": BLUE}, [text])


def test_norms_of_any_size_can_be_drawn() -> None:
    for factor in (1e200, 1e-200):
        x = leaf(np.full((2, 3), 1.0))
        (height,) = points(flow_of(lambda x=x, f=factor: x * f), "D").values()  # type: ignore[misc]
        assert 0.1 < height / factor < 10.0


def test_a_graph_without_any_gradient_but_zeros_can_be_drawn() -> None:
    x = leaf([1.0, 2.0])
    with minigrad.trace():
        root = minigrad.negative(x)
    root.backward(np.zeros(2))
    axes = gradient_flow(root)
    assert points(axes, "v") == dict.fromkeys((0, 1), axes.get_ylim()[0])
    assert len(rendered(figure_of(axes), "svg")) > 0


# ------------------------------------------------------------------------------- large graphs


def chain(length: int, narrow: int) -> Tensor:
    """Matrices and tanh in turn, with a bottleneck in one place."""
    rng = np.random.default_rng(0)
    w = leaf(rng.normal(size=(3, 3)) / 2.0, name="W")
    x = leaf(rng.normal(size=(2, 3)), name="x")

    def compute() -> Tensor:
        h = x
        for step in range(length // 2):
            h = h @ w if step != narrow else minigrad.scale(h, 1e-3)
            h = minigrad.sin(h + 0.0) if step == 0 else h + 0.25
            if step == narrow:
                h.name = "stands too close to scale"
        return h

    return walked(compute)


def test_in_a_graph_of_fifty_ops_every_one_is_named() -> None:
    axes = gradient_flow(chain(50, narrow=11))
    assert len(names(axes)) == 53
    assert len(points(axes, "o")) == 51
    assert list(marked(axes)) == ["scale"]


def test_of_a_thousand_ops_the_marked_and_the_named_are_named() -> None:
    root = chain(1000, narrow=230)
    axes = gradient_flow(root)
    assert points(axes, "o") == {}
    assert len(points(axes, "D")) == 2
    assert names(axes) == ["scale", "x"]  # W stands too close to x
    assert marked(axes) == {"scale": ORANGE}
    assert len(lines(axes, NEUTRAL)) == 1000
    assert axes.get_xlabel() == "backward walk (ops: 1,001, leaves: 2)"


@pytest.mark.slow
def test_a_hundred_thousand_ops_can_be_drawn() -> None:
    axes = gradient_flow(chain(100_000, narrow=7))
    assert list(marked(axes)) == ["scale"]
    assert len(rendered(figure_of(axes), "svg")) < 500_000


# --------------------------------------------------------------------------- what is refused


def test_gradients_that_were_not_kept_cannot_be_drawn() -> None:
    x = leaf([1.0, 2.0])
    root = (x * 2.0).sum()
    root.backward()
    with pytest.raises(RuntimeError, match=r"of 2 of 3 tensors were not kept.*with minigrad.trace"):
        gradient_flow(root)


def test_backward_has_to_come_first() -> None:
    x = leaf([1.0, 2.0])
    with minigrad.trace():
        root = (x * 2.0).sum()
    with pytest.raises(RuntimeError, match=r"come to the result of sum.*yet: call backward\(\)"):
        gradient_flow(root)


def test_where_nothing_requires_a_gradient_none_flows() -> None:
    for root in (Tensor([1.0]), Tensor([1.0]) * 2.0, Tensor([1.0], name="x")):
        with pytest.raises(RuntimeError, match="nothing behind this tensor requires a gradient"):
            gradient_flow(root)


def test_it_starts_from_a_tensor() -> None:
    root: Any = np.ones(2)
    with pytest.raises(TypeError, match="from a tensor, not from a ndarray"):
        gradient_flow(root)


def test_a_language_has_to_be_known() -> None:
    x = leaf([1.0])
    with pytest.raises(ValueError, match="language is 'en' or 'zh', not 'de'"):
        flow_of(lambda: x * 2.0, language="de")
