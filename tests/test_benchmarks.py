"""The benchmarks: that wrong numbers are caught, who takes part, and what is written down."""

from __future__ import annotations

import gc
import importlib.util
import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks import __main__ as command
from tests.benchmarks import measuring
from tests.benchmarks.contenders import HAND, LEFT_OUT, PEERS, PRODUCTS, Contender, contenders
from tests.benchmarks.curves import GROWTHS, Curve, grow
from tests.benchmarks.measuring import (
    Effort,
    Fit,
    Row,
    Sample,
    as_array,
    exponent,
    judge,
    measure,
    ratios,
    turns,
)
from tests.benchmarks.peaks import peak
from tests.benchmarks.report import (
    ALL,
    WORDS,
    Report,
    draw,
    from_json,
    machine,
    markdown,
    said,
    to_json,
)
from tests.benchmarks.workloads import SMALL, WORKLOADS, Step, Work, work
from viz.figures import BLUE, NEUTRAL, ORANGE
from viz.speed import TEXTS
from viz.speed import growth as draw_growth
from viz.speed import ratios as draw_ratios

# Quick enough one by one, but many; what they test no user runs.
pytestmark = pytest.mark.slow

BRIEF = Effort(rounds=2, least=2, seconds=0.0, sample=0.0)


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "PAUSE", 0.0)


def small(kind: str, found: list[Contender], **options: Any) -> dict[str, Row]:
    rows = measure(kind, SMALL[kind], found, BRIEF, peaks=False, **options)
    return {row.contender: row for row in rows}


def changed(change: Callable[[list[Any]], list[Any]], name: str = "minigrad") -> Contender:
    """The hand-written step with something done to what it returns."""

    def make(task: Work) -> Step:
        return lambda: change(task.hand())

    return Contender(name, 1, make)


def report_of() -> Report:
    """What a run could have written: two workloads, one peer, a curve."""
    rows = {
        "W1": [
            Row(HAND, 1, 1e-5, (1.0, 1.0, 1.0), None, 25, 0.0, 1.0, 0, 1e-16),
            Row("minigrad", 1, 2.6e-5, (2.5, 2.6, 2.7), None, 25, 0.0, 1.0, 1000, 1e-16),
            Row("torch", 1, 4e-5, (3.9, 4.0, 4.1), None, 25, 0.0, 1.0, 0, 1e-16),
            Row("jax", 1, error="RuntimeError: it broke"),
        ],
        "W4": [
            Row(HAND, 1, 0.065, (1.0, 1.0, 1.0), 1.8, 25, 0.0, 1.0, 70_000_000, 1e-7),
            Row("minigrad", 1, 0.08, (1.1, 1.2, 1.3), 2.0, 25, 0.0, 1.0, 126_000_000, 1e-7),
            Row("minigrad fused", 2, 0.03, (0.4, 0.45, 0.5), 1.4, 25, 0.0, 1.9, 12_000_000, 1e-7),
            Row("torch fused", 2, 0.02, (0.3, 0.31, 0.4), 1.0, 25, 0.0, 1.9, 9_000_000, 1e-7),
        ],
        "W8": [
            Row("numpy", 1, 0.048, (1.0, 1.0, 1.0), rounds=25),
            Row("minigrad", 1, 0.058, (1.2, 1.2, 1.2), rounds=25),
        ],
    }
    for row in rows["W4"][2:]:
        row.contender += ", 2 threads"
    n = [256, 512, 1024, 2048, 4096]
    curve = Curve("L", "minigrad fused", n, [1e-3 * x**2 for x in n], [2**21 * x for x in n])
    curve.time_fit, curve.memory_fit = exponent(n, curve.seconds), exponent(n, curve.extra)
    flat = Curve("depth", HAND, [100, 1000, 10_000], [1e-4, 1e-3, 1e-2], [0, None, 0])
    peers = {"torch": "2.13.0", "jax": "0.10.2"}
    return Report(machine(), "2026-01-02T03:04:05+00:00", peers, ["W6 x: y"], rows, [curve, flat])


