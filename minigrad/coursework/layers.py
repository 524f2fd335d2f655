"""The layers of checks that every op goes through: from its names to its gradients in a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from minigrad.check.diagnosis import CLOSE
from minigrad.check.registry import Case, cases_of
from minigrad.coursework.exercise import Check, Failure, Observation, attempt
from minigrad.coursework.values import Foreign, Text, difference, identical
from minigrad.memory import Array
from minigrad.primitive import Primitive
from minigrad.rule import Rule
from minigrad.tape import grad
from minigrad.tensor import Tensor

Rng = np.random.Generator
Example = Callable[[Rng], Any]
Constants = Callable[..., Mapping[str, float]]


NOT_LINEAR = "not-finite", "upstream-ignored", "term-everywhere", "term-along-axis"
"""What a gradient that is not linear in the upstream can be told as; a factor, say, cannot be."""


def op_checks(
    forward: str,
    rules: Sequence[str | None],
    cases: Example,
    *,
    constants: Constants | None = None,
    name: str = "",
) -> list[Check]:
    """The checks of an op that a student writes in the engine's own form.

    Args:
        forward: the name of the function of arrays.
        rules: the names of its gradient rules, one for each input, None for one without.
        cases: calls to make, as the `example` of a primitive: shapes with different prime sides,
            and one square.
        constants: of the arguments and options of a call, numbers that can be forgotten, by name.
            The lengths of the axes are known without.
        name: goes before the names of the checks, where an exercise has several ops.
    """
    asked = _Asked(forward, rules, cases, constants)
    checks = [
        Check(
            "signature",
            Text("the functions are there", "函数齐全"),
            asked.signature,
            _named,
            coarse=True,
        ),
        Check("values", Text("the forward values are right", "前向的值正确"), asked.values),
        Check("runs", Text("the rules run", "规则可以运行"), asked.runs, coarse=True),
        Check(
            "untouched",
            Text("nothing is changed in place", "没有就地修改"),
            asked.kept,
            _kept,
            coarse=True,
            derive=unchanged,
        ),
        Check(
            "shapes",
            Text("gradients have the inputs' shapes", "梯度与输入形状相同"),
            asked.shapes,
            _shaped,
            backward=True,
            coarse=True,
        ),
        Check(
            "linear",
            Text("gradients are linear in the upstream", "梯度对上游是线性的"),
            asked.linear,
            _is_linear,
            backward=NOT_LINEAR,
        ),
        Check(
            "gradients",
            Text("the gradients are right", "梯度正确"),
            asked.gradients,
            gradients=True,
            backward=True,
        ),
        Check("graph", Text("they add up in a graph", "在计算图中正确累加"), asked.twice),
    ]
    if not name:
        return checks
    return [
        check._replace(
            name=f"{name} {check.name}",
            title=Text(f"{name}: {check.title.en}", f"{name}：{check.title.zh}"),
        )
        for check in checks
    ]


RAVEL, CONCATENATE = np.ndarray.ravel, np.concatenate
"""NumPy's own, whatever a student's class or a changed module has under these names."""


class _Call(NamedTuple):
    """A call that is made: what it is named, and of which op."""

    name: str
    op: Primitive
    case: Case


class _Pull(NamedTuple):
    """A rule as a function of the upstream, for one input of a call, and one to ask it with."""

    name: str
    upstream: Array
    run: Callable[[Array], Any]
    call: _Call
    saved: Sequence[Array]  # what the engine keeps for it


@dataclass(frozen=True)
class _Asked:
    """An op that is asked for, and what each layer observes of it in a student's module."""

    forward: str
    rules: Sequence[str | None]
    cases: Example
    constants: Constants | None

    def op_of(self, module: Any) -> Primitive:
        found = [getattr(module, rule) if rule else None for rule in self.rules]
        return Primitive(getattr(module, self.forward), found, example=self.cases)

    def calls(self, module: Any, rng: Rng) -> Iterator[_Call]:
        op = self.op_of(module)
        for number, case in enumerate(cases_of(op, rng), 1):
            yield _Call(f"[{number}] {self.forward}{_told(case)}", op, case)

    def pulls(self, module: Any, rng: Rng) -> Iterator[_Pull]:
        """For each input of each call, what its rule makes of a random upstream."""
        for call in self.calls(module, rng):
            upstream, node = _backward(call.case, rng)
            kept = node.kept.values() if isinstance(node.kept, dict) else node.kept
            saved = [x for x in kept if isinstance(x, np.ndarray)]
            for position in call.case.places:
                name = f"{call.name}: ∂L/∂{call.op.input_names[position]}"
                yield _Pull(name, upstream, _rule(call.op, node, position), call, saved)

    def signature(self, module: Any, rng: Rng) -> Observation:
        names = [self.forward, *[rule for rule in self.rules if rule]]
        found: Observation = {name: float(callable(getattr(module, name, 0))) for name in names}
        if not all(found.values()):
            return found
        op = self.op_of(module)
        for number, name in enumerate(op.input_names, 1):
            found[f"{self.forward}[{number}]"] = Foreign("input", name)
        return found

    def runs(self, module: Any, rng: Rng) -> Observation:
        found: Observation = {}
        for pull in self.pulls(module, rng):
            attempt(found, [pull.name], module, partial(_ran, pull))
        return found

    def values(self, module: Any, rng: Rng) -> Observation:
        found: Observation = {}
        for name, _, case in self.calls(module, rng):
            attempt(found, [name], module, partial(_value, case))
        return found

    def kept(self, module: Any, rng: Rng) -> Observation:
        found: Observation = {}
        earlier = {}
        for call in self.calls(module, rng):
            earlier[call.name] = [call.case(*call.case.arrays())]
            found[f"{call.name}: an input"] = _entries(call.case.args)
            found[f"#before {call.name}: an earlier result"] = _entries(earlier[call.name])
            _elsewhere(call.case)
        for name, upstream, run, _, saved in self.pulls(module, rng):
            found[f"#before {name}: what the rule was given"] = _entries(saved)
            run(upstream)
            found[f"{name}: the upstream"] = upstream
            found[f"{name}: what the rule was given"] = _entries(saved)
        for name, results in earlier.items():
            found[f"{name}: an earlier result"] = _entries(results)
        return found

    def shapes(self, module: Any, rng: Rng) -> Observation:
        found: Observation = {}
        for name, upstream, run, *_ in self.pulls(module, rng):
            made = run(upstream)
            number = isinstance(made, (np.ndarray, np.generic, float, int))
            found[name] = Foreign(type(made).__name__)
            if number:
                found[name] = Foreign("shape", str(np.shape(made)))
                found[f"{name}: its dtype"] = Foreign("dtype", np.asarray(made).dtype.name)
        return found

    def linear(self, module: Any, rng: Rng) -> Observation:
        found: Observation = {}
        for name, g, run, *_ in self.pulls(module, rng):
            h: Array = np.asarray(rng.normal(size=g.shape))
            found[f"{name}, g − 3h"] = np.array(run(g - 3 * h), float)
            apart = np.array(run(g), float) - 3 * np.array(run(h), float)
            found[f"{name}, g − 3 · (h)"] = apart
            found[f"{name}, 0"] = np.array(run(np.zeros_like(g)), float)
        return found

    def gradients(self, module: Any, rng: Rng) -> Observation:
        found: Observation = {}
        for name, upstream, run, call, _ in self.pulls(module, rng):
            other = np.asarray(rng.normal(size=upstream.shape))
            given = {"": upstream, "#other ": other, "#ones ": np.ones_like(upstream)}
            for mark, g in given.items():
                attempt(found, [f"{mark}{name}"], module, partial(_pulled, run, g))
            found[f"#constants {name}"] = _numbers(call.case, call.op, self.constants)
        return found

    def twice(self, module: Any, rng: Rng) -> Observation:
        found: Observation = {}
        for name, op, case in self.calls(module, rng):
            leaves = [Tensor(x, requires_grad=True) for x in case.arrays()]
            out = case(*leaves) * 3.0 + case(*leaves)
            upstream = rng.normal(size=out.shape)
            _elsewhere(case)  # a rule that looks at the last call would see this one
            made = grad(out, leaves, upstream)
            for position, x in zip(case.places, made, strict=True):
                found[f"3y + y, y = {name}: ∂L/∂{op.input_names[position]}"] = x.numpy()
        return found


