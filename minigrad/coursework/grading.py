"""The verdict: what was observed of a student's file is held against the reference and the known
mistakes. It is reached in our own process, from values alone.

Checks stand in layers, and the first that fails ends it: one mistake, one message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minigrad.check.diagnosis import CLOSE, Diagnosis, Occasion, diagnose
from minigrad.coursework.exercise import (
    Check,
    Exercise,
    Failure,
    Mutant,
    Observation,
    as_the_reference,
    misshapen,
    observe,
    quiet,
)
from minigrad.coursework.runner import RESULTS, Run, run
from minigrad.coursework.values import MOST as TEXT
from minigrad.coursework.values import (
    Foreign,
    Raised,
    Text,
    decode_all,
    difference,
    encode_all,
    readable,
)

NOTHING = Text("", "")
LONGEST = 1 << 20
"""Bytes of a file that is looked at; no answer is longer."""
WAITING = Text("it was not checked yet", "尚未检查")
PASSED, FAILED, SKIPPED, ERROR = "passed", "failed", "skipped", "error"
NOT_ATTEMPTED, MISSING = "not attempted", "missing"


@dataclass(frozen=True)
class Outcome:
    """What came of one check."""

    name: str
    title: Text
    status: str
    message: Text = NOTHING
    seconds: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """What came of one exercise: `status` is passed, failed, not attempted or error.

    `diagnosis` is the id of the mistake, empty if none was recognised; `says` and `hint` tell it.
    `where` has what was right and what was wrong in the check that failed.
    """

    exercise: str
    title: Text
    status: str
    outcomes: Sequence[Outcome]
    diagnosis: str = ""
    says: Text = NOTHING
    hint: Text = NOTHING
    where: Text = NOTHING
    line: int | None = None
    printed: str = ""
    seed: int = 0

    @property
    def score(self) -> float:
        """The part of the checks that passed."""
        passed = sum(outcome.status == PASSED for outcome in self.outcomes)
        return passed / max(len(self.outcomes), 1)

    @property
    def failed(self) -> Outcome | None:
        """The check that ended it."""
        bad = [outcome for outcome in self.outcomes if outcome.status in (FAILED, ERROR)]
        return bad[0] if bad else None


def grade(
    exercise: Exercise,
    file: Path,
    *,
    seed: int = 0,
    so_far: Callable[[Verdict], None] | None = None,
) -> Verdict:
    """Check a student's file. Its errors become a verdict, and so do those of the check.

    Args: `so_far` is called with what is known after each check, while the others go on.
    """
    outcomes: list[Outcome] = []

    def heard(found: Run) -> None:
        if so_far is not None and not (outcomes and outcomes[-1].status == FAILED):
            check = exercise.checks[len(outcomes)]
            seen = {key: x for key, x in found.observed.items() if key[0] == check.name}
            with quiet():
                derived = _all_derived(exercise, replace(found, observed=seen), seed)
                bad, _ = _failure(exercise, check, derived, seed)
            outcomes.append(_outcome(check, found, bad))
            rest = [Outcome(c.name, c.title, ERROR, WAITING) for c in exercise.checks]
            made = (*outcomes, *rest[len(outcomes) :])
            so_far(Verdict(exercise.name, exercise.title, ERROR, made, seed=seed))

    try:
        if file.stat().st_size > LONGEST:
            said = Text(f"it is larger than {LONGEST:,} bytes", f"文件超过 {LONGEST:,} 字节")
            return unchecked(exercise, said, seed=seed)
        return judge(exercise, run(exercise, file, seed=seed, heard=heard), seed=seed)
    except Exception as error:  # of ours, not of the student's: that is a verdict
        told = f"{type(error).__name__}: {error}"
        return unchecked(exercise, Text(told, told), seed=seed)


def _outcome(check: Check, found: Run, bad: Failure | None, status: str = "") -> Outcome:
    """What came of a check, from what is wrong in it."""
    seconds = round(found.seconds.get(check.name, 0.0), 4)
    status = status or (FAILED if bad else PASSED)
    return Outcome(check.name, check.title, status, bad.what if bad else NOTHING, seconds)


def unchecked(exercise: Exercise, why: Text, *, seed: int = 0) -> Verdict:
    """The verdict on what could not be checked, or was not yet."""
    outcome = Outcome("harness", Text("it could be checked", "可以检查"), ERROR, why)
    return Verdict(exercise.name, exercise.title, ERROR, (outcome,), seed=seed)


def judge(exercise: Exercise, found: Run, *, seed: int = 0) -> Verdict:
    """The verdict on what was observed."""
    with quiet():
        return verdict_of(exercise, _all_derived(exercise, found, seed), seed)


def _all_derived(exercise: Exercise, found: Run, seed: int) -> Run:
    checks = {check.name: check for check in exercise.checks}
    observed = {
        (name, offset): _derived(exercise, checks[name], seen, seed, offset)
        for (name, offset), seen in found.observed.items()
    }
    return replace(found, observed=observed)


def verdict_of(exercise: Exercise, found: Run, seed: int) -> Verdict:
    """The verdict on what was observed and derived."""
    outcomes: list[Outcome] = []
    failure: tuple[Check, Failure, Raised | None] | None = None
    for check in exercise.checks:
        if failure is not None:
            outcomes.append(_outcome(check, found, None, SKIPPED))
            continue
        bad, error = _failure(exercise, check, found, seed)
        outcomes.append(_outcome(check, found, bad))
        if bad is not None:
            failure = check, bad, error
    status = PASSED if failure is None else FAILED
    told = Told("", NOTHING, NOTHING)
    where, line = NOTHING, None
    if failure is not None:
        check, bad, error = failure
        line = error.line if error else None
        begun = sum(outcome.status == PASSED for outcome in outcomes) > 1  # beyond the signature
        if error and error.kind == "NotImplementedError" and not begun:
            status = NOT_ATTEMPTED
            outcomes = [Outcome(o.name, o.title, SKIPPED) for o in outcomes]
        elif not (found.ready or found.observed):
            status = ERROR
        else:
            told = explain(exercise, check, bad, found, seed) or told
            where = _where(exercise, check, found, seed, bad.key)
    return Verdict(
        exercise.name,
        exercise.title,
        status,
        tuple(outcomes),
        *told,
        where,
        line,
        found.printed,
        seed,
    )


def _failure(
    exercise: Exercise, check: Check, found: Run, seed: int
) -> tuple[Failure | None, Raised | None]:
    """What is wrong in a check, on the first seed that shows it, and the error if there was one."""
    if found.loading is not None:
        return Failure("", found.loading.says), found.loading
    for offset in range(exercise.seeds):
        seen = found.observed.get((check.name, offset))
        if seen is None:
            return Failure("", _ended(found)), None
        if isinstance(seen, Raised):
            return Failure("", seen.says), seen
        right = right_of(exercise, check, seed, offset)
        try:
            bad = _judged(check, seen, right)
        except Exception as error:  # a judge may not expect what came
            bad = Failure(
                "", Text(f"what came cannot be judged: {error}", f"无法判断结果：{error}")
            )
        if bad is not None:
            value = seen.get(bad.key)
            bad = Failure(bad.key, Text(bad.what.en[:TEXT], bad.what.zh[:TEXT]))
            return bad, value if isinstance(value, Raised) else None
    return None, None


def _judged(check: Check, seen: Observation, right: Observation) -> Failure | None:
    """What a check's judge says. It gets no arrays of other shapes, as it may subtract them."""
    arrays = {key: value for key, value in seen.items() if isinstance(value, np.ndarray)}
    if check.judge is not as_the_reference:
        bad = misshapen(arrays, {key: right[key] for key in arrays})
        if bad is not None:
            return bad
    return check.judge(seen, right)


