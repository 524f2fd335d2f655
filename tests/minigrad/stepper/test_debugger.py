"""The debugger goes through a log both ways, says what the transcript says, and touches no gradient
until it is told to let backward run. How it is reached from the command line is tested in
`tests/cli/test_step.py`."""

import asyncio
import contextlib
import io
import os
import re
import select
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import BackwardSteps, Tensor, debugging, primitive, step_backward, trace
from minigrad.modes import watch
from minigrad.notation import width_of
from minigrad.stepper import Debugger, Quit
from minigrad.stepper.terminal import HELP, TEXTS
from minigrad.stepper.watching import Debugging
from tests.helpers import assert_same, gradient_of, leaf, next_line

Rng = np.random.Generator
LANGUAGES = ("en", "zh")


@primitive(lambda g, x: 3 * g * x)
def miscubed(x: Any) -> Any:
    """A cube whose rule is wrong."""
    return x**3


class Attention:
    """A small head with a bias that is broadcast, under a loss that uses its context twice."""

    def __init__(self, rng: Rng) -> None:
        self.Q, self.K, self.V = (leaf(rng.normal(size=(3, 4)), name=name) for name in "QKV")
        self.bias = leaf(rng.normal(size=4), name="猫")
        self.upstream = rng.normal(size=(3, 4))
        self.leaves = [self.Q, self.K, self.V, self.bias]

    def context(self) -> Tensor:
        scores = self.Q @ self.K.mT
        weights = minigrad.softmax(scores * 0.5)
        context = weights @ self.V + self.bias
        scores.name, weights.name, context.name = "scores", "weights", "context"
        result: Tensor = context * context
        return result

    def steps(self, **options: Any) -> BackwardSteps:
        with trace():
            out = self.context()
        return step_backward(out, self.upstream, **options)


@pytest.fixture
def head(rng: Rng) -> Attention:
    return Attention(rng)


def session(steps: BackwardSteps, *commands: str, language: str = "en", **variables: Any) -> str:
    """What is printed while these are typed; then the debugger is left, if it was not before."""
    stdin, stdout = io.StringIO("".join([f"{line}\n" for line in commands])), io.StringIO()
    debugger = Debugger(steps, variables, language=language, stdin=stdin, stdout=stdout)
    with contextlib.suppress(Quit):
        debugger.interact()
    return stdout.getvalue()


def answers(
    steps: BackwardSteps, *commands: str, language: str = "en", **variables: Any
) -> list[str]:
    """What each of the commands was answered."""
    said = session(steps, *commands, language=language, **variables)
    return [part.partition("\n")[2].rstrip("\n") for part in said.split("(step) ")[1:-1]]


def stops(steps: BackwardSteps, *commands: str) -> list[int]:
    """The indices of the events that one stops at, the first included."""
    return [int(x) for x in re.findall(r"^ *(\d+)/\d+  ", session(steps, *commands), re.M)]


# --------------------------------------------------------------------------------- going through


def test_it_opens_at_the_first_event_and_says_how_many_there_are(head: Attention) -> None:
    first, second = session(head.steps()).splitlines()[:2]
    assert first == "35 events, backward from t3; h lists the commands"
    assert second == " 0/34  t3 gets the gradient to start from: norm 2.67"


def test_next_stops_at_every_op_and_leaf_and_nowhere_else(head: Attention) -> None:
    steps = head.steps()
    expected = [e.index for e in steps if e.kind in ("seed", "enter", "done")]
    assert stops(steps, *["n"] * (len(expected) - 1)) == expected


def test_back_leads_through_the_same_stops(head: Attention) -> None:
    steps = head.steps()
    forwards = stops(steps, *["n"] * 11)
    there_and_back = stops(steps, *["next"] * 11, *["back"] * 11)
    assert there_and_back == forwards + forwards[-2::-1]


def test_step_stops_at_every_event_and_sb_leads_back(head: Attention) -> None:
    steps = head.steps()
    assert stops(steps, *["s"] * 34, *["sb"] * 34) == [*range(35), *range(33, -1, -1)]


def test_inside_an_op_back_leads_to_its_start(head: Attention) -> None:
    steps = head.steps()
    start = steps.goto("weights").index
    assert stops(steps, "goto weights", "s", "s", "b")[1:] == [start, start + 1, start + 2, start]


@pytest.mark.parametrize("command", ["n", "s", "goto 99", "goto -99"])
def test_there_is_nothing_after_the_last_event(head: Attention, command: str) -> None:
    _, answer = answers(head.steps(), "goto -1", command)
    assert answer.startswith("*** ")
    assert stops(head.steps(), "goto -1", command, "sb") == [0, 34, 33]