def _told(case: Case) -> str:
    shapes = ", ".join(
        str(np.shape(x)) if np.ndim(x) or isinstance(x, np.ndarray) else repr(x) for x in case.args
    )
    options = "".join(f", {name}={value!r:.30}" for name, value in case.options.items())
    return f"({shapes}{options})"


def _backward(case: Case, rng: Rng) -> tuple[Array, Any]:
    """A random upstream for a recorded call, and the place of the call in the graph."""
    out = case(*[Tensor(x, requires_grad=True) for x in case.arrays()])
    return np.asarray(rng.normal(size=out.shape)), out._node


def _rule(op: Primitive, node: Any, position: int) -> Callable[[Array], Any]:
    """What the rule itself returns, before the engine fits it to its tensor."""
    rule = op.rules[position]
    assert isinstance(rule, Rule)
    return lambda upstream: rule._run(np.asarray(upstream), node, position, None)


def _value(case: Case) -> list[Any]:
    return [case(*case.arrays())]


def _ran(pull: _Pull) -> list[float]:
    pull.run(pull.upstream)
    return [1.0]


def _pulled(run: Callable[[Array], Any], upstream: Array) -> list[Any]:
    return [deepcopy(run(upstream))]  # a rule may return what it was given


def _elsewhere(case: Case) -> None:
    """The same call at another point: the entries of its inputs in the opposite order."""
    case(*[x.ravel()[::-1].reshape(x.shape).copy() for x in case.arrays()])