SHOWN = 6
"""Of what is right, and of what is wrong, that is listed."""


def _where(exercise: Exercise, check: Check, found: Run, seed: int, failed: str) -> Text:
    """What is right and what is wrong in a check: what do those share?"""
    seen = found.observed.get((check.name, 0))
    if check.coarse or seen is None or isinstance(seen, Raised):
        return NOTHING
    right = right_of(exercise, check, seed, 0)
    names = [key for key in right if not key.startswith("#")]
    bad = [k for k in names if k == failed or k not in seen or difference(seen[k], right[k])]
    good = [key for key in names if key not in bad]
    parts = [
        Text(
            f"{what.en}: {'; '.join(keys[:SHOWN])}{' …' if len(keys) > SHOWN else ''}",
            f"{what.zh}：{'；'.join(keys[:SHOWN])}{' ……' if len(keys) > SHOWN else ''}",
        )
        for what, keys in ((Text("Right", "正确"), good), (Text("Wrong", "有误"), bad))
        if keys and bad
    ]
    return Text("\n".join(part.en for part in parts), "\n".join(part.zh for part in parts))


def _ended(found: Run) -> Text:
    why = found.ended
    if not found.ready:
        return Text(
            f"Python did not start here ({why}): {found.printed}",
            f"Python 没有启动（{why}）：{found.printed}",
        )
    if why.startswith("time"):
        n = why.partition(" ")[2]
        return Text(
            f"it was not through after {n} seconds: is there a loop without an end?",
            f"{n} 秒后仍未结束：是否有无限循环？",
        )
    if why == "output":
        return Text("it prints without end", "输出没有止境")
    if why == "unreadable":
        return Text(
            f"what came of it cannot be read; results may have {RESULTS >> 20} MB in all",
            f"无法读取结果；全部结果最多 {RESULTS >> 20} MB",
        )
    code = why.partition(" ")[2]
    return Text(
        "the program ended before the checks were through"
        + (f" (exit status {code})" if code else ""),
        "检查尚未完成，程序就结束了" + (f"（退出状态 {code}）" if code else ""),
    )