# ------------------------------------------------------------------------------------ right numbers


@pytest.mark.parametrize("kind", SMALL)
def test_by_hand_and_minigrad_agree_with_float64(kind: str) -> None:
    rows = small(kind, contenders(kind))
    single = work(kind, SMALL[kind]).upstream.dtype == np.float32
    assert HAND in rows
    for label, row in rows.items():
        assert row.error is None
        assert row.seconds
        if not label.startswith(PRODUCTS):
            assert row.deviation is not None
            assert row.deviation < (1e-5 if single else 1e-12)


@pytest.mark.parametrize("kind", SMALL)
def test_the_float64_numbers_agree_with_differences(kind: str) -> None:
    exact, *gradients = work(kind, SMALL[kind]).exact()
    rng = np.random.default_rng(0)
    for place, gradient in enumerate(gradients):
        direction = rng.normal(size=gradient.shape)
        above, below = (loss_along(kind, place, step * direction) for step in (1e-5, -1e-5))
        slope = (above - below) / 2e-5
        assert slope == pytest.approx(float(np.sum(gradient * direction)), rel=1e-5, abs=1e-8)
    assert exact.dtype == np.float64


def loss_along(kind: str, place: int, move: Any) -> float:
    """The output times the upstream, in float64, with one input moved before `exact` reads it."""
    task = work(kind, SMALL[kind])
    cells = [cell for cell in closure(task.exact) if cell.cell_contents is task.inputs[place]]
    if cells:
        cells[0].cell_contents = task.inputs[place].astype(np.float64) + move
    else:  # a tuple of all inputs
        (cell,) = [c for c in closure(task.exact) if c.cell_contents is task.inputs]
        moved = [x.astype(np.float64) for x in task.inputs]
        moved[place] += move
        cell.cell_contents = tuple(moved)
    return float(np.sum(task.exact()[0] * task.upstream))


def closure(function: Any) -> tuple[Any, ...]:
    cells: tuple[Any, ...] = function.__closure__
    return cells


BROKEN: dict[str, Callable[[list[Any]], list[Any]]] = {
    "a gradient is a thousandth too large": lambda r: [*r[:-1], r[-1] * 1.001],
    "a sign": lambda r: [r[0], -r[1], *r[2:]],
    "one entry": lambda r: [r[0], r[1] + np.eye(*np.shape(r[1])) * 1e-2, *r[2:]],
    "a missing gradient": lambda r: r[:-1],
    "a transposed gradient": lambda r: [*r[:-1], r[-1].swapaxes(-1, -2)],
    "a sum that was not undone": lambda r: [*r[:-1], r[-1].sum(axis=-1, keepdims=True)],
    "not a number": lambda r: [*r[:-1], r[-1] * math.nan],
    "the result": lambda r: [r[0] + 1.0, *r[1:]],
}