@pytest.mark.parametrize("command", ["b", "sb"])
def test_there_is_nothing_before_the_first_event(head: Attention, command: str) -> None:
    assert answers(head.steps(), command) == ["*** this is the first event"]


def test_goto_takes_a_number_a_name_and_an_op(head: Attention) -> None:
    steps = head.steps()
    leaf_done = steps[-1].index
    at = [steps.goto(place).index for place in (7, "猫", "softmax")]
    assert stops(steps, "goto 7", "goto 猫", "goto 0", "goto softmax", "goto -1") == [
        *(0, at[0], at[1], 0, at[2], leaf_done)
    ]


def test_an_unknown_name_is_answered_with_those_there_are(head: Attention) -> None:
    (answer,) = answers(head.steps(), "goto nowhere")
    assert answer.startswith("*** no tensor and no op is called nowhere: there are t3, context, ")
    assert answer.endswith(", matrix_transpose")


def test_until_goes_on_to_where_something_is_true(head: Attention) -> None:
    steps = head.steps()
    small = [e.index for e in steps if e.norm < 1]
    assert stops(steps, "until norm < 1", "until norm < 1") == [0, *small[:2]]
    dead = next(e.index for e in steps if e.kind == "rule" and e.op == "softmax")
    assert stops(steps, "until kind == 'rule' and op == 'softmax'") == [0, dead]
    assert stops(steps, "until name == '猫' and index > 3")[1] > 3
    assert stops(steps, "until weights", "until 30")[1:] == [steps.goto("weights").index, 30]


def test_where_nothing_is_true_later_one_stays(head: Attention) -> None:
    steps = head.steps()
    assert answers(steps, "until norm > 1e9") == ["*** no later event: norm > 1e9"]
    assert stops(steps, "s", "until norm > 1e9", "s") == [0, 1, 2]


def test_a_test_that_makes_sense_at_some_events_only_is_false_at_the_others(
    head: Attention,
) -> None:
    steps = head.steps()
    first = next(e.index for e in steps if e.contribution is not None)
    assert stops(steps, "until contribution.size > 0") == [0, first]


@pytest.mark.parametrize("command", ["until", "break"])
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nrm < 1", "NameError: name 'nrm' is not defined"),
        ("norm <", "SyntaxError: invalid syntax"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("sys.exit()", "NameError: name 'sys' is not defined"),
    ],
)
def test_a_test_that_makes_no_sense_anywhere_is_refused(
    head: Attention, command: str, text: str, problem: str
) -> None:
    assert answers(head.steps(), f"{command} {text}", "break") == [
        f"*** {problem}",
        "no breakpoints",
    ]


def test_an_empty_line_repeats_the_last_command(head: Attention) -> None:
    steps = head.steps()
    assert stops(steps, "n", "", "") == stops(steps, "n", "n", "n")


# ------------------------------------------------------------------------------------ breakpoints


def test_continue_stops_at_breakpoints_and_then_lets_backward_run(head: Attention) -> None:
    steps = head.steps()
    said = session(steps, "break softmax", "break 20", "break norm < 1", "c", "c", "clear", "c")
    at = sorted({steps.goto("softmax").index, 20, *[e.index for e in steps if e.norm < 1]})
    assert [int(x) for x in re.findall(r"^ *(\d+)/", said, re.M)] == [0, *at[:2]]
    assert said.endswith("(step) c\nbackward runs\n")


def test_breakpoints_are_listed_with_how_many_events_they_mean_and_cleared(
    head: Attention,
) -> None:
    listed = ["breakpoint softmax: 1 of 35 events", "breakpoint norm > 0: 35 of 35 events"]
    said = answers(
        head.steps(), *["break", "break softmax", "break norm > 0", "break"],
        *["clear softmax", "break", "clear softmax", "clear", "break"],
    )  # fmt: skip
    assert said == [
        *("no breakpoints", listed[0], listed[1], "\n".join(listed)),
        *("cleared: softmax", listed[1], "*** no breakpoint softmax", "cleared: norm > 0"),
        "no breakpoints",
    ]


def test_next_stops_at_a_breakpoint_inside_an_op(head: Attention) -> None:
    assert stops(head.steps(), "break 2", "n", "n", "n")[:3] == [0, 1, 2]