# -------------------------------------------------------------------------------------- explaining


class Told(NamedTuple):
    """A mistake by its id, with what is said of it."""

    id: str
    says: Text
    hint: Text


UNTELLING = (
    *("NameError", "UnboundLocalError", "AttributeError"),
    *("ImportError", "ModuleNotFoundError", "SyntaxError"),
)
"""Errors that any slip of the pen ends with: of a line of the student's, they name nothing."""

_solutions: dict[tuple[Path, str], Any] = {}
_observed: dict[tuple[Path, str, str, int, int], Observation | Raised] = {}
_references: dict[tuple[Path, str, int, int], Observation | Raised] = {}
MOST = 20_000
"""Observations of references and mistakes that are kept."""


def solution_of(exercise: Exercise, mistake: Mutant | None) -> Any:
    """The reference's names, or a mistake's, made once."""
    key = exercise.reference, mistake.code if mistake else ""
    if key not in _solutions:
        _solutions[key] = exercise.solution(mistake)
    return _solutions[key]


def right_of(exercise: Exercise, check: Check, seed: int, offset: int) -> Observation:
    """What a check observes of the reference. Errors: `ValueError` if that raises."""
    seen = observed_of(exercise, None, check, seed, offset)
    if isinstance(seen, Raised):
        raise ValueError(f"the reference of {exercise.name} fails: {seen.says.en}")
    return seen


def observed_of(
    exercise: Exercise, mistake: Mutant | None, check: Check, seed: int, offset: int
) -> Observation | Raised:
    """What a check observes of the reference or of a known mistake, be it an error."""
    key = exercise.reference, mistake.code if mistake else "", check.name, seed, offset
    if key not in _observed:
        seen = _raw(exercise, mistake, check, seed, offset)
        _observed[key] = _derived(exercise, check, seen, seed, offset)
    return _observed[key]


def _raw(
    exercise: Exercise, mistake: Mutant | None, check: Check, seed: int, offset: int
) -> Observation | Raised:
    """The same as it was seen, before anything follows from it."""
    key = exercise.reference, check.name, seed, offset
    if mistake is None and key in _references:
        return _references[key]
    with quiet():
        seen = observe(check, solution_of(exercise, mistake), seed, offset)
    seen = seen if isinstance(seen, Raised) else decode_all(encode_all(seen))
    if len(_observed) + len(_references) > MOST:
        _observed.clear()
        _references.clear()
    if mistake is None:
        _references[key] = seen
    return seen


def _derived(
    exercise: Exercise, check: Check, seen: Observation | Raised, seed: int, offset: int
) -> Observation | Raised:
    """What is judged of an observation: what the reference gives too, and what follows from it."""
    right = _raw(exercise, None, check, seed, offset)
    if isinstance(seen, Raised) or isinstance(right, Raised):
        return seen
    known = {name: _bounded(x, right[name]) for name, x in seen.items() if name in right}
    if check.derive is None:
        return known
    try:
        return decode_all(encode_all(check.derive(known, right)))
    except Exception as error:  # it may not expect what came
        return Raised(type(error).__name__, readable(error)[:TEXT])