@pytest.mark.parametrize("how", BROKEN)
def test_wrong_numbers_are_caught_named_and_not_timed(
    how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    right, broken = contenders("projected")[0], changed(BROKEN[how], "torch")
    rows = small("projected", [right, broken])
    assert rows[HAND].error is None
    wrong = rows["torch"]
    assert wrong.wrong
    assert wrong.seconds is None
    assert command.verdict([wrong]) == 1
    assert "torch: wrong numbers: " in capsys.readouterr().err


def test_less_precise_numbers_are_wrong_too() -> None:
    rows = small("head", [changed(lambda r: [x.astype(np.float32) for x in r])])
    assert "off by" in str(rows["minigrad"].error)


def test_the_worst_deviation_is_told() -> None:
    assert judge([np.ones(2)], [np.ones(2)], "float64") == (0.0, None)
    deviation, error = judge([np.ones(3) + 1e-10], [np.ones(3)], "float64")
    assert deviation == pytest.approx(5e-11, rel=1e-4)
    assert error is None


def test_a_peer_that_fails_is_named_and_stops_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(task: Work) -> Step:
        raise OSError("no such kernel\nand more")

    rows = small("head", [Contender("jax", 1, fail), *contenders("head")])
    assert rows["jax"].error == "OSError: no such kernel"
    assert rows["minigrad"].seconds
    assert command.verdict([rows["jax"]]) == 0
    assert command.verdict([replace(rows["jax"], contender="minigrad")]) == 1
    assert "jax: OSError" in capsys.readouterr().err


def test_one_that_fails_later_keeps_the_others_going() -> None:
    calls = iter(range(100))

    def late(results: list[Any]) -> list[Any]:
        if next(calls) > 4:
            raise ValueError("tired")
        return results

    rows = small("head", [changed(late, "jax"), *contenders("head")])
    assert rows["jax"].error == "ValueError: tired"
    assert rows["minigrad"].ratio


def test_results_of_any_library_become_arrays() -> None:
    class Theirs:
        def detach(self) -> Theirs:
            return self

        def numpy(self) -> Any:
            return np.ones(2)

    assert as_array(Theirs()).tolist() == [1.0, 1.0]
    assert as_array(3.0).shape == ()


# ---------------------------------------------------------------------------------- time and memory


def test_the_order_rotates() -> None:
    order = [*islice(turns(["a", "b", "c"]), 4)]
    assert order == [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"]]


def test_contenders_take_turns_in_that_order() -> None:
    played: list[str] = []

    def playing(name: str) -> Contender:
        def note(results: list[Any]) -> list[Any]:
            played.append(name)
            return results

        return changed(note, name)

    small("head", [playing("a"), playing("b"), playing("c")])
    rounds = "".join(played)[-12:]  # each sample is a step that is not timed and one that is
    assert rounds == "aabbcc" + "bbccaa"


def test_ratios_are_taken_round_by_round() -> None:
    base = [Sample(1.0, 0.0, 1.0), Sample(10.0, 0.0, 1.0), Sample(2.0, 0.0, 1.0)]
    taken = [Sample(2.0, 0.0, 1.0), Sample(30.0, 0.0, 1.0), Sample(8.0, 0.0, 1.0)]
    assert ratios(taken, base) == pytest.approx((2.5, 3.0, 3.5))
    assert ratios(taken, []) is None


def test_nothing_is_collected_while_the_clock_runs() -> None:
    enabled: list[bool] = []

    def look(results: list[Any]) -> list[Any]:
        enabled.append(gc.isenabled())
        return results

    small("head", [changed(look)])
    assert enabled[0]
    assert not any(enabled[1:])
    assert gc.isenabled()


@pytest.mark.parametrize("power", [-1.0, 0.0, 1.0, 1.5, 2.0])
def test_the_exponent_of_a_power_law_is_found(power: float) -> None:
    n = [2**i for i in range(8)]
    bent = [3.0 * x**power if i > 3 else 7.0 for i, x in enumerate(n)]
    assert exponent(n, bent) == Fit(power, 16, 128)


def test_there_is_no_exponent_of_too_little() -> None:
    assert exponent([1, 2, 4], [1.0, 2.0, 4.0]) is None
    assert exponent([1, 2, 4, 8, 16], [9.0, 9.0, None, 9.0, 9.0]) is None
    assert exponent([1, 2, 4, 8, 16], [9.0, 9.0, 1.0, 9.0, 9.0], least=1.0) is None


@pytest.mark.slow
def test_a_matrix_of_weights_counts_and_a_fused_kernel_has_none() -> None:
    weights = 4 * 1024**2
    composed, fused = (peak("heads", (1, 1024, 64), x) for x in ("minigrad", "minigrad fused"))
    assert composed is not None
    assert fused is not None
    assert 2 * weights < composed < 6 * weights
    assert fused < composed


def test_a_peak_of_what_fails_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "false")
    assert peak("heads", (1, 2, 3), "nobody") is None


def test_a_curve_holds_every_point_and_leaves_out_what_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def measured(kind: str, sizes: tuple[int, ...], found: Any, *_: Any, **more: Any) -> list[Row]:
        n = sizes[1]
        rows = [Row(x.label, 1, 1e-6 * n**2, extra=n * n * 1000) for x in found]
        return [r if (r.contender, n) != (HAND, 512) else Row(HAND, 1, error="no") for r in rows]

    monkeypatch.setattr("tests.benchmarks.curves.measure", measured)
    curves, failed = grow("L", [], BRIEF, 4096)
    found = {curve.contender: curve for curve in curves}
    assert found.keys() == {HAND, "minigrad", "minigrad fused", "minigrad fused, causal"}
    assert found[HAND].n == [256]
    assert [row.contender for row in failed] == [HAND]
    assert found["minigrad"].n == [256, 512, 1024]  # at 1,024 twice the length would be too large
    assert found["minigrad fused, causal"].n == [256, 512, 1024, 2048, 4096]
    assert found["minigrad fused"].time_fit == Fit(2.0, 1024, 4096)


def test_curves_go_as_far_as_was_promised() -> None:
    assert [GROWTHS[over].n[:: len(GROWTHS[over].n) - 1] for over in ("L", "depth", "width")] == [
        (256, 32_768),
        (10**2, 10**6),
        (1, 10**6),
    ]


# ----------------------------------------------------------------------------------- who takes part


def test_all_workloads_have_a_kind_and_names_in_both_languages() -> None:
    assert [*ALL] == [f"W{i}" for i in range(1, 9)]
    for workload in WORKLOADS.values():
        labels = {one.label for one in contenders(workload.kind)}
        assert workload.targets.keys() <= labels
        assert workload.what != workload.chinese


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["W9"], "there is no workload W9; there are W1, W2"),
        (["W1", "--against", "torch,tensorflow"], "there is no peer tensorflow; there are torch"),
        (["--louder"], "unrecognized arguments"),
    ],
)
def test_what_does_not_exist_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_a_peer_that_is_not_installed_is_named_and_the_rest_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name in PEERS else found(name)
    )
    monkeypatch.setattr(command, "QUICK", BRIEF)
    monkeypatch.setattr(measuring, "peak", lambda *_: 1)
    asked = ["W1", "--against", "jax,mygrad", "--quick", "-o", str(tmp_path), "--inside"]
    assert command.main(asked) == 0
    printed = capsys.readouterr().out
    assert "jax is not installed and left out" in printed
    assert "mygrad is not installed and left out" in printed
    read = from_json((tmp_path / "benchmarks.json").read_text(encoding="utf-8"))
    assert read.rows.keys() == {"W1"}
    assert (tmp_path / "ratios.svg").is_file()


