"""Opening the debugger wherever `backward` is called, before it runs.

The log is made, the user goes through it, and only then does the walk begin that leaves gradients;
or it does not. What the user can do meanwhile is told in `debugger`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any, TextIO

from minigrad import modes, tape
from minigrad.check import GradcheckError
from minigrad.graph import history
from minigrad.memory import Array
from minigrad.notation import visible
from minigrad.stepper import terminal
from minigrad.stepper.debugger import CommandError, Debugger
from minigrad.stepper.recording import Keep, step_backward
from minigrad.stepper.steps import BackwardSteps
from minigrad.stepper.wording import texts_of


class NestedError(RuntimeError):
    """A hook calls backward while a log is made, which would touch gradients too early."""


_terminal = threading.Lock()  # two threads cannot talk to the user at once


class Debugging(modes.Tracer):
    """What `debugging()` does; it can be taught more. `streams` are the debugger's."""

    def __init__(
        self,
        *,
        check: bool = True,
        keep: Keep = "all",
        language: str = "en",
        **streams: TextIO | None,
    ) -> None:
        self.check, self.keep = check, keep
        self.language, self.texts = language, terminal.TEXTS[language]
        self.streams = streams
        self.process = os.getpid()  # one that is forked has no terminal of its own
        self.breaks: list[str] = []  # they stay from one backward to the next

    def began(self, root: Any, gradient: Any) -> None:
        """Open the debugger before that backward runs, unless it runs within another."""
        self.refuse_within_log()
        if os.getpid() != self.process:
            return
        outermost = next(x for x in modes.current.get().watchers if isinstance(x, Debugging))
        if outermost is self and _calls(tape.backward.__code__) == 1:
            try:
                self.step_through(root, gradient)
            except NestedError as error:
                print(error, file=self.streams.get("stdout") or sys.stdout)

    def refuse_within_log(self) -> None:
        """Stop a backward that a hook calls while a log is made. Errors: `NestedError`."""
        if _calls(Debugging.logged.__code__):
            raise NestedError(self.texts["nested"])

    def step_through(self, root: Any, gradient: Any) -> None:
        """Make the log, and let the user go through it."""
        frame = sys._getframe(1)
        while modes.is_own(frame.f_code.co_filename) and frame.f_back is not None:
            frame = frame.f_back
        called = f"{visible(os.path.basename(frame.f_code.co_filename))}:{frame.f_lineno}"
        inner, outer = dict(frame.f_locals), frame.f_globals
        variables = inner | {name: x for name, x in outer.items() if name not in inner}
        steps, notices = self.logged(root, gradient, variables)
        with _terminal:
            self.opened(steps, variables, called, notices)

    def logged(
        self, root: Any, gradient: Array, variables: Mapping[str, Any]
    ) -> tuple[BackwardSteps, list[str]]:
        """The log of a backward, up to the first wrong rule, and what is to be said of that."""
        check = self.check and all(x.trace or not x.primitive for x in history([root._node]))
        notices = [self.texts["unchecked"]] if self.check and not check else []
        try:
            steps = step_backward(root, gradient, check=check, keep=self.keep, variables=variables)
        except GradcheckError as error:
            if error.steps is None:
                raise  # it is not of this log
            steps, told = error.steps, error.report.diagnosis
            notices = [visible(line) for line in str(error).split("\n")]
            if told is not None and self.language != "en":
                notices.append(told.told(self.language))
        return steps, notices

    def opened(
        self, steps: BackwardSteps, variables: Mapping[str, Any], called: str, notices: list[str]
    ) -> None:
        """Hand over to the user, until they let backward run. Errors: `Quit`."""
        debugger = Debugger(steps, variables, language=self.language, **self.streams)
        for text in self.breaks:
            with contextlib.suppress(CommandError):  # a tensor may not be in every graph
                debugger.add_break(text)
        debugger.interact(called, notices)
        self.breaks = list(debugger.breaks)


def _calls(code: CodeType) -> int:
    """How many calls of a function are under way in this thread."""
    frame: FrameType | None = sys._getframe(1)
    count = 0
    while frame is not None:
        count += frame.f_code is code
        frame = frame.f_back
    return count


def debugging(
    *,
    check: bool = True,
    keep: Keep = "all",
    language: str = "en",
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
) -> modes.Switch:
    """Opens a debugger whenever `backward` is called inside, before any gradient is touched.

    Inside means in this thread, and in this process.

    One goes through the pass in both directions, and lets it run (c) or leaves (q, which raises
    `minigrad.stepper.Quit`). What is recorded inside is traced. Hooks run twice: when the log is
    made, and in the real backward.

    Args: `check` holds every contribution against finite differences; `keep` is "all", or
    "summary" for large graphs; `language` is "en" or "zh"; commands come from `stdin` and answers
    go to `stdout`, else to those of `sys`.
    Errors: inside, those of `step_backward`, from the call of `backward`.

    >>> from io import StringIO
    >>> from minigrad import Tensor
    >>> x = Tensor(3.0, requires_grad=True, name="x")
    >>> with debugging(check=False, stdin=StringIO("s\\ns\\np x.grad, contribution\\nc\\n")):
    ...     (x * x).backward()  # doctest: +ELLIPSIS
    7 events, backward from t1, called at ...; h lists the commands
    0/6  t1 gets the gradient to start from: 1
    (step) s
    1/6  ∂L/∂t1 is complete, 1; on through multiply: t1 = x ⊙ x  [...]
    (step) s
    2/6  ∂L/∂x = G ⊙ x: 3
        G   x   ∂L/∂x
        1   3   3
    (step) p x.grad, contribution
    (None, array(3.))
    (step) c
    backward runs
    >>> float(x.grad)
    6.0
    """
    texts_of(language)  # refuses others
    streams = {"stdin": stdin, "stdout": stdout}
    return modes.watch(Debugging(check=check, keep=keep, language=language, **streams))