# ------------------------------------------------------------------------------ what is printed


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("check", [True, False])
def test_a_stop_says_what_the_transcript_says(head: Attention, language: str, check: bool) -> None:
    steps = head.steps(check=check)
    said = session(steps, *["s"] * 34, language=language)
    printed = [
        re.sub(r"^ *(\d+)/34  ", r"\1 ", line).replace("    · ", "· ")
        for line in said.splitlines()
        if re.match(r" *\d+/34  |    · ", line)
    ]
    transcript = [
        re.sub(r"^ *(\d+)  +", r"\1 ", line).strip()
        for line in steps.transcript(language).splitlines()[1:]
    ]
    assert printed == transcript
    assert answers(steps, "t", language=language) == [steps.transcript(language)]


def test_a_rule_is_shown_with_what_it_computes_with_in_the_order_of_its_equation() -> None:
    a, b = leaf([[2.0, 0.0]], name="a"), leaf([[1e-9], [-3.0]], name="b")
    with trace():
        steps = step_backward(a @ b, [[0.5]])
    assert answers(steps, "until name == 'a'") == [
        "2/7  ∂L/∂a = G bᵀ: norm 1.5\n"
        "    G (1, 1)   b (2, 1)    ∂L/∂a (1, 2)\n"
        "    [[0.5]]    [[1e-09]    [[5e-10  -1.5]]\n"
        "                [   -3]]"
    ]


def test_contributions_are_shown_with_what_they_are_added_to() -> None:
    x = leaf([1.0, 2.0], name="x")
    steps = step_backward(x * x, [1.0, 10.0])
    assert answers(steps, "until after is not None and part == 2", "until before is not None") == [
        "*** no later event: after is not None and part == 2 "
        "(NameError: name 'part' is not defined)",
        "5/6  ∂L/∂x: contribution 2 of 2, norm 20, is added: from norm 20 to norm 40\n"
        "    (2,)      + (2,)    = ∂L/∂x (2,)\n"
        "    [ 1 20]   [ 1 20]   [ 2 40]",
    ]


def test_large_arrays_and_those_that_were_not_kept_are_summed_up(rng: Rng) -> None:
    wide, small = leaf(rng.normal(size=(7, 9))), leaf(rng.normal(size=3))
    steps = step_backward((wide * 2).sum())
    assert "(7, 9)" in (said := answers(steps, "until op == 'multiply'", "p after")[0])
    assert said.count("\n") == 2
    assert "2 … 2, norm 15.87" in answers(steps, "goto -1")[0]
    steps = step_backward(small * 3, rng.normal(size=3), keep="summary")
    assert re.search(r" … .*, norm ", answers(steps, "until kind == 'rule'")[0])


def test_nothing_that_is_small_and_listed_is_wider_than_a_terminal(head: Attention) -> None:
    said = session(head.steps(), *["s"] * 34, "a", "g", "h")
    blocks = [line for line in said.splitlines() if line.startswith("    ") and "·" not in line]
    assert max(map(width_of, blocks)) <= 80


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_graph_says_how_far_the_pass_has_come(head: Attention, language: str) -> None:
    steps = head.steps()
    (_, said) = answers(steps, "goto 4", "g", language=language)
    so_far = TEXTS[language]["so far"].format("")
    lines = said.splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [["▶", "t3"], ["·", "context"], ["·", "t2"]]
    assert lines[1].rstrip().endswith(so_far)
    assert "t2 + 猫" in lines[1]
    (_, said) = answers(steps, "goto -1", "g", language=language)
    assert [line[0] for line in said.splitlines()] == ["✓"] * 10 + ["▶"]
    assert so_far not in said


def test_of_a_long_graph_what_is_near_is_shown_and_how_much_is_not() -> None:
    x = leaf(1.0, name="x")
    y = x
    for _ in range(100):
        y = y * 1.01
    steps = step_backward(y)
    _, middle, _, end, _, start = answers(steps, "goto t50", "g", "goto -1", "g", "goto 0", "g")
    assert middle.splitlines()[0] == "… 40 before these"
    assert middle.splitlines()[-1] == "… 40 after these"
    assert len(middle.splitlines()) == 23
    assert end.splitlines()[0] == "… 80 before these"
    assert "▶ x" in end.splitlines()[-1]
    assert start.splitlines()[0].startswith("▶ t100")
    assert start.splitlines()[-1] == "… 80 after these"


def test_the_gradients_known_by_now_are_listed_and_no_others(head: Attention) -> None:
    steps = head.steps()
    start, now = answers(steps, "grads", "goto softmax", "a")[::2]
    assert re.findall(r"∂L/∂(\w+)", start) == ["t3"]
    assert re.findall(r"∂L/∂(\w+)", now) == ["t3", "context", "t2", "weights", "猫", "V"]


