"""The op that CONTRIBUTING.md shows works as it is written there, takes about six lines, and the
check that goes with it finds a mistake in it. So does the exercise that is shown."""

import ast
import doctest
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import minigrad
from minigrad import Tensor
from minigrad.check import check_primitive
from minigrad.cli.check import load_primitives
from minigrad.coursework import grade, load, verify

CONTRIBUTING = Path(__file__).parent.parent / "CONTRIBUTING.md"
EXAMPLE, STUB, SOLUTION, CHECKS, MUTANTS = re.findall(
    r"^```python\n(.*?)^```", CONTRIBUTING.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


@pytest.fixture
def module() -> ModuleType:
    made = ModuleType("arctan")
    exec(compile(EXAMPLE, "arctan.py", "exec"), made.__dict__)
    return made


def test_the_example_passes_the_check_that_minigrad_check_runs(tmp_path: Path) -> None:
    path = tmp_path / "arctan.py"
    path.write_text(EXAMPLE, encoding="utf-8")
    (op,) = load_primitives(path)
    result = check_primitive(op)
    assert result.ok, result.problem
    assert result.second is not None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("g / (1 + x * x)", "g / (1 - x * x)"), ("g / (1", "-g / (1"), ("x: g /", "x: 1.0 /")],
)
def test_a_mistake_in_the_example_is_found(tmp_path: Path, right: str, wrong: str) -> None:
    assert right in EXAMPLE
    path = tmp_path / "arctan.py"
    path.write_text(EXAMPLE.replace(right, wrong), encoding="utf-8")
    (op,) = load_primitives(path)
    assert not check_primitive(op).ok


def test_the_example_works_on_arrays_tensors_and_twice(module: ModuleType) -> None:
    values = np.array([-0.5, 2.0])
    np.testing.assert_array_equal(module.arctan(values), np.arctan(values))

    x = Tensor(values, requires_grad=True)
    upstream = np.array([3.0, -0.7])
    (first,) = minigrad.grad(module.arctan(x), x, upstream, create_graph=True)
    np.testing.assert_allclose(first.data, upstream / (1 + values**2))
    (second,) = minigrad.grad(first, x, np.ones(2))
    np.testing.assert_allclose(second.data, -2 * values * upstream / (1 + values**2) ** 2)


def test_the_example_prints_as_a_formula(module: ModuleType) -> None:
    text = str(minigrad.formula(module.arctan))
    assert "arctan" in text
    assert "1 +" in text


def test_the_docstring_of_the_example_is_true(module: ModuleType) -> None:
    tests = doctest.DocTestFinder().find(module.arctan, globs=vars(module))
    results = [doctest.DocTestRunner(verbose=False).run(test) for test in tests]
    assert sum(result.attempted for result in results) >= 1
    assert sum(result.failed for result in results) == 0


def test_the_example_takes_about_six_lines() -> None:
    *_, function = ast.parse(EXAMPLE).body
    assert isinstance(function, ast.FunctionDef)
    decorated = function.decorator_list[0].lineno
    assert function.end_lineno is not None
    docstring = len((ast.get_docstring(function, clean=False) or "").splitlines())
    assert function.end_lineno - decorated + 1 - docstring <= 7


def test_the_exercise_can_be_handed_out_and_names_the_mistake(tmp_path: Path) -> None:
    folder = tmp_path / "exercises" / "17-cube"
    files = {
        folder / "exercise.py": STUB,
        folder / "checks.py": CHECKS,
        folder / "mutants.py": MUTANTS,
        folder / "README.md": "# 17 The third power\n",
        folder / "README.zh-CN.md": "# 17 三次方\n",
        folder.parent / "solutions" / "17-cube.py": SOLUTION,
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    exercise = load(folder)
    assert verify(exercise) == []
    answer = tmp_path / "answer.py"
    answer.write_text(SOLUTION.replace("x**2", "x**3"), encoding="utf-8")
    verdict = grade(exercise, answer)
    assert (verdict.status, verdict.diagnosis) == ("failed", "cube.exponent")
