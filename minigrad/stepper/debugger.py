"""A debugger for the backward pass, with the manners of Python's own, that goes both ways.

It goes through a log that is made first, so that no gradient of the user's is touched until they
let the real backward run. Here is what the commands do; `watching` says when it is opened,
`terminal` puts together what is printed, `expressions` says what can be asked.
"""

from __future__ import annotations

import builtins
import cmd
import contextlib
import io
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import BuiltinFunctionType
from typing import Any, TextIO

from minigrad.notation import visible
from minigrad.stepper import terminal
from minigrad.stepper.events import COMPLETE, STOPS, Event
from minigrad.stepper.expressions import Condition, completed, names_at, one_line, value_of
from minigrad.stepper.steps import BackwardSteps, Place
from minigrad.stepper.wording import texts_of

MOST_WORDS = 30
"""That are listed where none fits."""


def is_cut(steps: BackwardSteps) -> bool:
    """Whether a log ends inside an op, which it does with a rule that is wrong."""
    return steps[-1].kind not in STOPS


class Quit(BaseException):
    """The user left the debugger with q: backward did not run, and no gradient was touched.

    Like `KeyboardInterrupt` it is no `Exception`, so that it ends a loop that goes on after errors.
    """


class CommandError(Exception):
    """What was typed cannot be done; told in one line."""


