"""The check of a primitive notices every mistake that we can think of in a gradient rule, and the
check of all of them every mistake in the walk. `python -m tests.mutation` shows the figures."""

import copy

import pytest

from minigrad import PRIMITIVES
from minigrad.check import check_primitive
from minigrad.joint import JointPrimitive
from tests.mutation.__main__ import main
from tests.mutation.engine import BROKEN, broken, noticed_by
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.verdicts import Verdict, judge

pytestmark = pytest.mark.mutation


# The mistakes in a joint rule, an algorithm, are planted where its other tests are.
SINGLE = [name for name, op in PRIMITIVES.items() if not isinstance(op, JointPrimitive)]


@pytest.mark.parametrize("name", sorted(SINGLE))
def test_no_mistake_in_a_rule_goes_unnoticed(name: str) -> None:
    mutants = mutants_of(PRIMITIVES[name])
    verdicts = [judge(mutant) for mutant in mutants]
    survivors = [m for m, v in zip(mutants, verdicts, strict=True) if v is Verdict.SURVIVED]
    assert not survivors, "\n".join(map(str, survivors))
    assert Verdict.KILLED in verdicts


@pytest.mark.parametrize("what", BROKEN)
def test_no_mistake_in_the_walk_goes_unnoticed(what: str) -> None:
    assert noticed_by(what)


@pytest.mark.parametrize("what", BROKEN)
def test_the_engine_is_whole_again_afterwards(what: str) -> None:
    with broken(what):
        pass
    assert check_primitive("multiply").ok


def test_the_rules_without_a_mistake_pass() -> None:
    for op in PRIMITIVES.values():
        assert check_primitive(op).ok


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("lambda g, out: g * (1 - out * out)", Verdict.EQUIVALENT),
        ("lambda g, x: g / np.cosh(x) ** 2", Verdict.EQUIVALENT),
        ("lambda g, x: g * (1 - x * x)", Verdict.KILLED),
        ("lambda g, out: 1 - out * out", Verdict.KILLED),
        ("lambda g, out: g.T @ out", Verdict.RAISES),
    ],
)
def test_a_mutant_is_judged_by_what_it_computes(source: str, verdict: Verdict) -> None:
    assert judge(Mutant(PRIMITIVES["tanh"], 0, "by hand", source)) is verdict


def test_a_mistake_that_only_a_convention_tells_is_judged_at_the_kink() -> None:
    mutant = Mutant(PRIMITIVES["abs"], 0, "by hand", "lambda g, x: np.where(x >= 0, g, -g)")
    assert judge(mutant) is Verdict.KILLED_AT_KINK


def test_a_mistake_that_an_example_cannot_show_survives() -> None:
    blind = copy.copy(PRIMITIVES["cumsum"])
    blind.example = lambda rng: (rng.normal(size=(1, 3)), 0)
    mutant = Mutant(blind, 0, "by hand", "lambda g, x_shape, *, axis: g.reshape(x_shape)")
    assert judge(mutant) is Verdict.SURVIVED


def test_the_command_prints_a_table_and_fails_if_one_survives(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["softmax", "--sample", "5", "--seed", "1"]) == 0
    assert "softmax" in capsys.readouterr().out
    monkeypatch.setattr("tests.mutation.__main__.judge", lambda mutant: Verdict.SURVIVED)
    assert main(["softmax", "--sample", "5", "--seed", "1"]) == 1
    assert "survived: softmax x" in capsys.readouterr().out
