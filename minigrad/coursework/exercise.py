"""An exercise: what a student writes, how it is looked at, and which mistakes are known.

A folder holds it: `exercise.py` with the stub, `checks.py` which defines `EXERCISE`, `mutants.py`
which defines `MUTANTS`, and a page in each language. The reference lies apart, in the folder
`solutions` beside the exercises, under the same name.

A check only observes: it calls the student's functions and returns what came, by name. The same
observations are made of the reference and of every known mistake, and comparing them decides.
"""

from __future__ import annotations

import ast
import math
import runpy
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast

import numpy as np

from minigrad.coursework.values import MOST, Raised, Text, difference, readable

Observation = dict[str, Any]
"""What was seen, by name: arrays, numbers. Names that begin with # are context, not compared."""

Observe = Callable[[Any, np.random.Generator], Observation]


class Failure(NamedTuple):
    """Why a check failed: what was looked at, and what is wrong with it."""

    key: str
    what: Text


def as_the_reference(observed: Observation, right: Observation) -> Failure | None:
    """Everything that was observed must be what the reference gives."""
    for key, value in right.items():
        if key.startswith("#"):
            continue
        if key not in observed:
            return Failure(key, Text(f"{key}: nothing came", f"{key}：什么也没有得到"))
        if problem := difference(observed[key], value):
            return Failure(key, Text(f"{key}: {problem.en}", f"{key}：{problem.zh}"))
    return None


def misshapen(observed: Observation, right: Observation) -> Failure | None:
    """The first that is no real array of the reference's shape; judges ask before they reckon.

    >>> misshapen({"x": np.zeros((2, 1))}, {"x": np.zeros((2, 2))}).what.en
    'x: its shape is (2, 1) in place of (2, 2)'
    """
    for key, value in right.items():
        found = observed.get(key)
        real = isinstance(found, np.ndarray) and found.dtype.kind in "biuf"
        fits = real and np.array(found).shape == np.array(value).shape
        if not fits and not key.startswith("#"):
            return as_the_reference({key: found}, {key: value})
    return None


def attempt(
    found: Observation, keys: Sequence[str], module: Any, call: Callable[[], Sequence[Any]]
) -> None:
    """Adds what a call returns to an observation, or its error, and does not stop there.

    So the calls that come after one that raises are seen too. What is not written yet does stop it.
    """
    try:
        found |= dict(zip(keys, call(), strict=True))
    except NotImplementedError:
        raise
    except Exception as error:  # a student's code may raise anything
        found |= dict.fromkeys(keys, raised(error, *own(module)))


def raised(error: BaseException, file: str, code: str) -> Raised:
    """An error as a value, with the last line of a file and its operation that it came through."""
    causes = [error]  # where the engine explains an error, the student's line is in its cause
    while causes[-1].__cause__ is not None and len(causes) < 9:
        causes.append(causes[-1].__cause__)
    frames = [f for e in causes for f in traceback.extract_tb(e.__traceback__)]
    own = [frame for frame in frames if frame.filename == file]
    line = own[-1].lineno if own else None
    text = str(error)
    if isinstance(error, SyntaxError):
        text = str(error.msg)
        line = error.lineno if error.filename == file else line
    if not own:
        return Raised(type(error).__name__, text[:MOST], line)
    place = own[-1].lineno, own[-1].end_lineno, own[-1].colno, own[-1].end_colno
    return Raised(type(error).__name__, text[:MOST], line, _operation(place, code))


@lru_cache(maxsize=256)
def _operation(place: tuple[int | None, ...], code: str) -> str:
    """The operator or the function where code failed, from its lines and columns."""
    for node in ast.walk(ast.parse(code)):  # once for each place
        if isinstance(node, (ast.expr, ast.stmt)):
            ends = node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
            if ends == place:
                if isinstance(node, ast.Call):
                    return ast.unparse(node.func).rpartition(".")[2]
                return type(getattr(node, "op", node)).__name__
    return ""


class Check(NamedTuple):
    """One thing that is looked at.

    Args:
        name: stable, for reports.
        title: what it says of a right answer.
        observe: called with the student's module and a generator; runs in the student's process.
        judge: of what was observed and of what the reference gives; None if all is well.
        derive: of the same two, what is judged in place of what was observed, and compared with
            the mistakes: so flags are decided outside the student's process.
        gradients: whether what is observed are gradients, to which mistakes have names.
        backward: whether it looks at nothing but the backward, so that what explains the gradients
            explains it too; or the ids of what does.
        coarse: whether it observes so little, flags or shapes, that many mistakes look alike in it.
    """

    name: str
    title: Text
    observe: Observe
    judge: Callable[[Observation, Observation], Failure | None] = as_the_reference
    gradients: bool = False
    backward: bool | Collection[str] = False
    coarse: bool = False
    derive: Callable[[Observation, Observation], Observation] | None = None


class Mutant(NamedTuple):
    """A classic mistake: its id, code that puts it into the reference, and what to tell."""

    id: str
    code: str
    says: Text
    hint: Text