class Debugger(cmd.Cmd):
    """Goes through a log as the user says; `h` lists what they can type.

    Args: `variables` are what expressions can use; `language` is "en" or "zh"; `stdin` and `stdout`
    are where commands come from and answers go, `sys.stdin` and `sys.stdout` if left out.

    >>> from minigrad import Tensor, step_backward
    >>> x = Tensor(3.0, requires_grad=True, name="x")
    >>> commands = io.StringIO("until name == 'x'\\nc\\n")
    >>> Debugger(step_backward(x * 2), stdin=commands).interact()
    5 events, backward from t1; h lists the commands
    0/4  t1 gets the gradient to start from: 1
    (step) until name == 'x'
    2/4  ∂L/∂x = 2 · G: 2
        G   ∂L/∂x
        1   2
    (step) c
    backward runs
    """

    prompt = "(step) "

    def __init__(
        self,
        steps: BackwardSteps,
        variables: Mapping[str, Any] | None = None,
        *,
        language: str = "en",
        stdin: TextIO | None = None,
        stdout: TextIO | None = None,
    ) -> None:
        stdin = sys.stdin if stdin is None else stdin
        if stdin is None or stdin.closed:
            stdin = io.StringIO()  # its end quits, as the end of any other does
        super().__init__(stdin=stdin, stdout=stdout)
        self.steps = steps
        self.variables = variables or {}
        self.language, self.texts = language, terminal.TEXTS[language]
        self.breaks: dict[str, Place] = {}  # as they were typed, and what that means
        self.left = False
        self.is_terminal = self.stdin.isatty() and self.stdout.isatty()
        # Completion is for terminals. What comes through a pipe is printed after the prompt, so
        # that the session reads the same; a notebook, whose input() is its own, does that itself.
        self.completekey = "tab" if self.is_terminal else ""
        self.echoes = not self.is_terminal and isinstance(builtins.input, BuiltinFunctionType)

    def interact(self, called: str = "", notices: Iterable[str] = ()) -> None:
        """Reads commands until the user lets backward run. Errors: `Quit` if they rather leave.

        Args: `called` is where in the user's code, `notices` are lines to be told first.
        """
        title = texts_of(self.language)["title"]
        title = title.format(events=len(self.steps), root=self.steps.root.label)
        title += self.texts["called"].format(called) if called else ""
        self.steps.goto(-1 if is_cut(self.steps) else 0)  # a wrong rule is what to look at
        with self._streams():
            self.say(self.texts["opened"].format(title), *notices)
            self.show()
            self._read()
        self.steps.breakpoints.clear()  # tests know the log, which shall not lead back to them
        if self.left:
            raise Quit(self.texts["quit"])

    def _read(self) -> None:
        while True:
            try:
                return self.cmdloop()
            except KeyboardInterrupt:
                if not self.is_terminal:
                    raise
                self.say("", "--KeyboardInterrupt--")
            except ValueError:  # text that cannot be read, or input that exit() has closed
                self.left = True
                return None

    @contextlib.contextmanager
    def _streams(self) -> Iterator[None]:
        """The debugger's own, wherever the user's script reads from and prints to by now."""
        before = sys.stdin, sys.stdout
        with contextlib.suppress(AttributeError, ValueError):
            sys.stdout.flush()
        sys.stdin, sys.stdout = self.stdin, self.stdout
        try:
            yield
            self.stdout.flush()
        finally:
            sys.stdin, sys.stdout = before

    def say(self, *lines: str) -> None:
        """Prints lines; a character that the terminal cannot show becomes a question mark."""
        encoding = getattr(self.stdout, "encoding", None) or "utf-8"
        for line in lines:
            print(line.encode(encoding, "replace").decode(encoding), file=self.stdout)

    def show(self) -> None:
        """Prints the event that one stands at."""
        self.say(terminal.stop(self.here, self.steps, self.language))

    @property
    def here(self) -> Event:
        """The event that one stands at."""
        return self.steps[self.steps.position]

    # ------------------------------------------------------------------------------- what is typed

    def precmd(self, line: str) -> str:
        """Lets a session through a pipe read as one at a terminal."""
        if line == "EOF":
            self.say("")
            return "quit"
        if self.echoes:
            self.say(visible(line))
        return line

    def onecmd(self, line: str) -> bool:
        """Does what a line says; what cannot be done is told in one line."""
        try:
            return bool(super().onecmd(line))
        except CommandError as error:
            self.say(f"*** {error}")
            return False

    def default(self, line: str) -> None:
        """Anything else that is typed."""
        raise CommandError(self.texts["unknown"].format(visible(line)))

    def do_help(self, arg: str) -> None:
        """List the commands, or those that begin so."""
        rows = [[usage, said] for usage, said in terminal.HELP[self.language].items()]
        wanted = [row for row in rows if any(x.startswith(arg) for x in _bare(row[0]).split())]
        self.say(*terminal.aligned(wanted or rows))
        if not arg:
            self.say("", self.texts["expressions"])

    def _given(self, arg: str, command: str) -> str:
        """An argument, which has to be there."""
        if not arg:
            usages = [usage for usage in terminal.HELP[self.language] if usage.startswith(command)]
            raise CommandError(self.texts["usage"].format(*usages))
        return arg

    @cached_property
    def words(self) -> dict[str, None]:
        """The names of the tensors and ops that the walk comes by, in its order."""
        nodes = [event.node for event in self.steps if event.kind in COMPLETE]
        found = [x.label for x in nodes] + [word for x in nodes for word in (x.op, x.name) if word]
        return dict.fromkeys(found)

    def place(self, text: str) -> Place:
        """What is meant: a number, the name of a tensor or of an op, or else a test of events."""
        place = self._word_or_number(text)
        if place is not None:
            return place
        try:
            test = Condition(text, self.steps, self.variables)
        except (SyntaxError, ValueError) as error:
            raise CommandError(one_line(error)) from None
        self._count(test)
        if not test.worked:
            raise CommandError(test.problem)
        return test

    def _word_or_number(self, text: str) -> Place | None:
        if text in self.words:
            return text
        if not text.removeprefix("-").isdecimal():
            return None
        number, count = int(text), len(self.steps)
        if not -count <= number < count:
            raise CommandError(self.texts["no number"].format(number, count - 1))
        return number % count

    @contextlib.contextmanager
    def _only(self, place: Place) -> Iterator[None]:
        """A single breakpoint, for a while."""
        before, self.steps.breakpoints = self.steps.breakpoints, {place}
        try:
            yield
        finally:
            self.steps.breakpoints = before

    def _count(self, place: Place) -> int:
        """How many events are meant."""
        with self._only(place):
            return sum(map(self.steps.is_breakpoint, self.steps))

    # ------------------------------------------------------------------------------- going through

    def do_next(self, arg: str) -> None:
        """On to the next op, or to a breakpoint that comes before it."""
        if self.here.index == len(self.steps) - 1:
            raise CommandError(self.texts["last"])
        self.steps.until(lambda event: event.kind in STOPS or self.steps.is_breakpoint(event))
        self.show()

    def do_back(self, arg: str) -> None:
        """Back to the op before, or to the start of this one."""
        before = range(self.here.index - 1, -1, -1)
        self._move(next((i for i in before if self.steps[i].kind in STOPS), -1))

    def do_step(self, arg: str) -> None:
        """One event on."""
        self._move(self.here.index + 1)

    def do_sb(self, arg: str) -> None:
        """One event back."""
        self._move(self.here.index - 1)

    def _move(self, index: int) -> None:
        if not 0 <= index < len(self.steps):
            raise CommandError(self.texts["first" if index < 0 else "last"])
        self.steps.goto(index)
        self.show()

    def do_continue(self, arg: str) -> bool:
        """On to the next breakpoint; where there is none, backward runs."""
        if self.steps.resume() is not None:
            self.show()
            return False
        self.say(self.texts["runs"])
        return True

    def do_goto(self, arg: str) -> None:
        """To an event, forwards or backwards."""
        place = self._word_or_number(self._given(arg, "goto"))
        if place is None:
            known = list(dict.fromkeys([visible(word) for word in self.words]))
            known[MOST_WORDS:] = ["…"] * (len(known) > MOST_WORDS)
            raise CommandError(self.texts["no place"].format(visible(arg), ", ".join(known)))
        self.steps.goto(place)
        self.show()

    def do_until(self, arg: str) -> None:
        """On to where something is so; where it never is, one stays."""
        place = self.place(self._given(arg, "until"))
        with self._only(place):
            found = self.steps.until(self.steps.is_breakpoint)
        if found is None:
            problem = getattr(place, "problem", "")
            said = self.texts["never"].format(visible(arg))
            raise CommandError(f"{said} ({problem})" if problem else said)
        self.show()

    def do_break(self, arg: str) -> None:
        """Stop at a place, or list where one stops."""
        if arg:
            self.add_break(arg)
        elif not self.breaks:
            self.say(self.texts["no breakpoints"])
        for text in [arg] if arg else self.breaks:
            count = self._count(self.breaks[text])
            self.say(self.texts["breakpoint"].format(visible(text), count, len(self.steps)))

    def add_break(self, text: str) -> None:
        """Stop there from now on."""
        place = self.breaks[text] = self.place(text)
        self.steps.breakpoints.add(place)

    def do_clear(self, arg: str) -> None:
        """No longer stop at a place, or anywhere."""
        if arg and arg not in self.breaks:
            raise CommandError(self.texts["not there"].format(visible(arg)))
        for text in [arg] if arg else list(self.breaks):
            self.steps.breakpoints.discard(self.breaks.pop(text))
            self.say(self.texts["cleared"].format(visible(text)))

    def do_quit(self, arg: str) -> bool:
        """Leave, and backward does not run."""
        self.left = True
        return True

    # ---------------------------------------------------------------------------------- looking at

    def do_p(self, arg: str) -> None:
        """Print the value of an expression."""
        text = self._given(arg, "p")
        try:
            found = terminal.answer(value_of(text, self.here, self.steps, self.variables))
        except (Exception, SystemExit) as error:  # it is the user's, and may raise anything
            raise CommandError(one_line(error)) from None
        self.say(found)

    def do_where(self, arg: str) -> None:
        """Print the user's lines."""
        self.say(terminal.source(self.here, self.steps, self.language))

    def do_graph(self, arg: str) -> None:
        """Print the graph."""
        self.say(terminal.outline(self.steps, self.language))

    def do_grads(self, arg: str) -> None:
        """Print all gradients."""
        self.say(terminal.gradients(self.steps, self.language))

    def do_transcript(self, arg: str) -> None:
        """Print all events."""
        self.say(self.steps.transcript(self.language))

    do_n, do_b, do_s, do_c, do_cont = do_next, do_back, do_step, do_continue, do_continue
    do_w, do_l, do_list, do_g, do_a, do_t = *[do_where] * 3, do_graph, do_grads, do_transcript
    do_h, do_q, do_exit = do_help, do_quit, do_quit

    # ---------------------------------------------------------------------------------- completion

    def completenames(self, text: str, *ignored: Any) -> list[str]:
        """The commands that begin so; the shorter names of each are known without that."""
        known = [_bare(usage).split() for usage in terminal.HELP[self.language]]
        return [x for words in known for x in words if x.islower() and x.startswith(text)]

    def complete_goto(self, text: str, line: str, begin: int, end: int) -> list[str]:
        """Tensors and ops; their names may be of several words."""
        typed = line[:end].partition(" ")[2].lstrip()
        done = len(typed) - len(text)
        return sorted(word[done:] for word in self.words if word.startswith(typed))

    def complete_clear(self, text: str, line: str, begin: int, end: int) -> list[str]:
        """Breakpoints."""
        typed = line[:end].partition(" ")[2].lstrip()
        done = len(typed) - len(text)
        return [word[done:] for word in self.breaks if word.startswith(typed)]

    def complete_p(self, text: str, line: str, begin: int, end: int) -> list[str]:
        """Names that an expression can use."""
        return completed(text, names_at(self.here, self.steps, self.variables))

    def complete_break(self, text: str, line: str, begin: int, end: int) -> list[str]:
        """What one can stop at."""
        return self.complete_goto(text, line, begin, end) or self.complete_p(text, line, begin, end)

    complete_until = complete_break


def _bare(usage: str) -> str:
    """The names in a usage: `n(ext)` is called next."""
    return usage.translate(str.maketrans("", "", "(),"))