def _bounded(value: Any, right: Any) -> Any:
    """An array, or a description of one that is many times larger than what the reference gives."""
    if not isinstance(value, np.ndarray) or value.size <= 1000 + 100 * np.size(right):
        return value
    return Foreign("very large array", f"{value.dtype}, {value.nbytes:,} B")


def explain(exercise: Exercise, check: Check, bad: Failure, found: Run, seed: int) -> Told | None:
    """The mistake that explains what failed in a check; None if none does.

    A known mistake must give what was observed in the check that failed, and be right wherever the
    student is right; where a check shows little, it must give the same gradients too. Relations
    come after that, where nothing but the backward can be at fault.
    """
    passed = [
        c
        for c in exercise.checks
        if all(
            (seen := found.observed.get((c.name, offset))) is not None
            and _judged_right(exercise, c, seen, seed, offset)
            for offset in range(exercise.seeds)
        )
    ]
    others = [c for c in exercise.checks if check.coarse and c.gradients]
    alike = [
        mistake
        for mistake in exercise.mutants
        if not _right(exercise, mistake, check, seed)
        and _gives(exercise, mistake, check, found, seed)
        and all(_gives(exercise, mistake, c, found, seed, loosely=True) for c in others)
        and all(_right(exercise, mistake, c, seed) for c in passed)
    ]
    if alike:
        # Of several, the one that agrees in most of the other checks too.
        agreed = [sum(_gives(exercise, m, c, found, seed) for c in exercise.checks) for m in alike]
        mistake = alike[agreed.index(max(agreed))] if len(alike) > 1 else alike[0]
        return Told(mistake.id, mistake.says, mistake.hint)
    after = exercise.checks[list(exercise.checks).index(check) :]
    looking = next((c for c in after if c.gradients), None)
    of_gradients = check.gradients or check.backward
    if looking is None or not of_gradients or _came_as_integers(exercise, check, found):
        return None
    known = [
        m
        for m in exercise.mutants
        if not _right(exercise, m, check, seed)
        and all(_right(exercise, m, c, seed) for c in passed)
    ]
    told = _by_relations(exercise, looking, bad, found, seed, known)
    if told is None:
        return None
    for mistake in known:
        if mistake.id == told.id:
            return Told(mistake.id, _and_more(mistake.says, dict(told.values)), mistake.hint)
    explains = check.gradients or check.backward is True or told.id in (check.backward or ())
    if not explains:
        return None
    says, hint = (Text(tell("en"), tell("zh")) for tell in (told.sentence, told.hint))
    return Told(told.id, says, hint)


def _and_more(says: Text, values: Mapping[str, str]) -> Text:
    """What a known mistake is told as, where a constant comes on top of it."""
    if "times" in values:
        factor = values["times"]
        return Text(
            f"It is {factor} times what this mistake gives: {says.en}",
            f"结果是下面这个错误所得的 {factor} 倍：{says.zh}",
        )
    return says


def _came_as_integers(exercise: Exercise, check: Check, found: Run) -> bool:
    """Whether gradients came as integers, so that their values say nothing."""
    return any(
        key.endswith(": its dtype") and not str(value).startswith("dtype float")
        for offset in range(exercise.seeds)
        if not isinstance(seen := found.observed.get((check.name, offset), {}), Raised)
        for key, value in seen.items()
    )


_rights: dict[tuple[Path, str, str, int], bool] = {}


def _right(exercise: Exercise, mistake: Mutant, check: Check, seed: int) -> bool:
    """Whether a mistake does not show in a check."""
    key = exercise.reference, mistake.code, check.name, seed
    if key not in _rights:
        if len(_rights) > MOST:
            _rights.clear()
        _rights[key] = all(
            _judged_right(
                exercise, check, observed_of(exercise, mistake, check, seed, offset), seed, offset
            )
            for offset in range(exercise.seeds)
        )
    return _rights[key]


def _judged_right(
    exercise: Exercise, check: Check, seen: Observation | Raised, seed: int, offset: int
) -> bool:
    if isinstance(seen, Raised):
        return False
    try:
        return _judged(check, seen, right_of(exercise, check, seed, offset)) is None
    except Exception:  # a judge may not expect what came
        return False