@dataclass(frozen=True)
class Exercise:
    """What there is of one exercise. `checks.py` gives the first fields, `load` the others.

    Args:
        title: in both languages.
        checks: in the order in which they are reported; the first that fails ends it.
        seeds: how many times each check observes.
        seconds: how long one observation may take.
        worked: returns a worked example in a language, computed by the reference.
    """

    title: Text
    checks: Sequence[Check]
    seeds: int = 3
    seconds: float = 10.0
    worked: Callable[[Any, str], str] | None = None
    folder: Path = Path()
    mutants: Sequence[Mutant] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of its folder, such as 08-softmax."""
        return self.folder.name

    @property
    def observations(self) -> int:
        """How many observations all checks make together."""
        return len(self.checks) * self.seeds

    @property
    def number(self) -> int:
        """Its place on the ladder."""
        return int(self.name.partition("-")[0])

    @property
    def reference(self) -> Path:
        """The file with the solution."""
        return self.folder.parent / "solutions" / f"{self.name}.py"

    def solution(self, mistake: Mutant | None = None) -> Any:
        """The names that the reference defines, or with a mistake put into it."""
        code = self.reference.read_text(encoding="utf-8")
        if mistake is not None:
            code += f"\n\n{mistake.code}\n"
        return module_of(code, str(self.reference))


class Seen(NamedTuple):
    """One observation: of which check and seed, and what was observed, be it an error."""

    check: str
    offset: int
    observed: Observation | Raised


def observations(exercise: Exercise, module: Any, seed: int) -> Iterator[Seen]:
    """What all checks observe of a module, one after the other, each with its seeds."""
    for check in exercise.checks:
        for offset in range(exercise.seeds):
            yield Seen(check.name, offset, observe(check, module, seed, offset))


def observe(check: Check, module: Any, seed: int, offset: int) -> Observation | Raised:
    """What one check observes of a module with one seed, be it the error it ends with."""
    try:
        return check.observe(module, np.random.default_rng([seed, offset]))
    except (Exception, SystemExit) as error:
        return raised(error, *own(module))


def own(module: Any) -> tuple[str, str]:
    """The file of a module of a student's and its code, whatever they did to these names."""
    found = (vars(module).get(name) for name in ("__file__", "__source__"))
    file, code = (x if isinstance(x, str) else "" for x in found)
    return file, code


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings, of NumPy's or of others': for what may divide by 0 and is looked at anyway."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def module_of(code: str, file: str) -> Any:
    """What a file defines. Errors: whatever it raises."""
    module = _Module("exercise")
    vars(module).update(__file__=file, __source__=code)
    sys.modules["exercise"] = module  # where dataclasses look for what annotations mean
    exec(compile(code, file, "exec", dont_inherit=True), vars(module))
    return module


class _Module(ModuleType):
    """What a file defines, with a plain word for what it does not."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name} is not defined")


def load(folder: Path) -> Exercise:
    """Read an exercise. Errors: `ValueError` with a line for each thing that is wrong with it."""
    missing = [n for n in ("checks.py", "exercise.py", "mutants.py") if not (folder / n).is_file()]
    if missing:
        raise ValueError(f"{folder} is no exercise: {', '.join(missing)} missing")
    found = _defined(folder / "checks.py", "EXERCISE")
    mutants = _defined(folder / "mutants.py", "MUTANTS")
    problems = [*_of_types("checks.py: EXERCISE", found, Exercise, EXERCISE)]
    if not problems:
        problems += _all_of_types("checks.py: checks", found.checks, Check, CHECK)
        names = [check.name for check in found.checks if isinstance(check, Check)]
        if len(names) != len(set(names)):
            problems.append(
                "checks.py: two checks have one name; op_checks takes name= for several"
            )
    problems += _all_of_types("mutants.py: MUTANTS", mutants, Mutant, MUTANT)
    exercise = Exercise(Text("", ""), (), folder=folder)
    if not exercise.reference.is_file():
        problems.append(f"it has no reference; that belongs in {exercise.reference}")
    if problems:
        raise ValueError("\n".join(f"{folder.name}: {problem}" for problem in problems))
    return replace(cast(Exercise, found), folder=folder, mutants=tuple(mutants))


Fields = Mapping[str, Callable[[Any], bool]]


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != "" and value == readable(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, Text) and all(map(_is_name, value))


EXERCISE: Fields = {
    "title": _is_text,
    "checks": lambda value: isinstance(value, (list, tuple)) and len(value) > 0,
    "seeds": lambda value: type(value) is int and value > 0,
    "seconds": lambda value: isinstance(value, (int, float)) and 0 < value < math.inf,
}
CHECK: Fields = {"name": _is_name, "title": _is_text, "observe": callable, "judge": callable}
MUTANT: Fields = {"id": _is_name, "code": _is_name, "says": _is_text, "hint": _is_text}
"""What an author gives, and what it must be."""


def _defined(file: Path, name: str) -> Any:
    """A name of an author's file. Errors: `ValueError` for whatever the file raises."""
    try:
        return runpy.run_path(str(file)).get(name)
    except BaseException as error:  # an author's code may raise anything
        told = raised(error, str(file), "").says.en
        raise ValueError(f"{file.parent.name}: {file.name}: {told}") from error


def _all_of_types(what: str, found: Any, kind: type, fields: Fields) -> Iterator[str]:
    if not isinstance(found, (list, tuple)):
        yield f"{what} is no list but {found!r:.40}"
        return
    for place, element in enumerate(found):
        yield from _of_types(f"{what}[{place}]", element, kind, fields)


def _of_types(what: str, found: Any, kind: type, fields: Fields) -> Iterator[str]:
    if not isinstance(found, kind):
        yield f"{what} is no {kind.__name__} but {found!r:.40}"
        return
    for name, fits in fields.items():
        if not fits(value := getattr(found, name)):
            yield f"{what}: its {name} cannot be {value!r:.40}"


def folders_in(folder: Path) -> list[Path]:
    """The folders of exercises, in the order of their numbers, whatever is in them."""
    return [path for path in sorted(folder.glob("[0-9][0-9]-*")) if path.is_dir()]


def all_exercises(folder: Path) -> list[Exercise]:
    """Those in a folder, in the order of their numbers. Errors: those of `load`."""
    return [load(path) for path in folders_in(folder)]
