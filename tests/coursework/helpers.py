"""An exercise of the tests' own, and answers to it."""

from pathlib import Path

STUB = """
def scaled(x, c):
    raise NotImplementedError


def scaled_gradient(g, c):
    raise NotImplementedError
"""
SOLUTION = """
import numpy as np


def scaled(x, c):
    return x * c


def scaled_gradient(g, c):
    return g * c
"""
WRONG = SOLUTION + "\n\ndef scaled_gradient(g, c):\n    return g / c\n"
CHECKS = """
from minigrad.coursework import Exercise, Text, op_checks

EXERCISE = Exercise(
    title=Text("Scale", "缩放"),
    checks=op_checks(
        "scaled",
        ["scaled_gradient", None],
        lambda rng: [(rng.normal(size=(3, 5)), 1.75), (rng.normal(size=(4, 4)), -0.6)],
        constants=lambda x, c: {"|c|": abs(c)},
    ),
    seconds=3.0,
    worked=lambda solution, language: f"3 · 2 = {solution.scaled(3.0, 2.0)}",
)
"""
MUTANTS = """
from minigrad.coursework import Mutant, Text

MUTANTS = [
    Mutant(
        "scale.upstream",
        "def scaled_gradient(g, c):\\n    return c * np.ones_like(g)",
        Text("The upstream is ignored.", "忽略了上游。"),
        Text("Multiply.", "相乘。"),
    ),
    Mutant(
        "scale.divided",
        "def scaled_gradient(g, c):\\n    return g / c",
        Text("It is divided by c.", "除以了 c。"),
        Text("What is the derivative of c x?", "c x 的导数是什么？"),
    ),
]
"""


def written(folder: Path, name: str = "03-scale") -> Path:
    """The exercise in a folder of its own; returns that."""
    place = folder / "exercises" / name
    place.mkdir(parents=True)
    files = {"exercise.py": STUB, "checks.py": CHECKS, "mutants.py": MUTANTS}
    files |= {"README.md": "# 3 Scale\n", "README.zh-CN.md": "# 3 缩放\n"}
    for file, text in files.items():
        (place / file).write_text(text, encoding="utf-8")
    solutions = folder / "exercises" / "solutions"
    solutions.mkdir(exist_ok=True)
    (solutions / f"{name}.py").write_text(SOLUTION, encoding="utf-8")
    return place


def answer(folder: Path, code: str) -> Path:
    """A student's file: the solution, and then this."""
    file = folder / "answer.py"
    file.write_text(f"{SOLUTION}\n\n{code}\n", encoding="utf-8")
    return file
