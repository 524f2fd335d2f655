"""A log as JSON: what is written is read back to the last bit, and what is not such a log, or no
longer, is refused with one clear error, whatever it is."""

import base64
import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import BackwardSteps, GradcheckError, primitive, scope, step_backward, trace
from tests.helpers import leaf
from tests.minigrad.stepper import everything, recorded, upstream_of

WHOLE = [
    *(np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, -2.2e-308, 1.7976931348623157e308, 0.1, 1 / 3),
]


def reread(steps: BackwardSteps) -> BackwardSteps:
    return BackwardSteps.from_json(steps.to_json())


def head() -> Any:
    """A head with a mask, a hook, names, scopes and broadcasting."""
    rng = np.random.default_rng(0)
    x = leaf(rng.normal(size=(3, 4)), name="吃 鱼 <b>")
    with trace(), scope("head 0"):
        scores = x @ x.mT * 0.5 + np.where(np.tri(3) > 0, 0.0, -np.inf)
        weights = minigrad.softmax(scores)
        out = weights @ x + leaf(1.0)
    weights.name = "weights"
    weights.register_hook(lambda gradient: gradient * 2.0)
    return out


@pytest.fixture(scope="module")
def text() -> str:
    out = head()
    with np.errstate(all="ignore"):
        return step_backward(out, upstream_of(out), check=True).to_json()


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("keep", ["all", "summary"])
def test_a_log_comes_back_to_the_last_bit(keep: Any, check: bool) -> None:
    out = head()
    steps = step_backward(out, upstream_of(out), keep=keep, check=check)
    again = reread(steps)
    assert everything(again) == everything(steps)
    assert again.to_json() == steps.to_json()
    for language in ("en", "zh"):
        assert again.transcript(language) == steps.transcript(language)
    assert again.goto("weights").index == steps.goto("weights").index
    assert [*again.grads_at(-1)] == [*steps.grads_at(-1)]
    assert again.root is again.nodes[steps.root.key]


@pytest.mark.parametrize("dtype", ["<f8", "<f4", "<f2", ">f8", ">f4"])
def test_numbers_of_every_kind_come_back(dtype: str) -> None:
    with np.errstate(all="ignore"):
        data = np.array(WHOLE).astype(dtype)
    x = leaf(data, name="x")
    with np.errstate(all="ignore"):
        steps = step_backward(x * 1.0 + x, data)
    again = reread(steps)
    assert everything(again) == everything(steps)
    assert again.nodes["n0"].dtype == np.dtype(dtype)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (2, 0), (1, 1, 1), (2, 3, 4)])
def test_shapes_of_every_kind_come_back(shape: tuple[int, ...]) -> None:
    out, *_ = recorded(lambda x: minigrad.tanh(x) * x, np.random.default_rng(0).normal(size=shape))
    steps = step_backward(out, upstream_of(out), check=True)
    assert everything(reread(steps)) == everything(steps)


def test_whole_numbers_and_truth_that_rules_make_come_back() -> None:
    @primitive(lambda g, x: x > 1.0, lambda g, y: np.ones(2, np.int8))
    def op(x: Any, y: Any) -> Any:
        return x + y

    steps = step_backward(op(leaf([1.0, 2.0]), leaf([3.0, 4.0])), [1.0, 1.0])
    again = reread(steps)
    assert everything(again) == everything(steps)
    contribution = again[2].contribution
    assert contribution is not None
    assert contribution.dtype == np.bool_


def test_numbers_among_the_inputs_come_back_as_what_they_are() -> None:
    x = leaf([1.0, 2.0])
    for number in (2, 2.0, -0.0, np.inf, -np.inf, np.nan, True, 10**20, np.float64(3.0)):
        with np.errstate(all="ignore"):
            steps = step_backward(minigrad.add(x, number), [1.0, 2.0])
        (again,) = [y for y in reread(steps).root.inputs if not isinstance(y, str)]
        assert repr(again) == repr(number.item() if isinstance(number, np.generic) else number)


