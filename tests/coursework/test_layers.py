"""The layers of checks that every op goes through: each finds what it is there for."""

from pathlib import Path

import numpy as np
import pytest

from minigrad.coursework import Exercise, load, op_checks
from minigrad.coursework.exercise import module_of
from minigrad.coursework.grading import Verdict, judge
from minigrad.coursework.runner import observe_here
from minigrad.coursework.workbench import named, shipped
from tests.coursework.helpers import SOLUTION, written


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return load(written(tmp_path_factory.mktemp("course")))


def verdict_on(exercise: Exercise, code: str) -> Verdict:
    module = module_of(f"{SOLUTION}\n\n{code}\n", "answer.py")
    return judge(exercise, observe_here(exercise, module))


RULE = "def scaled_gradient(g, c):\n    "
FOUND = {
    "a name": ("del scaled_gradient", "signature", "there is no function scaled_gradient"),
    "another name of an input": (
        "def scaled(y, c):\n    return y * c",
        "signature",
        "input 1 of scaled is named y, and must be named x",
    ),
    "a wrong value": ("def scaled(x, c):\n    return x + c", "values", "entry"),
    "a rule that raises": (RULE + "raise RuntimeError('猫')", "runs", "line 14: RuntimeError: 猫"),
    "an input changed": (
        "def scaled(x, c):\n    x *= c\n    return x + 0",
        "untouched",
        "an input",
    ),
    "the upstream changed": (RULE + "g *= c\n    return g", "untouched", "the upstream is changed"),
    "nothing returned": (RULE + "g * c", "shapes", "it is None, where a value must be"),
    "a list": (RULE + "return (g * c).tolist()", "shapes", "but a list"),
    "another shape": (RULE + "return (g * c)[:1]", "shapes", "has shape"),
    "integers": (
        RULE + "return (g * c).astype(int)",
        "shapes",
        "has dtype int64, and must be of real floats",
    ),
    "complex numbers": (RULE + "return g * c + 0j", "shapes", "has dtype complex128"),
    "objects": (RULE + "return (g * c).astype(object)", "shapes", "has dtype object"),
    "a generator": (RULE + "yield g * c", "shapes", "but a generator"),
    "a dict": (RULE + "return {'g': g * c}", "shapes", "but a dict"),
    "a dict of values": (
        "def scaled(x, c):\n    return {'x': 1.0}",
        "values",
        "no number or array of numbers but a dict: {'x': 1.0}",
    ),
    "a constant added": (RULE + "return g * c + 1", "linear", "where that is 0 it must be 0"),
    "a square": (RULE + "return g * c + 1e-4 * g**2", "linear", "not linear"),
    "a square that hardly shows": (RULE + "return g * c + 1e-5 * g**2", "linear", "not linear"),
    "one array for all results": (
        "SPACE = {}\n" + RULE + "return np.multiply(g, c, out=SPACE.setdefault(g.shape, 1 * g))",
        "graph",
        "3y + y, y = [1] scaled((3, 5), 1.75): ∂L/∂x: entry",
    ),
    "a factor": (RULE + "return 1.001 * g * c", "gradients", "entry"),
}


@pytest.mark.parametrize("what", FOUND)
def test_a_layer_finds_what_it_is_there_for(what: str, scale: Exercise) -> None:
    code, check, says = FOUND[what]
    verdict = verdict_on(scale, code)
    assert verdict.failed is not None
    assert (verdict.failed.name, verdict.status) == (check, "failed")
    assert says in verdict.failed.message.en


def test_a_rule_that_writes_into_what_it_was_given_is_found() -> None:
    code = "import numpy as np\ndef e(x):\n    return np.exp(x)\n"
    code += "def e_gradient(g, out):\n    out *= g\n    return out"
    checks = op_checks("e", ["e_gradient"], lambda rng: (rng.normal(size=(2, 3)),))
    (check,) = [check for check in checks if check.name == "untouched"]
    seen = check.observe(module_of(code, "answer.py"), np.random.default_rng(0))
    assert check.derive is not None
    derived = check.derive(seen, seen)
    failure = check.judge(derived, dict.fromkeys(derived, 1.0))
    assert failure is not None
    assert "what the rule was given is changed in place" in failure.what.en
    assert "规则得到的数组被就地修改了" in failure.what.zh