def _gives(
    exercise: Exercise, mistake: Mutant, check: Check, found: Run, seed: int, loosely: bool = False
) -> bool:
    """Whether a mistake gives what was observed in a check; `loosely` where both came so far."""
    for offset in range(exercise.seeds):
        seen = found.observed.get((check.name, offset))
        made = observed_of(exercise, mistake, check, seed, offset)
        if loosely and (seen is None or isinstance(seen, Raised) or isinstance(made, Raised)):
            continue
        if seen is None or not same(seen, made):
            return False
    return True


def same(a: Observation | Raised, b: Observation | Raised) -> bool:
    """Whether two observations are equal, to a millionth of the largest entry of each."""
    if isinstance(a, Raised) or isinstance(b, Raised):
        return _same_value(a, b)
    names = {key for key in (*a, *b) if not key.startswith("#")}
    return all(key in a and key in b and _same_value(a[key], b[key]) for key in names)


def _same_value(a: Any, b: Any) -> bool:
    if isinstance(a, Raised) and a.kind in UNTELLING and a.line is not None:
        return False
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return isinstance(a, Foreign) and type(a) is type(b) and a == b
    if a.shape != b.shape or a.dtype.kind == "c" or b.dtype.kind == "c":
        return False
    if (a.dtype.kind == "b") != (b.dtype.kind == "b"):
        return False
    x, y = a.astype(float), b.astype(float)
    finite = np.isfinite(y)
    if (
        not np.array_equal(x[~finite], y[~finite], equal_nan=True)
        or not np.isfinite(x[finite]).all()
    ):
        return False
    size = float(np.abs(y[finite]).max(initial=0.0))
    return bool(np.abs(x[finite] - y[finite]).max(initial=0.0) <= CLOSE * size)


def _by_relations(
    exercise: Exercise, check: Check, bad: Failure, found: Run, seed: int, known: Sequence[Mutant]
) -> Diagnosis | None:
    """The diagnosis of the input whose gradient failed, or of the first that is wrong."""
    by_input: dict[str, list[Occasion]] = {}
    wrong_first = ""
    for offset in range(exercise.seeds):
        seen = found.observed.get((check.name, offset))
        if seen is None or isinstance(seen, Raised):
            return None
        right = right_of(exercise, check, seed, offset)
        wrong = {m.id: observed_of(exercise, m, check, seed, offset) for m in known}
        for key in [key for key in right if not key.startswith("#")]:
            occasion = _occasion(key, seen, right, wrong)
            if occasion is None:
                return None
            by_input.setdefault(_input_of(key), []).append(occasion)
            if not wrong_first and difference(seen[key], right[key]):
                wrong_first = _input_of(key)
    told_of = _input_of(bad.key)
    told_of = told_of if told_of in by_input else wrong_first
    told = diagnose(by_input.get(told_of, []))
    return told and (told if len(by_input) == 1 else told._replace(of=told_of))


def _input_of(key: str) -> str:
    """The gradient that a key of an observation stands for, such as ∂L/∂x."""
    return key.rpartition(": ")[2]


def _occasion(
    key: str, seen: Observation, right: Observation, wrong: Mapping[str, Observation | Raised]
) -> Occasion | None:
    value = seen.get(key)
    if not isinstance(value, np.ndarray) or value.dtype.kind == "c":
        return None
    call, _, own = key.rpartition(": ")
    other = seen.get(f"#other {key}")
    beside = [name for name in right if name.startswith(f"{call}: ") and not name.endswith(own)]
    return Occasion(
        right[key].astype(float),
        value.astype(float),
        other=other.astype(float) if isinstance(other, np.ndarray) else None,
        ones=right.get(f"#ones {key}"),
        constants=right.get(f"#constants {key}", {}),
        others={_input_of(name).removeprefix("∂L/∂"): right[name] for name in beside},
        mistakes={
            name: found[key].astype(float)
            for name, found in wrong.items()
            if not isinstance(found, Raised)
            and isinstance(found.get(key), np.ndarray)
            # At the other inputs it must be right, or as wrong as what was observed.
            and all(
                _same_value(found.get(place), right[place])
                or _same_value(found.get(place), seen.get(place))
                for place in beside
            )
        },
    )