def test_where_shows_the_line_that_made_the_tensor() -> None:
    x = leaf(2.0, name="x")
    with trace():
        line = next_line()
        y = x * 3  # \x1b 猫
    steps = step_backward(y)
    _, where, listed, _, of_leaf = answers(steps, "n", "w", "l", "goto -1", "w")
    assert where == listed
    assert where.splitlines()[0] == f"test_debugger.py:{line}"
    assert f"{line:4} ->         y = x * 3  # \\x1b 猫" in where.splitlines()
    assert len(where.splitlines()) == 10
    assert of_leaf.startswith("x is a leaf")


def test_a_line_that_was_not_kept_is_said_to_be_so() -> None:
    steps = step_backward(leaf(2.0) * 3)
    assert answers(steps, "w") == [
        "the line that made t2 was not kept: record under minigrad.trace()"
    ]


# ------------------------------------------------------------------------------------ expressions


def test_p_sees_the_users_variables_and_the_event(head: Attention) -> None:
    steps = head.steps()
    variables: dict[str, Any] = {
        "scale": 7,
        "norm": "mine",
        "upstream": "hidden",
        "bias": head.bias,
    }
    said = answers(
        steps, *["goto 2", "p scale", "p norm", "p index, kind, op, name", "p upstream.shape"],
        *["p event.norm == steps[2].norm", "p before", "p np.array_equal(contribution, after)"],
        *["p G is upstream", "p value('weights').shape", "p [scale for _ in range(2)]"],
        "until norm > 0",
        **variables,
    )  # fmt: skip
    norm = repr(steps[2].norm)  # what is asked of an event hides the user's variables
    assert said[1:11] == [
        *("7", norm, "(2, 'rule', 'multiply', 'context')", "(3, 4)"),
        *("True", "None", "False", "True", "(3, 3)", "[7, 7]"),
    ]
    assert said[11].startswith(" 3/34")


def test_grad_is_what_is_known_at_this_event_of_a_name_or_a_tensor() -> None:
    x = leaf([1.0, 2.0])
    steps = step_backward(x * x, [1.0, 10.0], variables={"x": x})
    said = answers(
        steps, "p grad('x')", "goto 4", "p grad('x')", "goto -1", "p grad(x)", "p grad('z')", x=x
    )
    assert said[0].startswith("*** LookupError: no gradient is known yet of 'x'")
    assert said[2] == "array([ 1., 20.])"
    assert said[4] == "array([ 2., 40.])"
    assert said[5].startswith("*** LookupError: no gradient is known yet of 'z'")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("1 / 0", "*** ZeroDivisionError: division by zero"),
        ("nix", "*** NameError: name 'nix' is not defined"),
        ("1 +", "*** SyntaxError: invalid syntax"),
        ("exit(3)", "*** SystemExit: 3"),
        ("np.zeros((9, 9))", "(9, 9) float64: 0 … 0, norm 0"),
        ("np.zeros(0)", "(0,) float64: []"),
        ("np.eye(2, dtype=int)", "array([[1, 0],\n       [0, 1]])"),
        ("np.array(['a'] * 20)[:2]", "array(['a', 'a'], dtype='<U1')"),
        ("'\\x1b[31m'", "'\\x1b[31m'"),
        ("hostile", "a�[2J�b\n    c"),
        ("silent", "*** ValueError: �[2J"),
        ("list(range(9999))", str(list(range(9999)))[:1999] + "…"),
        ("", "*** what is missing: p EXPR"),
    ],
)
def test_p_answers_in_a_few_lines_whatever_it_is_asked(text: str, answer: str) -> None:
    class Hostile:
        def __repr__(self) -> str:
            return "a\x1b[2J\rb\n\tc"

    class Silent:
        def __repr__(self) -> str:
            raise ValueError("\x1b[2J")

    steps = step_backward(leaf(2.0) * 3)
    names: dict[str, Any] = {"hostile": Hostile(), "silent": Silent(), "exit": sys.exit}
    assert answers(steps, f"p {text}", **names) == [answer]


def test_what_p_is_given_cannot_be_changed_and_the_log_stays_as_it_is(head: Attention) -> None:
    steps = head.steps()
    said = answers(steps, "p upstream.fill(0)", "p after.fill(0)", "p event.after.values.fill(0)")
    assert said[1:] == ["*** ValueError: assignment destination is read-only"] * 2
    assert_same(np.asarray(steps[0].after), head.upstream)


def test_names_and_lines_steer_no_terminal() -> None:
    x = leaf([1.0, 2.0], name="a\x1b[31m\nb")
    with trace():
        steps = step_backward((x * 2).sum(), check=True)
    commands = ["s"] * 7 + ["g", "a", "t", "w", "\x1b[2J", "goto \x07", "break \x07", "p \x1b"]
    said = session(steps, *commands, "clear \x07", "until \x07", "h \x07", "help \x1b")
    assert not re.search(r"[^\n\x20-\U0010ffff]|[\x7f-\x9f]", said)
    assert "a�[31m�b" in said