def test_what_was_begun_is_not_called_untouched(scale: Exercise) -> None:
    begun = verdict_on(scale, RULE + "raise NotImplementedError")
    assert begun.status == "failed"
    assert begun.failed is not None
    assert begun.failed.message.en == "line 14: not written yet"
    assert [o.status for o in begun.outcomes][:2] == ["passed", "passed"]


@pytest.mark.parametrize(
    ("code", "diagnosis"),
    [
        ("return -g * c", "sign"),
        ("return 2 * g * c", "factor"),
        ("return g * c * abs(c)", "factor"),
        ("return 0 * g", "zero"),
        ("return g / c", "scale.divided"),
        ("return -g / c", ""),
        ("return g * c + 0.1 * np.roll(g, 1)", ""),
        ("return g * c * (1 + 3e-7)", ""),
    ],
)
def test_a_mistake_is_named_or_nothing_is_said(code: str, diagnosis: str, scale: Exercise) -> None:
    assert verdict_on(scale, RULE + code).diagnosis == diagnosis


@pytest.mark.parametrize(
    ("code", "diagnosis"),
    [
        ("return 2 * c * np.clip(g, -4, 4)", ""),  # a clipped gradient is no factor
        ("return np.clip(g, -4, 4) / c", ""),  # nor what a linear mistake explains
        ("return g * c + 0.1", "term-everywhere"),
        ("return c * np.ones_like(g)", "scale.upstream"),
        ("return g * c / 0", "not-finite"),
    ],
)
def test_what_is_not_linear_is_told_as_no_factor(
    code: str, diagnosis: str, scale: Exercise
) -> None:
    verdict = verdict_on(scale, RULE + code)
    assert verdict.failed is not None
    assert (verdict.failed.name, verdict.diagnosis) == ("linear", diagnosis)


def test_zero_may_be_rounded(scale: Exercise) -> None:
    """Of an upstream of 0 a rule may leave what is far below the gradients."""
    assert verdict_on(scale, RULE + "return g * c + 1e-15").status == "passed"
    assert verdict_on(scale, RULE + "return g * c + 1e-5").status == "failed"
    assert verdict_on(scale, RULE + "return g * c if g.any() else g * np.nan").status == "failed"


def test_where_lists_what_is_right_and_what_is_wrong(scale: Exercise) -> None:
    where = verdict_on(scale, RULE + "return g * abs(c)").where
    assert where.en == (
        "Right: [1] scaled((3, 5), 1.75): ∂L/∂x\nWrong: [2] scaled((4, 4), -0.6): ∂L/∂x"
    )
    assert where.zh.splitlines()[1] == "有误：[2] scaled((4, 4), -0.6): ∂L/∂x"
    assert verdict_on(scale, RULE + "raise ValueError").where.en == ""


def test_float32_is_accurate_enough_and_annotations_are_what_they_are(scale: Exercise) -> None:
    code = "import dataclasses\n\n@dataclasses.dataclass\nclass Own:\n    c: float\n\n"
    code += RULE + "return (Own(g).c * c).astype(np.float32)"
    assert verdict_on(scale, code).status == "passed"
    module = module_of(f"from __future__ import annotations\n{SOLUTION}\n\n{code}", "answer.py")
    assert judge(scale, observe_here(scale, module)).status == "passed"


def test_a_slip_of_the_pen_names_no_mistake(scale: Exercise) -> None:
    verdict = verdict_on(scale, RULE + "return gg * c")
    assert verdict.diagnosis == ""
    assert verdict.line == 14


