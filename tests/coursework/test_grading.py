"""Which mistake is named, and which is not: of errors, and of several inputs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.coursework import Check, Exercise, Failure, Mutant, Text, Verdict, load
from minigrad.coursework.exercise import module_of, raised
from minigrad.coursework.grading import judge, same
from minigrad.coursework.runner import Run, observe_here
from minigrad.coursework.values import Raised
from tests.coursework.helpers import written

SAYS = Text("It is so.", "如此。")
PRODUCT = """
from minigrad.coursework import Exercise, Text, op_checks

EXERCISE = Exercise(
    title=Text("Product", "乘积"),
    checks=op_checks(
        "product",
        ["left", "right"],
        lambda rng: [
            (rng.normal(size=(2, 3)), rng.normal(size=(3, 5))),
            (rng.normal(size=(4, 4)), rng.normal(size=(4, 4))),
        ],
    ),
)
"""
SOLUTION = """
def product(a, b):
    return a @ b


def left(g, b):
    return g @ b.T


def right(g, a):
    return a.T @ g
"""


@pytest.fixture
def product(tmp_path: Path) -> Exercise:
    folder = written(tmp_path)
    (folder / "checks.py").write_text(PRODUCT, encoding="utf-8")
    solutions = folder.parent / "solutions" / f"{folder.name}.py"
    solutions.write_text(SOLUTION, encoding="utf-8")
    mutants = (
        "from minigrad.coursework import Mutant, Text\n"
        f"SAYS = Text{tuple(SAYS)}\n"
        "CODE = 'def left(g, b):\\n    return g @ b'\n"
        "MUTANTS = [Mutant('left.no-transpose', CODE, SAYS, SAYS)]\n"
    )
    (folder / "mutants.py").write_text(mutants, encoding="utf-8")
    return load(folder)


def verdict_on(exercise: Exercise, code: str) -> Verdict:
    module = module_of(f"{SOLUTION}\n\n{code}\n", "answer.py")
    return judge(exercise, observe_here(exercise, module))


def message_of(verdict: Verdict) -> str:
    assert verdict.failed is not None
    return verdict.failed.message.en


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("return g @ b", "left.no-transpose"),
        ("h = g\n    return (h @ b)", "left.no-transpose"),
        ("return g * b", ""),  # another operator, whose text is another
        ("raise ValueError('matmul: of one’s own')", ""),
        ("return np_matmul(g, b)", ""),
        ("return g @ b.T[::-1, :2]", ""),  # the same operator, other shapes
        ("return g @ b if g.shape[0] == 2 else g @ b.T", ""),  # right in the square case
    ],
)
def test_an_error_names_a_mistake_only_where_all_calls_give_it(
    product: Exercise, rule: str, told: str
) -> None:
    verdict = verdict_on(product, f"def left(g, b):\n    {rule}\n")
    assert (verdict.status, verdict.diagnosis) == ("failed", told)
    assert verdict.failed is not None


def test_what_raised_tells_the_operator_and_the_line_of_the_file() -> None:
    code = "def f(a, b):\n    c = [a, b]\n    return (c[0] + 2 * (c[0]\n        @ b)).sum(axis=7)\n"
    module = module_of(code, "answer.py")
    for args, line, operation in [
        ((np.ones(2), np.ones(3)), 3, "MatMult"),
        ((np.ones((2, 2)), None), 3, "MatMult"),
    ]:
        with pytest.raises((ValueError, TypeError)) as caught:
            module.f(*args)
        told = raised(caught.value, "answer.py", code)
        assert (told.line, told.operation) == (line, operation)


def test_errors_are_the_same_mistake_whatever_the_line() -> None:
    assert Raised("ValueError", "x", 3, "Add") == Raised("ValueError", "x", 5, "Add")
    assert Raised("ValueError", "x", 3, "Add") != Raised("ValueError", "x", 3, "Mult")
    assert Raised("ValueError", "x", 3).says == Text(
        "line 3: ValueError: x", "第 3 行：ValueError: x"
    )


def test_a_line_is_told_also_where_the_engine_explains_the_error(product: Exercise) -> None:
    verdict = verdict_on(product, "def product(a, b):\n    return a @ b.T\n")
    assert verdict.line == len(SOLUTION.splitlines()) + 4
    assert message_of(verdict).startswith("[1] product((2, 3), (3, 5)): line ")


def test_of_several_inputs_it_is_said_whose_gradient_is_meant(product: Exercise) -> None:
    verdict = verdict_on(product, "def left(g, b):\n    return -(g @ b.T)\n")
    assert verdict.diagnosis == "sign"
    assert verdict.says.en == "∂L/∂a: The gradient has the opposite sign."
    assert verdict.says.zh == "∂L/∂a：梯度的符号反了。"
    swapped = verdict_on(product, "def left(g, a):\n    return a.T @ g\n")
    assert swapped.says.en == "∂L/∂a: This is the gradient of b."


def test_the_first_input_that_is_wrong_is_told_or_none(product: Exercise) -> None:
    """What fits the second would stand beside a message about the first."""
    noise = (
        "def left(g, b):\n    x = g @ b.T\n"
        "    return x * [[1 + 0.1 * i for i in range(x.shape[1])]]\n"
    )
    other = "def right(g, a):\n    return -(a.T @ g)\n"
    both = verdict_on(product, noise + other)
    assert both.diagnosis == ""
    assert "∂L/∂a" in message_of(both)
    assert verdict_on(product, other).diagnosis == "sign"


# ------------------------------------------------------- what keeps a mistake from being named


def knowing(exercise: Exercise, **codes: str) -> Exercise:
    """The exercise with other known mistakes."""
    return replace(exercise, mutants=[Mutant(id, code, SAYS, SAYS) for id, code in codes.items()])


UNEVEN = "g @ b.T * [[1 + 0.1 * i for i in range(b.shape[0])]]"
LEFT = f"def left(g, b):\n    return {UNEVEN}\n"
TWICE = f"def left(g, b):\n    return 2 * ({UNEVEN})\n"
FORWARD = "def product(a, b):\n    return a @ b + 0.5\n"
RIGHT = "def right(g, a):\n    return a.T @ g * [[0.1 * (1 + i) for i in range(g.shape[1])]]\n"


def test_the_mistakes_below_are_named_where_nothing_keeps_them(product: Exercise) -> None:
    known = knowing(product, left=LEFT)
    assert verdict_on(known, LEFT).diagnosis == "left"
    assert verdict_on(known, TWICE).diagnosis == "left"
    assert verdict_on(known, TWICE).says.en == "It is 2 times what this mistake gives: It is so."


def test_what_is_wrong_where_the_student_is_right_is_not_meant(product: Exercise) -> None:
    known = knowing(product, both=FORWARD + LEFT)
    assert verdict_on(known, FORWARD + LEFT).diagnosis == "both"
    assert verdict_on(known, LEFT).diagnosis == ""
    assert verdict_on(known, TWICE).diagnosis == ""


def test_a_mistake_in_another_input_too_is_not_meant(product: Exercise) -> None:
    known = knowing(product, both=LEFT + RIGHT)
    assert verdict_on(known, LEFT + RIGHT).diagnosis == "both"
    assert verdict_on(known, TWICE).diagnosis == ""
    assert verdict_on(known, TWICE + RIGHT).diagnosis == "both"


def test_another_input_may_have_a_mistake_of_its_own(product: Exercise) -> None:
    assert verdict_on(knowing(product, left=LEFT), TWICE + RIGHT).diagnosis == "left"


def test_a_slip_that_a_known_mistake_has_too_is_not_that_mistake(product: Exercise) -> None:
    slip = "def left(g, b):\n    return g.dott(b)\n"
    assert verdict_on(knowing(product, slip=slip), slip).diagnosis == ""


def test_a_mistake_shows_on_every_seed(product: Exercise) -> None:
    """Here on the first one only; on the others there is another."""
    other = LEFT.replace("0.1", "0.2")
    known = knowing(product, left=LEFT)
    found, others = (
        observe_here(known, module_of(f"{SOLUTION}\n{code}", "answer.py")) for code in (LEFT, other)
    )
    assert judge(known, found).diagnosis == "left"
    found.observed |= {key: seen for key, seen in others.observed.items() if key[1] > 0}
    assert judge(known, found).diagnosis == ""


def a_sum(module: Any, rng: np.random.Generator) -> dict[str, Any]:
    """What a further check observes: not a gradient, but it shows whether a rule is right."""
    return {"sum": module.right(np.ones((2, 5)), np.ones((2, 3))).sum()}


def with_check(exercise: Exercise, check: Check, before: str = "") -> Exercise:
    """The exercise with one more check, before another or at the end."""
    names = [check.name for check in exercise.checks]
    place = names.index(before) if before else len(names)
    return replace(exercise, checks=[*exercise.checks[:place], check, *exercise.checks[place:]])


def test_of_mistakes_that_look_alike_the_one_that_agrees_elsewhere_is_named(
    product: Exercise,
) -> None:
    sums = with_check(product, Check("sum", SAYS, a_sum))
    other = "def right(g, a):\n    return a.T @ g * (1 + 0.{} * (g == 1).all())\n"
    known = knowing(sums, first=LEFT + other.format(1), second=LEFT + other.format(2))
    assert verdict_on(known, LEFT + other.format(1)).diagnosis == "first"
    assert verdict_on(known, LEFT + other.format(2)).diagnosis == "second"


def test_the_input_that_failed_is_told_and_not_one_before_it(product: Exercise) -> None:
    code = "def left(g, b):\n    return -(g @ b.T)\n\ndef right(g, a):\n    return a.T @ g + 1\n"
    verdict = verdict_on(product, code)
    assert verdict.failed is not None
    assert verdict.failed.name == "linear"
    assert verdict.says.en.startswith("∂L/∂b: Every entry of the gradient is off by 1, whatever")


def test_where_a_check_is_of_no_input_the_first_wrong_one_is_told(product: Exercise) -> None:
    sums = with_check(product, Check("sum", SAYS, a_sum, backward=True), before="linear")
    verdict = verdict_on(sums, "def right(g, a):\n    return -(a.T @ g)\n")
    assert verdict.failed is not None
    assert verdict.failed.name == "sum"
    assert verdict.says.en == "∂L/∂b: The gradient has the opposite sign."


def test_of_other_kinds_of_numbers_nothing_is_recognised(product: Exercise) -> None:
    numbers = np.array([0.0, 1.0])
    assert same({"x": numbers}, {"x": numbers + 1e-9})
    for other in (numbers == 1, numbers + 0j, numbers[:, None], np.array([0.0, np.nan])):
        assert not same({"x": numbers}, {"x": other})
        assert not same({"x": other}, {"x": numbers})
    integers = "def left(g, b):\n    return (g @ b.T).astype(int) * 0\n"
    assert verdict_on(product, integers).diagnosis == ""


def test_where_the_forward_is_wrong_no_relation_is_looked_for(product: Exercise) -> None:
    assert verdict_on(product, FORWARD + "def left(g, b):\n    return -(g @ b.T)\n").diagnosis == ""


def test_where_python_does_not_start_that_is_no_fault_of_the_answer(product: Exercise) -> None:
    nothing = judge(product, Run(ended="time", printed="no memory"))
    assert nothing.status == "error"
    assert message_of(nothing) == "Python did not start here (time): no memory"
    assert judge(product, Run(ready=True, ended="time")).status == "failed"


def test_what_came_in_other_shapes_reaches_no_judge(product: Exercise) -> None:
    """Two that broadcast would be as large as their product, where a judge subtracts them."""

    def judge_both(observed: Any, right: Any) -> None:
        assert observed.keys() == right.keys()
        assert observed["a"].shape == observed["b"].shape == (2, 3)

    def both(module: Any, rng: Any) -> Any:
        return dict.fromkeys("ab", np.ones((2, 3)))

    check = Check("both", SAYS, both, judge_both)
    exercise = replace(product, checks=[check], seeds=1)
    run = Run(ready=True, observed={("both", 0): {"a": np.ones((9, 1)), "b": np.ones((1, 9))}})
    assert message_of(judge(exercise, run)) == "a: its shape is (9, 1) in place of (2, 3)"
    run.observed["both", 0] = {**both(None, None), "c": 1.0, "#d": np.ones(9)}
    assert judge(exercise, run).status == "passed"


def test_what_cannot_be_derived_is_wrong_and_no_fault_of_the_checks(product: Exercise) -> None:
    def one(module: Any, rng: Any) -> Any:
        return {"a": np.ones(3)}

    def doubled(observed: Any, right: Any) -> Any:
        return {"a": observed["a"] * 2}

    exercise = replace(product, checks=[Check("one", SAYS, one, derive=doubled)], seeds=1)
    assert judge(exercise, Run({("one", 0): {"a": np.ones(3)}}, ready=True)).status == "passed"
    verdict = judge(exercise, Run({("one", 0): {}}, ready=True))
    assert (verdict.status, message_of(verdict)) == ("failed", "KeyError: 'a'")


def test_a_gradient_of_another_upstream_may_have_any_shape(product: Exercise) -> None:
    code = f"{SOLUTION}\n\ndef left(g, b):\n    return -(g @ b.T)\n"
    run = observe_here(product, module_of(code, "answer.py"))
    for seen in run.observed.values():
        assert not isinstance(seen, Raised)
        seen |= {key: np.ones((3, 1, 2)) for key in seen if key.startswith("#other ")}
    assert judge(product, run).status == "failed"


def test_each_of_several_inputs_may_not_be_written_into(product: Exercise) -> None:
    verdict = verdict_on(product, "def product(a, b):\n    b *= 2\n    return a @ b / 2\n")
    assert "an input is changed in place" in message_of(verdict)


def test_what_is_told_has_an_end(product: Exercise) -> None:
    def told(observed: Any, right: Any) -> Failure:
        return Failure("a", Text("x" * 10**6, "猫" * 10**6))

    check = Check("one", SAYS, lambda module, rng: {"a": np.ones(2)}, told)
    exercise = replace(product, checks=[check], seeds=1)
    verdict = judge(exercise, Run({("one", 0): {"a": np.ones(2)}}, ready=True))
    assert verdict.failed is not None
    assert max(map(len, verdict.failed.message)) <= 2000
    huge = judge(exercise, Run({("one", 0): {"a": np.ones(10**6)}}, ready=True))
    assert huge.status == "failed"


def test_what_is_many_times_too_large_is_only_described(product: Exercise) -> None:
    check = Check("one", SAYS, lambda module, rng: {"a": np.ones(2)})
    exercise = replace(product, checks=[check], seeds=1)
    verdict = judge(exercise, Run({("one", 0): {"a": np.ones(5000)}}, ready=True))
    assert "a very large array: float64, 40,000 B" in message_of(verdict)


@pytest.mark.parametrize("change", ["del __source__", "__file__ = 3", "__source__ = []"])
def test_a_file_may_rename_what_is_known_of_it(change: str, product: Exercise) -> None:
    """Its error is told all the same."""
    code = f"{change}\n\ndef product(a, b):\n    raise ValueError('猫')\n"
    assert "ValueError: product: 猫" in message_of(verdict_on(product, code))