def _entries(values: Sequence[Any]) -> Array:
    """The entries of all arrays among some values, one after the other, as they are now."""
    arrays = [RAVEL(x) for x in values if isinstance(x, np.ndarray)]
    return CONCATENATE(arrays, dtype=float) if arrays else np.zeros(0)


def _numbers(case: Case, op: Primitive, constants: Constants | None) -> dict[str, float]:
    found = dict(constants(*case.args, **case.options)) if constants else {}
    for name, x in zip(op.input_names, case.args, strict=False):
        for axis, n in enumerate(np.shape(x)):
            found.setdefault(f"the length of axis {axis} of {name}", float(n))
    return found


def _named(observed: Observation, right: Observation) -> Failure | None:
    for key, wanted in right.items():
        found = observed.get(key)
        if not isinstance(wanted, Foreign):
            if found is None or not np.all(found == 1.0):
                return Failure(key, Text(f"there is no function {key}", f"没有函数 {key}"))
        elif found != wanted:
            name, _, number = key.rstrip("]").partition("[")
            has = found.text if isinstance(found, Foreign) else None
            en = f"input {number} of {name} is named {has}, and must be named {wanted.text}"
            zh = f"{name} 的第 {number} 个输入名为 {has}，应为 {wanted.text}"
            return Failure(key, Text(en, zh))
    return None


CHANGED = {
    "an input": "输入",
    "an earlier result": "先前的结果",
    "the upstream": "上游梯度",
    "what the rule was given": "规则得到的数组",
}


def unchanged(observed: Observation, right: Observation) -> Observation:
    """To derive from arrays as they are after a call: 1 for what is as it was, 0 for the others."""
    found: Observation = {}
    for key in [key for key in right if not key.startswith("#")]:
        after, before = observed.get(key), observed.get(f"#before {key}", right[key])
        found[key] = float(identical(after, before))
    return found


def _kept(observed: Observation, right: Observation) -> Failure | None:
    for key in right:
        if observed[key] != 1.0:
            call, _, what = key.rpartition(": ")
            en = f"{call}: {what} is changed in place: work on a copy, or write a new array"
            zh = f"{call}：{CHANGED[what]}被就地修改了：请在副本上计算，或写到新数组里"
            return Failure(key, Text(en, zh))
    return None


def _shaped(observed: Observation, right: Observation) -> Failure | None:
    for key, shape in right.items():
        found = observed.get(key)
        if found == shape:
            continue
        if key.endswith(": its dtype"):
            if isinstance(found, Foreign) and found.text.startswith("float"):
                continue
            name, has = key.removesuffix(": its dtype"), getattr(found, "text", None)
            en = f"{name} has dtype {has}, and must be of real floats"
            return Failure(key, Text(en, f"{name} 的 dtype 是 {has}，应为实浮点型"))
        if not isinstance(found, Foreign) or found.kind != "shape":
            problem = difference(found, 0.0) or Text("no gradient came", "没有得到梯度")
            return Failure(key, Text(f"{key}: {problem.en}", f"{key}：{problem.zh}"))
        en = f"{key} has shape {found.text} in place of {shape.text}, that of its input"
        return Failure(key, Text(en, f"{key} 的形状是 {found.text}，应与其输入相同：{shape.text}"))
    return None


def _is_linear(observed: Observation, right: Observation) -> Failure | None:
    """b(g − 3h) = b(g) − 3 b(h), and b(0) = 0; needs no reference."""
    for name in [key.removesuffix(", 0") for key in right if key.endswith(", 0")]:
        both, apart, none = (
            np.asarray(observed[f"{name}{end}"], float)
            for end in (", g − 3h", ", g − 3 · (h)", ", 0")
        )
        if not all(np.isfinite(x).all() for x in (both, apart, none)):
            return Failure(name, Text(f"{name} has NaN or ∞ in it", f"{name} 中有 NaN 或 ∞"))
        size = max(float(np.abs(apart).max(initial=0.0)), 1e-9)
        with np.errstate(invalid="ignore"):
            off = np.abs(both - apart).max(initial=0.0), np.abs(none).max(initial=0.0)
        if not np.max(off) <= CLOSE * size:  # so that float32 is linear too
            return Failure(
                name,
                Text(
                    f"{name} is not linear in the upstream gradient: where that is 0 it must be 0, "
                    "and for g − 3h it must be that for g minus three times that for h",
                    f"{name} 对上游梯度不是线性的：上游为 0 时应为 0，上游为 g − 3h 时应等于 "
                    "g 的结果减去 h 的结果的三倍",
                ),
            )
    return None