# ----------------------------------------------------------------------------------------- help


@pytest.mark.parametrize("language", LANGUAGES)
def test_help_has_a_line_for_every_command(language: str) -> None:
    (said,) = answers(step_backward(leaf(2.0) * 3), "h", language=language)
    for usage in HELP[language]:
        assert f"\n{usage} " in f"\n{said}"
    commands = {name[3:] for name in dir(Debugger) if name.startswith("do_")}
    words = " ".join(HELP[language])
    shown = {*re.findall(r"[a-z]+", re.sub(r"[()]", "", words)), *re.findall(r"\b(\w)\(", words)}
    assert commands - shown == {"cont", "exit"}  # known to those who know pdb
    assert (said.isascii() and language == "en") or language == "zh"


def test_both_languages_have_the_same_texts() -> None:
    assert HELP["en"].keys() == HELP["zh"].keys()
    assert TEXTS["en"].keys() == TEXTS["zh"].keys()
    for name, text in TEXTS["en"].items():
        assert re.findall(r"\{.*?\}", text) == re.findall(r"\{.*?\}", TEXTS["zh"][name])


def test_help_of_one_command_and_of_none_that_is_known() -> None:
    one, question, unknown, wrong = answers(
        step_backward(leaf(2.0) * 3), "h goto", "? goto", "h nix", "nix"
    )
    assert one == question
    assert one.startswith("goto WHAT   to an event")
    assert len(unknown.splitlines()) == len(HELP["en"])
    assert wrong == "*** no such command: nix; h lists them, p EXPR prints a value"


@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("goto we", ["weights"]),
        ("goto ", ["K", "Kᵀ", "Q", "V", "add", "context", "head 0 w"]),
        ("goto head 0 w", ["w", "w x"]),
        ("break soft", ["softmax"]),
        ("until nor", ["norm"]),
        ("clear norm < ", ["1"]),
        ("p sc", ["scale"]),
        ("p scale.rea", ["scale.real"]),
        ("p scale.nix.re", []),
        ("p even", ["event"]),
        ("gr", ["graph", "grads"]),
    ],
)
def test_names_are_completed(head: Attention, line: str, completions: list[str]) -> None:
    """As readline asks for it: the text is what follows the last space."""
    with trace():
        out = head.context()
        out.name = "head 0 w"
        again = out * 2
        again.name = "head 0 w x"
    debugger = Debugger(step_backward(again, head.upstream), {"scale": 7}, stdin=io.StringIO())
    debugger.steps.goto(0)
    debugger.add_break("norm < 1")
    text = line.rpartition(" ")[2]
    begin, end = len(line) - len(text), len(line)
    command, space, _ = line.partition(" ")
    complete: Callable[..., list[str]] = debugger.completenames
    if space:
        complete = getattr(debugger, f"complete_{command}")
    assert complete(text, line, begin, end)[:7] == completions


# ------------------------------------------------------------------------------------ debugging()


class Scripted:
    """A debugger for `with` statements, that is told in advance what to do."""

    def __init__(self, *commands: str) -> None:
        self.stdin = io.StringIO("".join([f"{line}\n" for line in commands]))
        self.stdout = io.StringIO()

    def debugging(self, **options: Any) -> Any:
        return debugging(stdin=self.stdin, stdout=self.stdout, **options)

    @property
    def said(self) -> str:
        return self.stdout.getvalue()

    @property
    def openings(self) -> int:
        return self.said.count("; h lists the commands")


def test_gradients_are_untouched_until_backward_is_let_run(head: Attention) -> None:
    seen: list[Any] = []
    scripted = Scripted("n", "p look()", "goto -1", "p look()", "c")

    def look() -> None:
        seen.extend(x.grad for x in head.leaves)

    with scripted.debugging():
        head.context().backward(head.upstream)
        assert seen == [None] * 8
        assert "backward runs" in scripted.said
        assert all(gradient_of(x) is not None for x in head.leaves)
    look()


def test_what_backward_leaves_is_what_the_log_has_said_to_the_last_bit(head: Attention) -> None:
    steps = head.steps()
    with Scripted("c").debugging():
        head.context().backward(head.upstream)
    for x in head.leaves:
        assert_same(gradient_of(x), np.asarray(steps.grads_at(-1)[str(x.name)]))