def test_what_is_nearly_right_is_no_mistake_that_shows_elsewhere() -> None:
    """Off by a millionth: many mistakes are right there, and none of them is meant."""
    (softmax,) = named("8", shipped())
    code = softmax.reference.read_text(encoding="utf-8")
    code += (
        "\n\ndef softmax(x, axis=-1):\n"
        "    weights = np.exp(x - x.max(axis=axis, keepdims=True))\n"
        "    return weights / (weights.sum(axis=axis, keepdims=True) + 1e-6)\n"
    )
    verdict = judge(softmax, observe_here(softmax, module_of(code, "answer.py")))
    assert verdict.failed is not None
    assert (verdict.failed.name, verdict.diagnosis) == ("values", "")


LAST = """
last = {}

def scaled(x, c):
    last["x"] = x
    return x * c * x

def scaled_gradient(g, x, c):
    return 2 * g * c * last["x"]
"""


def square(tmp_path: Path) -> Exercise:
    """c x², whose rule asks for x."""
    folder = written(tmp_path)
    reference = folder.parent / "solutions" / f"{folder.name}.py"
    reference.write_text(
        "import numpy as np\n\ndef scaled(x, c):\n    return x * c * x\n\n"
        "def scaled_gradient(g, x, c):\n    return 2 * g * c * x\n",
        encoding="utf-8",
    )
    (folder / "mutants.py").write_text("MUTANTS = []\n", encoding="utf-8")
    return load(folder)


def test_a_rule_that_looks_at_the_last_call_is_found(tmp_path: Path) -> None:
    exercise = square(tmp_path)
    right = exercise.reference.read_text(encoding="utf-8")
    assert judge(exercise, observe_here(exercise, module_of(right, "a.py"))).status == "passed"
    code = "import numpy as np\n" + LAST
    verdict = judge(exercise, observe_here(exercise, module_of(code, "a.py")))
    assert verdict.failed is not None
    assert verdict.failed.name == "graph"


def test_one_buffer_for_all_results_is_found(scale: Exercise) -> None:
    code = "SPACE = {}\n\ndef scaled(x, c):\n    "
    code += "return np.multiply(x, c, out=SPACE.setdefault(x.shape, np.empty(x.shape)))"
    verdict = verdict_on(scale, code)
    assert verdict.failed is not None
    assert verdict.failed.name == "untouched"
    assert "an earlier result is changed in place" in verdict.failed.message.en
    assert "先前的结果被就地修改了" in verdict.failed.message.zh


def test_a_decorator_that_keeps_the_signature_is_looked_through(scale: Exercise) -> None:
    wrapper = (
        "import functools\n\ndef noted(f):\n    {}\n    def inner(*args, **options):\n"
        "        return f(*args, **options)\n    return inner\n\n"
        "@noted\ndef scaled(x, c):\n    return x * c\n\n"
        "@noted\ndef scaled_gradient(g, c):\n    return g * c\n"
    )
    assert verdict_on(scale, wrapper.format("@functools.wraps(f)")).status == "passed"


@pytest.mark.parametrize(
    "code",
    [
        "RING, LAST = {}, []\n\ndef scaled(x, c):\n    LAST.append(1)\n"
        "    place = RING.setdefault((x.shape, len(LAST) % 3), np.empty(x.shape))\n"
        "    return np.multiply(x, c, out=place)",
        "class Own(np.ndarray):\n    def ravel(self, *_):\n        return np.zeros(0)\n\n"
        "SPACE = {}\n\ndef scaled(x, c):\n"
        "    place = SPACE.setdefault(x.shape, np.empty(x.shape))\n"
        "    return np.multiply(x, c, out=place).view(Own)",
    ],
)
def test_buffers_in_turns_and_classes_that_hide_them_are_found(code: str, scale: Exercise) -> None:
    verdict = verdict_on(scale, code)
    assert verdict.failed is not None
    assert verdict.failed.name == "untouched"
    assert "an earlier result is changed in place" in verdict.failed.message.en


def test_a_forward_that_is_no_function_is_told(scale: Exercise) -> None:
    verdict = verdict_on(scale, "import functools\nscaled = functools.partial(scaled)")
    assert verdict.failed is not None
    assert "written with def, not a partial" in verdict.failed.message.en


def test_big_endian_floats_are_floats(scale: Exercise) -> None:
    assert verdict_on(scale, RULE + "return (g * c).astype('>f8')").status == "passed"