def test_only_what_says_so_runs_in_two_threads() -> None:
    for kind in SMALL:
        for one in contenders(kind):
            assert (one.threads == 2) == one.label.endswith(", 2 threads")


def test_what_a_peer_cannot_do_is_said() -> None:
    for (peer, kind), why in LEFT_OUT.items():
        assert peer in PEERS
        assert kind in SMALL
        assert why


@pytest.mark.torch
@pytest.mark.parametrize("kind", SMALL)
def test_torch_agrees_with_float64(kind: str) -> None:
    pytest.importorskip("torch")
    rows = small(kind, contenders(kind, ["torch"]))
    assert any(label.startswith("torch") for label in rows)
    assert [row.error for row in rows.values() if row.error] == []


# ----------------------------------------------------------------------------- what is written down


def test_json_comes_back_as_it_went() -> None:
    report = report_of()
    text = to_json(report)
    assert from_json(text) == report
    read = json.loads(text)
    assert read["version"] == 1
    assert {"cpu", "cores", "os", "python", "numpy", "blas", "blas_kernel"} <= read[
        "machine"
    ].keys()
    assert read["peers"]["torch"] == "2.13.0"
    assert read["rows"]["W1"][1]["ratio"] == [2.5, 2.6, 2.7]


@pytest.mark.parametrize("text", ['{"version": 0}', "[]"])
def test_another_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no report of benchmarks, version 1"):
        from_json(text)