@pytest.mark.parametrize("commands", [["q"], ["n", "quit"], ["exit"], []])
def test_who_quits_leaves_all_gradients_as_they_were(head: Attention, commands: list[str]) -> None:
    with Scripted(*commands).debugging(), pytest.raises(Quit, match="no gradient was touched"):
        head.context().backward(head.upstream)
    assert [x.grad for x in head.leaves] == [None] * 4
    assert not issubclass(Quit, Exception)  # so that a loop that goes on after errors ends


def test_the_users_variables_are_those_where_backward_was_called() -> None:
    x = leaf([1.0, 2.0])
    scripted = Scripted("p Scripted.__name__, x is y", "p twice", "w", "c")
    with scripted.debugging():
        y = x
        twice = x * 2
        line = next_line()
        twice.sum().backward()
    assert f"called at test_debugger.py:{line};" in scripted.said
    assert "('Scripted', True)" in scripted.said
    assert "<Tensor (2,) float64: [2., 4.]" in scripted.said
    assert y.grad is not None


def test_every_backward_inside_opens_it_and_breakpoints_stay() -> None:
    x = leaf([1.0, 2.0], name="x")
    scripted = Scripted("break multiply", "break 99", "c", "c", "c", "c")
    with scripted.debugging():
        for _ in range(2):
            (x * 2).sum().backward()
    (x * 2).sum().backward()
    assert scripted.openings == 2
    assert scripted.said.count("on through multiply") == 2
    assert_same(gradient_of(x), np.array([6.0, 6.0]))


def test_a_wrong_rule_is_diagnosed_and_one_can_go_back_from_it() -> None:
    x = leaf([1.0, 2.0, 3.0], name="x")
    scripted = Scripted("b", "s", "c")
    with scripted.debugging():
        miscubed(x).sum().backward()
    lines = scripted.said.splitlines()
    assert "the rule of miscubed for x is wrong" in scripted.said
    assert [line[:3] for line in lines if re.match(r"\d/5 ", line)] == ["5/5", "4/5", "5/5"]
    assert_same(gradient_of(x), np.array([3.0, 6.0, 9.0]))


def test_which_mistake_it_is_is_said_in_the_language_of_the_debugger() -> None:
    @primitive(lambda g, x: -3 * g * x**2)
    def opposite(x: Any) -> Any:
        """A cube whose gradient has the wrong sign."""
        return x**3

    x = leaf([1.0, 2.0, 3.0], name="x")
    said = {}
    for language in LANGUAGES:
        scripted = Scripted("c")
        with scripted.debugging(language=language):
            opposite(x).sum().backward()
        said[language] = scripted.said
    assert "The gradient has the opposite sign. A minus is missing" in said["en"]
    assert "梯度的符号反了。漏了一个负号" in said["zh"]
    assert "梯度的符号反了" not in said["en"]


def test_what_was_recorded_outside_is_stepped_through_but_not_checked() -> None:
    x = leaf([1.0, 2.0], name="x")
    loss = (x * x).sum()
    scripted = Scripted("s", "s", "c")
    with scripted.debugging():
        loss.backward()
    assert scripted.said.splitlines()[1].startswith("not checked: ")
    assert "differences agree" not in scripted.said


def test_checks_summaries_and_the_language_are_as_asked_for() -> None:
    x = leaf([1.0, 2.0], name="x")
    scripted = Scripted("s", "s", "p contribution", "c")
    with scripted.debugging(check=False, keep="summary", language="zh"):
        (x * x).sum().backward()
    assert "(2,) float64: 1 … 1, norm 1.414" in scripted.said
    assert "差分" not in scripted.said
    assert "唯一" in scripted.said or "已算全" in scripted.said
    with pytest.raises(ValueError, match="language is one of en, zh"):
        debugging(language="fr")


def test_what_backward_refuses_is_refused_before_anything_opens() -> None:
    x = leaf([1.0, 2.0])
    scripted = Scripted("c")
    with scripted.debugging():
        loss = (x * 2).sum()
        with pytest.raises(RuntimeError, match="needs a gradient to start from"):
            (x * 2).backward()
        loss.backward()
        with pytest.raises(RuntimeError, match=r"went through .* before"):
            loss.backward()
    assert scripted.openings == 1


def test_a_backward_within_another_opens_no_second_debugger() -> None:
    x, other = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    scripted = Scripted("p again()", "c")

    def again() -> None:
        (other * 2).sum().backward()

    with scripted.debugging():
        y = x * 2
        y.sum().backward()
    assert scripted.openings == 1
    assert_same(gradient_of(other), np.array([2.0, 2.0]))  # they asked for it


