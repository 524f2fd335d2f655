"""For authors: whether an exercise can be handed out.

The reference passes, the stub counts as not attempted, and every known mistake fails with its own
id, on every seed. Whatever an author's code raises is told as a problem, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from minigrad.coursework.exercise import (
    Exercise,
    Mutant,
    Observation,
    load,
    module_of,
    observe,
    raised,
)
from minigrad.coursework.grading import (
    FAILED,
    NOT_ATTEMPTED,
    PASSED,
    Verdict,
    judge,
    observed_of,
    solution_of,
    verdict_of,
)
from minigrad.coursework.runner import Run, observe_here
from minigrad.coursework.values import Raised


def verify_folder(folder: Path) -> tuple[int | None, list[str]]:
    """How many mistakes an exercise in a folder knows, None if it cannot be read; its problems."""
    try:
        exercise = load(folder)
    except ValueError as error:
        return None, str(error).splitlines()
    return len(exercise.mutants), verify(exercise)


def verify(exercise: Exercise, seeds: Sequence[int] = (0, 1, 2)) -> list[str]:
    """What is wrong with an exercise itself; empty if it can be handed out."""
    pages = [exercise.folder / name for name in ("README.md", "README.zh-CN.md")]
    problems = [problem for page in pages for problem in _of_a_page(page)]
    ids = [m.id for m in exercise.mutants]
    problems += [f"the id {name} stands for two mistakes" for name in {*ids} if ids.count(name) > 1]
    fatal = _tried(exercise, "the reference", partial(_of_the_reference, exercise, seeds))
    if fatal:  # all the rest is held against it
        return problems + fatal
    problems += _tried(exercise, "the worked example", partial(_of_the_example, exercise))
    problems += _tried(exercise, "the stub", partial(_of_the_stub, exercise, seeds))
    broken = {
        m.id: _tried(exercise, m.id, partial(_of_the_code, exercise, m)) for m in exercise.mutants
    }
    problems += [problem for found in broken.values() for problem in found]
    sound = replace(exercise, mutants=[m for m in exercise.mutants if not broken[m.id]])
    for mutant in sound.mutants:
        problems += _tried(sound, mutant.id, partial(_of_a_mistake, sound, mutant, seeds))
    return problems


def _of_a_page(page: Path) -> Iterator[str]:
    try:
        text = page.read_text(encoding="utf-8")
    except OSError:
        yield f"its page {page.name} is missing"
    except ValueError:
        yield f"its page {page.name} is not written in UTF-8"
    else:
        if not text.strip():
            yield f"its page {page.name} is empty"


def _tried(exercise: Exercise, what: str, look: Callable[[], Iterable[str]]) -> list[str]:
    """The problems found, up to an error of the author's code, which is one more."""
    problems: list[str] = []
    try:
        problems.extend(f"{what}: {problem}" for problem in look())
    except BaseException as error:  # an author's code may raise anything
        problems.append(f"{what}: {_place(exercise, error)}")
    return problems


def _place(exercise: Exercise, error: BaseException) -> str:
    """An error with its line in a file of the author's, or in the code of a mistake."""
    for file in (
        exercise.reference,
        exercise.folder / "checks.py",
        exercise.folder / "exercise.py",
    ):
        told = raised(error, str(file), "")
        if told.line is None:
            continue
        before = file.read_text(encoding="utf-8").count("\n") + 2  # where a mistake's code begins
        if file == exercise.reference and told.line > before:
            return f"its code, {replace(told, line=told.line - before).says.en}"
        return f"{file.name}, {told.says.en}"
    return f"{type(error).__name__}: {error}"


def _of_the_reference(exercise: Exercise, seeds: Sequence[int]) -> Iterator[str]:
    made = solution_of(exercise, None)
    for check in exercise.checks:
        seen = observe(check, made, seeds[0], 0)
        if not isinstance(seen, (dict, Raised)):
            yield f"{check.name} must observe values by name, in a dict, and not {seen!r:.40}"
            return
    for seed in seeds:
        errors = [
            ": ".join(filter(None, (check.name, key, value.says.en)))
            for check in exercise.checks
            for offset in range(exercise.seeds)
            for key, value in _values(observed_of(exercise, None, check, seed, offset)).items()
            if isinstance(value, Raised)
        ]
        if errors:
            yield f"seed {seed}: {errors[0]}"
            return
        found = _verdict_on(exercise, None, seed)
        if found.status != PASSED:
            yield f"seed {seed}: it does not pass: {_why(found)}"


def _values(seen: Observation | Raised) -> Observation:
    return {"": seen} if isinstance(seen, Raised) else seen


def _of_the_example(exercise: Exercise) -> Iterator[str]:
    if exercise.worked is None:
        return
    for language in ("en", "zh"):
        told = exercise.worked(solution_of(exercise, None), language)
        if not isinstance(told, str):
            yield f"it must be a text, and not {told!r:.40}"


def _of_the_stub(exercise: Exercise, seeds: Sequence[int]) -> Iterator[str]:
    stub = exercise.folder / "exercise.py"
    for seed in seeds:
        begun = module_of(stub.read_text(encoding="utf-8"), str(stub))
        found = judge(exercise, observe_here(exercise, begun, seed=seed), seed=seed)
        if found.status != NOT_ATTEMPTED:
            yield f"seed {seed}: it is {found.status}: {_why(found)}"


def _of_the_code(exercise: Exercise, mutant: Mutant) -> Iterable[str]:
    solution_of(exercise, mutant)
    return ()


def _of_a_mistake(exercise: Exercise, mutant: Mutant, seeds: Sequence[int]) -> Iterator[str]:
    for seed in seeds:
        for check in exercise.checks:
            made = observed_of(exercise, mutant, check, seed, 0)
            slips = ("NameError", "UnboundLocalError", "ImportError")
            if isinstance(made, Raised) and made.kind in slips:
                yield f"it is a slip and no mistake: {check.name}: {made.says.en}"
                return
        found = _verdict_on(exercise, mutant, seed)
        if found.status != FAILED or found.diagnosis != mutant.id:
            told = found.diagnosis or "no diagnosis"
            yield f"seed {seed}: it is {found.status}, {told}: {_why(found)}"


def _verdict_on(exercise: Exercise, mistake: Mutant | None, seed: int) -> Verdict:
    """The verdict on the reference, or on a known mistake."""
    found = Run()
    for check in exercise.checks:
        for offset in range(exercise.seeds):
            found.observed[check.name, offset] = observed_of(exercise, mistake, check, seed, offset)
    return verdict_of(exercise, found, seed)


def _why(verdict: Verdict) -> str:
    bad = verdict.failed
    return f"{bad.name}: {bad.message.en}" if bad else "nothing failed"