def test_the_table_of_the_readme_says_where_a_peer_is_ahead_and_what_is_missed() -> None:
    english, chinese = (markdown(report_of(), language).splitlines() for language in ("en", "zh"))
    assert english[:4] == [
        "| | workload | minigrad | by hand | ratio | torch | jax | memory | target |",
        "|---|---|---|---|---|---|---|---|---|",
        "| W1 | one head, L = 3, d = 4 | 26.0 µs | 10.0 µs | 2.60 | 4.00 | – | 0.0 MB | ≤ 2.5 |",
        "| W4 | 8 heads, L = 1,024, d = 64, composed | 80.0 ms | 65.0 ms | 1.20 | – | – | 126 MB "
        "| ≤ 1.4 |",
    ]
    assert english[4].startswith("|  | the same, fused, 2 threads | 30.0 ms | 65.0 ms | 0.45 | **")
    notes = "\n".join(english)
    assert "W4 torch fused, 2 threads (0.31 : 0.45)." in notes
    assert "Targets missed: W1 minigrad (2.60 > 2.5)." in notes
    assert "10 ms beyond NumPy's own import" in notes
    assert "torch 2.13.0, jax 0.10.2" in notes
    for one, other in zip(english[2:5], chinese[2:5], strict=True):
        assert one.split("|")[3:] == other.split("|")[3:]
    assert WORDS["en"].keys() == WORDS["zh"].keys()


def test_the_table_is_printed_from_a_stored_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = tmp_path / "stored.json"
    stored.write_text(to_json(report_of()), encoding="utf-8")
    assert command.main(["--markdown", str(stored)]) == 0
    printed = capsys.readouterr().out
    assert printed == markdown(report_of(), "en") + "\n" + markdown(report_of(), "zh")


def test_what_is_no_report_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    for name in ("other.json", "missing.json"):
        assert command.main(["--markdown", str(tmp_path / name)]) == 2
    assert "no report of benchmarks, version 1" in capsys.readouterr().err


def test_figures_are_drawn_in_both_languages(tmp_path: Path) -> None:
    written = draw(report_of(), tmp_path)
    names = ["growth.svg", "growth.zh.svg", "ratios.svg", "ratios.zh.svg"]
    assert sorted(path.name for path in written) == names
    texts = {path.name: path.read_text(encoding="utf-8") for path in written}
    assert "∝ L^2.00" in texts["growth.svg"]
    assert "torch fused, 2 threads" in texts["ratios.svg"]
    assert "手写" in texts["ratios.zh.svg"]
    assert draw(replace(report_of(), rows={}, curves=[]), tmp_path) == []


def test_names_have_their_chinese_twin() -> None:
    assert said("minigrad fused, 2 threads", "zh") == "minigrad（合成一个算子），2 线程"
    assert said("torch fused, causal", "en") == "torch fused, causal"
    assert TEXTS["en"].keys() == TEXTS["zh"].keys()


def test_ratios_stand_at_their_median_with_their_quartiles() -> None:
    found = {"numpy": (1.0, 1.0, 1.0), "ours": (2.0, 2.5, 4.0), "theirs": (0.1, 0.2, 0.3)}
    axes = draw_ratios(found, ours=["ours"], grey=["numpy"], targets={"ours": 2.2})
    dots = {
        line.get_color(): float(np.asarray(line.get_xdata())[0])
        for line in axes.get_lines()
        if line.get_marker() == "o"
    }
    assert dots == {NEUTRAL: 1.0, BLUE: 2.5, ORANGE: 0.2}
    spans = [np.asarray(line.get_xdata()).tolist() for line in axes.get_lines()]
    assert [2.0, 4.0] in spans
    assert [2.2] in spans
    assert axes.get_xlim()[0] < 0.1 < 4.0 < axes.get_xlim()[1]


def test_growth_leaves_out_what_has_no_logarithm() -> None:
    axes = draw_growth({"a": ([1, 10, 100], [0.0, 2.0, 20.0])}, over="L", of="megabytes")
    (line,) = axes.get_lines()
    assert np.asarray(line.get_xdata()).tolist() == [10, 100]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("L", "megabytes")