def test_a_backward_in_a_hook_is_not_run_ahead_of_time() -> None:
    x, other = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    aside = (other * 3).sum()
    scripted = Scripted("c", "c")
    with scripted.debugging():
        y = x * 2
        y.register_hook(lambda upstream: aside.backward())
        y.sum().backward()
    assert scripted.said == "this backward cannot be stepped through: a hook in it calls " + (
        "backward() too\n"
    )
    assert_same(gradient_of(other), np.array([3.0, 3.0]))
    assert_same(gradient_of(x), np.array([2.0, 2.0]))


def test_within_another_debugging_it_opens_once() -> None:
    x = leaf([1.0, 2.0])
    outer, inner = Scripted("c", "c"), Scripted("c", "c")
    with outer.debugging(), inner.debugging():
        (x * 2).sum().backward()
    assert (outer.openings, inner.openings) == (1, 0)


def test_two_threads_talk_to_the_user_one_after_the_other() -> None:
    leaves = [leaf([1.0, float(i)], name=f"x{i}") for i in range(4)]
    scripted = Scripted(*["n", "c"] * 4)

    def work(x: Tensor) -> None:
        with watch(shared):
            (x * x).sum().backward()

    shared = Debugging(stdin=scripted.stdin, stdout=scripted.stdout)
    threads = [threading.Thread(target=work, args=(x,)) for x in leaves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sessions = scripted.said.split("backward runs\n")
    assert [part.count("(step)") for part in sessions] == [2, 2, 2, 2, 0]
    assert all(gradient_of(x) is not None for x in leaves)


def test_a_thread_that_did_not_ask_for_it_is_left_alone() -> None:
    x = leaf([1.0, 2.0])
    scripted = Scripted()
    with scripted.debugging():
        thread = threading.Thread(target=lambda: (x * 2).sum().backward())
        thread.start()
        thread.join()
    if sys.version_info < (3, 14):  # from then on a thread may inherit what was asked for
        assert scripted.said == ""
        assert_same(gradient_of(x), np.array([2.0, 2.0]))


def test_it_opens_inside_async_tasks_too() -> None:
    x = leaf([1.0, 2.0])
    scripted = Scripted("c")

    async def main() -> None:
        (x * 2).sum().backward()

    with scripted.debugging():
        asyncio.run(main())
    assert scripted.openings == 1


def test_it_reads_and_prints_on_its_own_streams_whatever_the_script_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    x = leaf([1.0, 2.0])
    scripted = Scripted("p print('inside')", "c")
    hidden = io.StringIO()
    with scripted.debugging(), contextlib.redirect_stdout(hidden):
        (x * 2).sum().backward()
        print("outside")
    assert "inside\nNone\n" in scripted.said
    assert hidden.getvalue() == "outside\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO("c\n"))
    with debugging():
        (x * 2).sum().backward()
    assert capsys.readouterr().out.endswith("(step) c\nbackward runs\n")


def test_under_pytest_whoever_reads_is_told_and_nothing_is_touched() -> None:
    """Standard input is captured; whoever wants to type needs `pytest -s`."""
    x = leaf([1.0, 2.0])
    with debugging(stdout=io.StringIO()), pytest.raises((OSError, Quit)):
        (x * 2).sum().backward()
    assert x.grad is None


@pytest.mark.usefixtures("no_collector")
def test_nothing_of_the_users_is_held_when_it_has_closed() -> None:
    x = leaf(np.ones((2, 2)), name="x")
    scripted = Scripted("break norm < 1", "g", "p x", "break x", "c", "c", "c")

    def use() -> weakref.ref[Tensor]:
        with scripted.debugging():
            y = x * 2
            y.sum().backward()
        return weakref.ref(y)

    assert use()() is None


def test_a_character_that_the_terminal_cannot_show_becomes_a_question_mark() -> None:
    raw = io.BytesIO()
    x = leaf([1.0, 2.0], name="猫")
    stdout = io.TextIOWrapper(raw, encoding="ascii", write_through=True)
    Debugger(step_backward((x * 2).sum()), stdin=io.StringIO("n\nc\n"), stdout=stdout).interact()
    assert b"?L/?t2 is complete" in raw.getvalue()


def test_where_standard_input_is_closed_or_broken_it_quits() -> None:
    closed = io.StringIO()
    closed.close()
    broken = io.TextIOWrapper(io.BytesIO(b"\xff\n"), encoding="utf-8")
    for stdin in (closed, broken):
        debugger = Debugger(step_backward(leaf(2.0) * 3), stdin=stdin, stdout=io.StringIO())
        with pytest.raises(Quit):
            debugger.interact()


@pytest.mark.slow
def test_a_long_chain_is_stepped_through_without_recursion() -> None:
    x = leaf(1.0, name="x")
    y = x
    for _ in range(5000):
        y = y * 1.0001
    steps = step_backward(y)
    said = answers(steps, "n", "goto x", "g", "b", "until norm > 1.5", "break norm > 1.64", "c")
    assert said[1].startswith("15001/15001  ∂L/∂x is complete")
    assert said[-1] == "backward runs" or "/15001" in said[-1]


# ------------------------------------------------------------------------------------ a terminal


class Screen:
    """A script at a pseudo-terminal, and what appears on its screen."""

    def __init__(self, source: str, path: Path) -> None:
        pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
        pytest.importorskip("readline")
        # It is the terminal that turns Ctrl-C into a signal, for those whose terminal it is.
        own = "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        path.write_text(own + source, encoding="utf-8")
        self.screen, keyboard = pty.openpty()
        self.child = subprocess.Popen(
            [sys.executable, str(path)],
            stdin=keyboard,
            stdout=keyboard,
            stderr=keyboard,
            start_new_session=True,
            env=os.environ | {"TERM": "dumb", "PYTHONPATH": os.getcwd(), "PYTHONUTF8": "1"},
        )
        os.close(keyboard)

    def type_in(self, keys: str, expected: str, end: str = "(step) ") -> str:
        """What appears until something expected does, and a prompt at the end of it."""
        os.write(self.screen, keys.encode())
        shown, deadline = "", time.monotonic() + 20
        while not (expected in shown and shown.endswith(end)):
            ready, _, _ = select.select([self.screen], [], [], deadline - time.monotonic())
            assert ready, f"{expected!r} did not appear in {shown!r}"
            shown += os.read(self.screen, 65536).decode(errors="replace")
        return shown

    def status(self) -> int:
        """How the script ended."""
        return self.child.wait(20)

    def close(self) -> None:
        """Whatever has happened, nothing stays behind."""
        self.child.kill()
        self.child.wait()
        os.close(self.screen)


def test_at_a_terminal_there_is_a_prompt_completion_and_history(tmp_path: Path) -> None:
    source = (
        "import minigrad\nfrom minigrad import Tensor\n"
        "x = Tensor([1.0, 2.0], requires_grad=True, name='first')\n"
        "with minigrad.debugging():\n    (x * 2).sum().backward()\nprint(x.grad)\n"
    )
    with contextlib.closing(Screen(source, tmp_path / "script.py")) as screen:
        screen.type_in("", "h lists the commands")
        screen.type_in("goto fi\t\r", "∂L/∂first is complete")
        screen.type_in("goto 0\r", "0/7  t2 gets")
        screen.type_in("\x1b[A\x1b[A\r", "∂L/∂first is complete")  # the last but one
        screen.type_in("p x.requires_gr\t\r", "True")
        screen.type_in("abc", "abc", end="")
        time.sleep(0.2)  # before it waits for a key, readline learns of no signal
        screen.type_in("\x03", "--KeyboardInterrupt--")
        assert "\x1b[3" not in screen.type_in("g\r", "✓ t2")  # no colour
        assert "[2. 2.]" in screen.type_in("c\r", "backward runs", end="]\r\n")
        assert screen.status() == 0


def test_at_a_terminal_the_end_of_input_quits(tmp_path: Path) -> None:
    source = (
        "import minigrad\nfrom minigrad import Tensor\n"
        "x = Tensor([1.0, 2.0], requires_grad=True)\n"
        "with minigrad.debugging(language='zh'):\n    (x * 2).sum().backward()\n"
    )
    with contextlib.closing(Screen(source, tmp_path / "script.py")) as screen:
        screen.type_in("", "h 列出命令")
        screen.type_in("\x04", "debugger.Quit: 在 backward 执行之前离开", end="\n")
        assert screen.status() == 1


def test_a_plain_script_is_debugged_through_a_pipe(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import minigrad\nfrom minigrad import Tensor\n"
        "x = Tensor([1.0, 2.0], requires_grad=True)\n"
        "with minigrad.debugging():\n    (x * 3).sum().backward()\nprint(x.grad)\n",
        encoding="utf-8",
    )
    ran = subprocess.run(
        [sys.executable, str(script)],
        input="goto x\nc\n",
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": os.getcwd(), "PYTHONIOENCODING": "utf-8"},
    )
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "8 events, backward from t2, called at script.py:5; h lists the commands",
        "0/7  t2 gets the gradient to start from: 1",
        "(step) goto x",
        "7/7  ∂L/∂x is complete, norm 4.24: x is a leaf, nothing lies behind it",
        "    ∂L/∂x (2,)",
        "    [3 3]",
        "(step) c",
        "backward runs",
        "[3. 3.]",
    ]