NAMES = [
    "猫",
    "吃 鱼",
    "a\nb",
    "\x00\x1b[31m",
    "<script>",
    '"\\',
    "\u2028",
    "\ud800",
    "",
    "n0",
    "G",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_come_back_and_can_be_written_to_a_file(name: str) -> None:
    with trace(), scope(name):
        steps = step_backward(leaf(2.0, name=name) * leaf(3.0, name=name))
    text = steps.to_json()
    again = BackwardSteps.from_json(text.encode("utf-8").decode("utf-8"))
    assert everything(again) == everything(steps)


def test_a_log_that_a_check_stopped_comes_back() -> None:
    @primitive(lambda g, x: 3.0 * g * x)
    def square(x: Any) -> Any:
        return x * x

    out, _ = recorded(square, np.array([1.0, 2.0]))
    with pytest.raises(GradcheckError) as error:
        step_backward(out, [1.0, 5.0], check=True)
    steps = error.value.steps
    assert everything(reread(steps)) == everything(steps)


def test_arrays_that_come_back_cannot_be_written_to(text: str) -> None:
    for event in BackwardSteps.from_json(text):
        array = np.asarray(event.gradient)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_it_is_json_as_the_standard_has_it_and_the_same_on_every_run(text: str) -> None:
    def refuse(constant: str) -> Any:
        raise AssertionError(constant)

    log = json.loads(text, parse_constant=refuse)
    assert (log["format"], log["version"]) == ("minigrad backward steps", 1)
    out = head()
    assert step_backward(out, upstream_of(out), check=True).to_json() == text


def test_an_array_that_several_events_show_is_written_once() -> None:
    x = leaf(np.random.default_rng(0).normal(size=100))
    steps = step_backward(minigrad.tanh(x), np.ones(100))
    shown = {id(s) for e in steps for s in (e.upstream, e.contribution, e.before, e.after) if s}
    values = {id(node.value) for node in steps.nodes.values() if node.value}
    assert len(json.loads(steps.to_json())["arrays"]) == len(shown | values)


# --------------------------------------------------------------------------------- what is refused


def refused(text: Any) -> str:
    """The message of the error, which is a ValueError and names what is wrong in one line."""
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the callers look at what it says
        BackwardSteps.from_json(text)
    message = str(error.value)
    assert message.startswith(("this log is damaged", "this is no log", "this log has version"))
    return message


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "3", '"x"', "{}", "not json", "[" * 100_000, "NaN", "\x00"]
)
def test_what_is_no_log_is_refused(text: str) -> None:
    assert "this is no log of backward steps" in refused(text)


@pytest.mark.parametrize("version", [0, 2, "1", None, [], 1.5, {}])
def test_another_version_is_refused_and_named(text: str, version: Any) -> None:
    log = json.loads(text) | {"version": version}
    assert f"version {version!r}, and 1 can be read" in refused(json.dumps(log))


def test_another_format_is_refused(text: str) -> None:
    assert "no log" in refused(json.dumps(json.loads(text) | {"format": "minigrad graph"}))


def test_a_log_that_was_cut_off_is_refused(text: str) -> None:
    for end in range(0, len(text), 211):
        refused(text[:end])
    refused(text[:-1])


def at(log: Any, *path: Any) -> Any:
    for key in path:
        log = log[key]
    return log


def _array_with_data(log: Any) -> Any:
    return next(entry for entry in log["arrays"] if entry.get("data"))


def _event(log: Any, *needs: str) -> Any:
    return next(event for event in log["events"] if all(name in event for name in needs))


DAMAGE: dict[str, Any] = {
    "an array that is not there": lambda log: _event(log, "upstream").update(upstream=10**6),
    "an array counted from the end": lambda log: _event(log, "upstream").update(upstream=-1),
    "half an array number": lambda log: _event(log, "upstream").update(upstream=1.5),
    "a node that is not there": lambda log: log["events"][0].update(node="n99"),
    "a target that is not there": lambda log: _event(log, "target").update(target="n99"),
    "a root that is not there": lambda log: log.update(root="n99"),
    "an input that is not there": lambda log: log["nodes"][-1].update(inputs=["n99", "n98"]),
    "two nodes of one key": lambda log: log["nodes"].append(log["nodes"][0]),
    "an event of no kind": lambda log: log["events"][0].update(kind="explode"),
    "a node of no kind": lambda log: log["nodes"][0].update(kind="explode"),
    "a note of no kind": lambda log: log["events"][1].update(notes=[["explode", 1]]),
    "a note without its numbers": lambda log: log["events"][1].update(notes=[["saturated"]]),
    "no events": lambda log: log.update(events=[]),
    "data of another length": lambda log: _array_with_data(log).update(data="AAAA"),
    "data that is no base64": lambda log: _array_with_data(log).update(data="…"),
    "data with something between": lambda log: _array_with_data(log).update(
        data="!" + _array_with_data(log)["data"]
    ),
    "data that is a number": lambda log: _array_with_data(log).update(data=7),
    "a shape to be guessed": lambda log: _array_with_data(log).update(shape=[-1]),
    "a shape of another size": lambda log: _array_with_data(log).update(shape=[10**9, 10**9]),
    "a short summary": lambda log: _array_with_data(log).update(summary=[1, 2.0]),
    "a summary of words": lambda log: _array_with_data(log).update(summary=["x"] * 8),
    "a row that is no number": lambda log: _array_with_data(log).update(row="x"),
    "a dtype of objects": lambda log: _array_with_data(log).update(dtype="|O"),
    "a dtype of text": lambda log: _array_with_data(log).update(dtype="<U8"),
    "a dtype of records": lambda log: _array_with_data(log).update(dtype="f8,f8"),
    "a dtype that is code": lambda log: _array_with_data(log).update(dtype="__import__('os')"),
    "a node of objects": lambda log: log["nodes"][0].update(dtype="|O"),
    "a label that is a number": lambda log: log["nodes"][0].update(label=7),
    "a rule that is not text": lambda log: log["nodes"][-1]["rules"].update({"0": [1, 2, 3]}),
    "a short verdict": lambda log: _event(log, "verdict").update(verdict=[0, 1]),
    "a part of nothing": lambda log: _event(log, "part").update(part=["x", None]),
    "axes of text": lambda log: _event(log, "axes").update(axes="xy"),
    "a line that is no number": lambda log: log["sources"].update({"file.py": {"x": "text"}}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused_with_one_clear_error(text: str, name: str) -> None:
    log = json.loads(text)
    DAMAGE[name](log)
    assert "this log is damaged" in refused(json.dumps(log))


def test_a_summary_of_objects_is_refused_too() -> None:
    log = json.loads(step_backward(leaf(2.0) * 3.0, keep="summary").to_json())
    log["arrays"][0]["dtype"] = "|O"
    assert "this log is damaged" in refused(json.dumps(log))


def test_nothing_in_a_log_is_run(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Any] = []
    monkeypatch.setattr(pickle, "loads", ran.append)
    monkeypatch.setattr(np, "load", ran.append)
    log = json.loads(text)
    payload = base64.b64encode(b"cos\nsystem\n(S'true'\ntR.").decode()
    _array_with_data(log).update(dtype="|O", shape=[3], data=payload)
    refused(json.dumps(log))
    assert ran == []


# ----------------------------------------------------------------------------- damage of every kind

JUNK: list[Any] = [
    *(None, True, False, -1, 0, 10**6, 10**30, 1.5, -0.0, float("inf"), float("nan")),
    *("", "x", "n0", "nan", "|O", "é", [], [[]], {}, [None], {"x": 1}, ["x"] * 9),
]


def _spots(log: Any) -> list[tuple[Any, Any]]:
    """Every place in a tree of lists and dicts, as a container and a key."""
    found, stack = [], [log]
    while stack:
        x = stack.pop()
        keys = list(x) if isinstance(x, dict) else range(len(x)) if isinstance(x, list) else ()
        for key in keys:
            found.append((x, key))
            stack.append(x[key])
    return found


def _damaged(log: Any, rng: np.random.Generator) -> str:
    """The log with one thing left out, or replaced by something else."""
    log = copy.deepcopy(log)
    spots = _spots(log)
    container, key = spots[rng.integers(len(spots))]
    choice = int(rng.integers(len(JUNK) + 4))
    if choice < len(JUNK):
        container[key] = JUNK[choice]
    elif choice < len(JUNK) + 2:
        del container[key]
    else:  # what stands elsewhere in the log
        other, place = spots[rng.integers(len(spots))]
        container[key] = copy.deepcopy(other[place])
    return json.dumps(log)


def _small() -> str:
    """A log in which every part of the format occurs, and little else."""
    with trace():
        x = leaf(np.random.default_rng(0).normal(size=(2, 3)), name="x")
        out = minigrad.relu(minigrad.softmax(x * leaf(300.0))) / 2.0
    return step_backward(out, upstream_of(out), check=True).to_json()


@pytest.mark.parametrize("times", [250, pytest.param(10_000, marks=pytest.mark.slow)])
def test_whatever_is_damaged_it_is_refused_or_can_be_gone_through(times: int) -> None:
    log, rng = json.loads(_small()), np.random.default_rng(1)
    accepted = 0
    for _ in range(times):
        text = _damaged(log, rng)
        try:
            steps = BackwardSteps.from_json(text)
        except ValueError:
            refused(text)
            continue
        accepted += 1
        assert steps.transcript("en")
        assert steps.transcript("zh")
        assert everything(reread(steps)) == everything(steps)
        assert steps.grads_at(-1)
        assert steps.goto(steps[-1].node.label) is not None
        assert repr(steps)
        assert [event.norm for event in steps]
    assert accepted < times
