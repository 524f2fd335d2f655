"""`minigrad step` runs a script and opens the debugger, or shows the log, at one of its backwards.

What the debugger does is tested in `tests/minigrad/stepper`; how a script is run, in
`test_script.py`.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import viz
from minigrad.cli import app, printable
from minigrad.stepper import BackwardSteps

COMMAND = "from minigrad.cli import main; main()"
ROOT = str(Path(__file__).parents[2])
START = """
import sys
import numpy as np
import minigrad
from minigrad import Tensor
rng = np.random.default_rng(1)
x = Tensor(rng.normal(size=(2, 3)), requires_grad=True, name="猫")
w = Tensor(rng.normal(size=(3, 4)), requires_grad=True, name="w")
"""
PRODUCT = START + (
    "h = x @ w\nprint('before', x.grad)\nh.backward(rng.normal(size=(2, 4)))\n"
    "print('after', x.grad.shape)\n"
)
LOOP = START + (
    "for step in range(3):\n    loss = ((x @ w) * (step + 2)).sum()\n    loss.backward()\n"
    "    print('ran', step)\n"
)
WRONG = START + (
    "@minigrad.primitive(lambda g, x: 3 * g * x)\ndef cube(x):\n    '''Cubes.'''\n"
    "    return x**3\ncube(x).sum().backward()\nprint('went on')\n"
)
SMALL = """from minigrad import Tensor
x = Tensor([[1.0, -2.0, 0.5]], requires_grad=True, name="猫")
w = Tensor([[2.0], [3.0], [4.0]], requires_grad=True)
h = x @ w
h.sum().backward()
print(x.grad)
"""
SESSION = """\
11 events, backward from t1, called at script.py:5; h lists the commands
 0/10  t1 gets the gradient to start from: 1
(step) n
 1/10  ∂L/∂t1 is complete, 1; on through sum: t1 = Σ h  [script.py:5]
(step)·
 4/10  ∂L/∂h is complete, 1; on through matmul: h = 猫 w  [script.py:4]
(step) s
 5/10  ∂L/∂猫 = G wᵀ: norm 5.39
    G (1, 1)   w (3, 1)   ∂L/∂猫 (1, 3)
    [[1]]      [[2]       [[2 3 4]]
                [3]
                [4]]
(step) g
✓ t1   scalar   Σ h    ∂L 1
▶ h    (1, 1)   猫 w   ∂L 1
· w    (3, 1)   leaf
· 猫   (1, 3)   leaf
(step) p x.grad
None
(step) w
script.py:4
   1    from minigrad import Tensor
   2    x = Tensor([[1.0, -2.0, 0.5]], requires_grad=True, name="猫")
   3    w = Tensor([[2.0], [3.0], [4.0]], requires_grad=True)
   4 -> h = x @ w
   5    h.sum().backward()
   6    print(x.grad)
(step) c
backward runs
[[2. 3. 4.]]
""".replace("·\n", " \n", 1)
SESSION_ZH = """\
从 t1 开始的反向传播，共 11 个事件，调用于 script.py:5；h 列出命令
 0/10  t1 得到起始梯度：1
(step) until name == "w"
 7/10  ∂L/∂w = 猫ᵀ G：范数 2.29
    猫 (1, 3)         G (1, 1)   ∂L/∂w (3, 1)
    [[  1  -2 0.5]]   [[1]]      [[  1]
                                  [ -2]
                                  [0.5]]
(step) goto 猫
10/10  ∂L/∂猫 已算全，范数 5.39：猫 是叶子，到此为止
    ∂L/∂猫 (1, 3)
    [[2 3 4]]
(step) 跳
*** 没有这个命令：跳；h 列出命令，p EXPR 打印值
(step) q
没有执行 backward
"""


class Desk:
    """A folder with scripts, in which `minigrad step` is called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def script(self, source: str, name: str = "script.py") -> str:
        (self.folder / name).write_text(source, encoding="utf-8")
        return name

    def step(self, *arguments: str, typed: str = "", language: str = "en") -> Result:
        command = ["step", "--language", language, *arguments]
        return CliRunner().invoke(app, command, input=typed)

    def run(self, source: str, *arguments: str, typed: str = "", language: str = "en") -> Result:
        return self.step(self.script(source), *arguments, typed=typed, language=language)

    def refusal(self, *arguments: str, typed: str = "") -> str:
        """The one line that tells what was wrong, and that it was the user's to put right."""
        result = self.step(*arguments, typed=typed)
        assert result.exit_code == 2, result.exception
        assert result.stderr.count("\n") == 1
        assert result.stderr == printable(result.stderr.rstrip("\n")) + "\n"
        assert result.stderr.startswith("minigrad: ")
        return result.stderr

    def pipe(self, *arguments: str, typed: str = "") -> tuple[int, str, str]:
        """The command as a program of its own: its status, and what it printed."""
        ran = subprocess.run(
            [sys.executable, "-c", COMMAND, "step", *arguments],
            input=typed,
            capture_output=True,
            encoding="utf-8",
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": ROOT, "PYTHONIOENCODING": "utf-8"},
        )
        return ran.returncode, ran.stdout, ran.stderr


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path)


# -------------------------------------------------------------------------------- whole sessions


def test_a_session_through_a_pipe_reads_as_one_at_a_terminal(desk: Desk) -> None:
    arguments = [desk.script(SMALL), "--no-check", "--language", "en"]
    typed = "n\n\ns\ng\np x.grad\nw\nc\n"
    assert desk.pipe(*arguments, typed=typed) == (0, SESSION, "")


def test_a_session_is_chinese_where_that_is_asked_for(desk: Desk) -> None:
    arguments = [desk.script(SMALL), "--no-check", "--language", "zh"]
    typed = 'until name == "w"\ngoto 猫\n跳\nq\n'
    assert desk.pipe(*arguments, typed=typed) == (0, SESSION_ZH, "")


def test_a_lesson_is_stepped_through_in_silence(desk: Desk) -> None:
    result = desk.step("--example", "cat-eats-fish", typed="goto weights\ns\nc\n")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "called at 02_cat_eats_fish.py:" in result.stdout
    assert "∂L/∂weights is complete, norm " in result.stdout
    assert "differences agree in 9 of 9 entries" in result.stdout
    assert result.stdout.endswith("(step) c\nbackward runs\n")


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("typed", ["", "n\n" * 40, "s\nt\na\ng\nw\nh\n" * 20 + "c\n", "c\n"])
def test_a_lesson_is_stepped_through_as_a_program(desk: Desk, typed: str, language: str) -> None:
    status, said, problem = desk.pipe("--example", "2", "--language", language, typed=typed)
    assert (status, problem) == (0, "")
    assert said.count("(step) ") == typed.count("\n") + (not typed.endswith("c\n"))


def test_the_script_prints_and_reads_between_the_commands(desk: Desk) -> None:
    source = PRODUCT.replace("h = x @ w", "print(input('? '))\nh = x @ w") + "print(input())\n"
    result = desk.run(source, "--no-check", typed="first\np 5\nc\nsecond\n")
    assert result.stdout.startswith("? first\nbefore None\n8 events")
    assert result.stdout.endswith("(step) p 5\n5\n(step) c\nbackward runs\nafter (2, 3)\nsecond\n")


# ---------------------------------------------------------------------------------- which backward


def test_backward_runs_when_it_is_let_run_and_not_before(desk: Desk) -> None:
    result = desk.run(PRODUCT, typed="p x.grad\ngoto -1\np x.grad\nc\n")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("\nNone\n") == 2
    assert result.stdout.endswith("backward runs\nafter (2, 3)\n")


@pytest.mark.parametrize("typed", ["q\n", "n\nexit\n", "n\n", ""])
def test_who_quits_is_told_that_backward_did_not_run(desk: Desk, typed: str) -> None:
    result = desk.run(PRODUCT, typed=typed)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("\nbackward did not run\n")
    assert "after" not in result.stdout


@pytest.mark.parametrize("command", ["p exit()", "until exit()", "break quit()"])
def test_an_expression_that_ends_python_ends_the_session_and_no_gradient_is_touched(
    desk: Desk, command: str
) -> None:
    # exit() also closes the input, from which nothing more can come then.
    status, said, problem = desk.pipe(desk.script(PRODUCT), typed=f"{command}\nn\nc\n")
    assert (status, problem) == (0, "")
    assert "*** SystemExit" in said
    assert said.endswith("backward did not run\n")
    assert "after" not in said


FORKED = """\
import multiprocessing
from minigrad import Tensor


def slope(factor):
    x = Tensor(2.0, requires_grad=True)
    (x * factor).backward()
    return float(x.grad)


with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(slope, [3, 4]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
def test_a_process_that_is_forked_has_no_debugger(desk: Desk) -> None:
    status, said, problem = desk.pipe(desk.script(FORKED), typed="n\nc\n")
    assert said == "[3.0, 4.0]\n"
    assert (status, problem.count("\n")) == (2, 1)
    assert "nowhere in its main thread" in problem


@pytest.mark.parametrize(("at", "factor"), [("1", "2"), ("2", "3"), ("3", "4")])
def test_the_nth_backward_is_the_one_that_is_stepped_through(
    desk: Desk, at: str, factor: str
) -> None:
    result = desk.run(LOOP, "--at", at, typed="p step\nn\nn\nc\n")
    assert result.exit_code == 0, result.stderr
    before, _, after = result.stdout.partition("14 events")
    assert before == "".join([f"ran {i}\n" for i in range(int(at) - 1)])
    assert f" = {factor} · " in after
    assert after.endswith("".join([f"ran {i}\n" for i in range(int(at) - 1, 3)]))


@pytest.mark.parametrize("at", ["4", "99"])
def test_a_backward_that_does_not_come_is_said_with_how_many_came(desk: Desk, at: str) -> None:
    said = desk.refusal(desk.script(LOOP), "--at", at)
    assert said == "minigrad: script.py calls backward() 3 times; --at is 1 to 3\n"


def test_a_script_without_backward_is_told_so(desk: Desk) -> None:
    said = desk.refusal(desk.script("print(1)"))
    assert said == "minigrad: script.py calls backward() nowhere in its main thread\n"


def test_a_debugger_that_the_script_opens_itself_is_opened_once(desk: Desk) -> None:
    source = PRODUCT.replace("h = x", "minigrad.debugging().__enter__()\nh = x")
    result = desk.run(source, typed="c\n")
    assert result.stdout.count("h lists the commands") == 1
    assert result.exit_code == 0


# ---------------------------------------------------------------------------- transcript and page


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_transcript_says_what_the_debugger_says(desk: Desk, language: str) -> None:
    desk.script(LOOP)
    printed = desk.step("script.py", "--transcript", language=language)
    session = desk.step("script.py", typed="t\n" + "s\n" * 13 + "c\n", language=language)
    assert printed.exit_code == 0, printed.stderr
    transcript = printed.stdout.partition("ran 0\n")[0]
    assert transcript in session.stdout
    assert transcript.count("\n") >= 14
    for line in transcript.splitlines()[1:]:
        sentence = re.sub(r"^ *(\d+|·) +", "", line)
        assert sentence in session.stdout.replace(transcript, "")
    assert printed.stdout.endswith("ran 0\nran 1\nran 2\n")


def test_a_page_is_written_instead_of_asking(desk: Desk) -> None:
    source = "import os\nos.mkdir('below'); os.chdir('below')\n" + LOOP
    result = desk.run(source, "--html", "page.html", "--at", "2", typed="never read\n")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "ran 0\nwrote page.html\nran 1\nran 2\n"
    assert (desk.folder / "page.html").read_text(encoding="utf-8").startswith("<!")


def test_the_page_is_of_the_same_log_and_in_the_same_language(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[Any, ...]] = []

    def step_page(steps: BackwardSteps, path: str, **options: Any) -> None:
        written.append((steps.transcript("zh"), path, options))

    monkeypatch.setattr(viz, "step_page", step_page, raising=False)
    result = desk.run(LOOP, "--html", "a.html", language="zh")
    transcript = desk.step("script.py", "--transcript", language="zh")
    ((said, path, options),) = written
    assert path == str(desk.folder / "a.html")
    assert options == {"language": "zh"}
    assert transcript.stdout.startswith(said)
    assert result.stdout.startswith("已写入 a.html\n")


def test_a_viz_beside_the_script_is_the_scripts_and_the_page_is_ours(desk: Desk) -> None:
    desk.script("mine = 5", "viz.py")
    result = desk.run("import viz; print(viz.mine)\n" + LOOP, "--html", "a.html")
    assert result.stdout.startswith("5\nwrote a.html\n"), result.output


def test_a_page_that_cannot_be_written_ends_the_script_with_one_line(desk: Desk) -> None:
    desk.script(LOOP)
    said = desk.refusal("script.py", "--html", "script.py/page.html")
    assert "script.py/page.html" in said


# ----------------------------------------------------------------------------- checks and summaries


@pytest.mark.parametrize(("options", "checked"), [((), True), (("--no-check",), False)])
def test_every_contribution_is_checked_unless_that_is_not_wanted(
    desk: Desk, options: tuple[str, ...], checked: bool
) -> None:
    result = desk.run(PRODUCT, "--transcript", *options)
    assert ("differences agree in 6 of 6" in result.stdout) == checked


def test_summaries_are_kept_where_that_is_asked_for(desk: Desk) -> None:
    result = desk.run(PRODUCT, "--keep", "summary", typed="s\np upstream\nc\n")
    assert re.search(r"^\(2, 4\) float64: .* … .*, norm ", result.stdout, re.M)


def test_a_wrong_rule_is_diagnosed_and_can_be_looked_at_and_the_status_says_so(
    desk: Desk,
) -> None:
    result = desk.run(WRONG, typed="b\np x.shape\nc\n")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "the rule of cube for 猫 is wrong" in result.stdout
    assert "\n5/5  ∂L/∂猫 = 3 · G ⊙ 猫" in result.stdout
    assert result.stdout.endswith("(2, 3)\n(step) c\nbackward runs\nwent on\n")
    result = desk.step("script.py")
    assert result.exit_code == 1
    assert result.stdout.endswith("(step) \nbackward did not run\n")


@pytest.mark.parametrize("options", [("--transcript",), ("--html", "page.html")])
def test_where_nobody_can_look_at_a_wrong_rule_its_diagnosis_ends_the_script(
    desk: Desk, options: tuple[str, ...]
) -> None:
    result = desk.run(WRONG, *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "the rule of cube for 猫 is wrong" in result.stderr
    assert not (desk.folder / "page.html").exists()
    assert desk.run(WRONG, *options, "--no-check").exit_code == 0


@pytest.mark.slow
def test_a_log_that_would_be_too_large_is_refused_in_one_line(desk: Desk) -> None:
    source = START + (
        "y = Tensor(np.zeros((4000, 4000), np.float32), requires_grad=True)\n"
        "for i in range(6):\n    y = y * 2\ny.sum().backward()\n"
    )
    said = desk.refusal(desk.script(source), "--no-check")
    assert "would take about" in said
    assert "--keep summary" in said


# -------------------------------------------------------------------------- scripts that go astray


@pytest.mark.parametrize(
    ("source", "problem", "place"),
    [
        ("(x @ w).backward()", "RuntimeError: a tensor of shape (2, 4) needs a gradient", "line 9"),
        ("x.data.sum().backward()", "AttributeError", "line 9"),
        ("1 / 0", "ZeroDivisionError: division by zero", "line 9"),
        ("y = x.sum(); y.backward(); y.backward(); y.backward()", "backward went through", "line"),
        ("y = x.sum()\ny.register_hook(lambda g: 1 / 0)\ny.backward()", "ZeroDivision", "line 11"),
        ("def f(:", "SyntaxError: invalid syntax", "line 9"),
    ],
)
def test_a_script_that_raises_prints_its_own_traceback(
    desk: Desk, source: str, problem: str, place: str
) -> None:
    result = desk.run(START + source, "--at", "2" if "went" in problem else "1", typed="c\n")
    assert result.exit_code == 1
    assert problem in result.stderr
    assert place in result.stderr
    assert "stepper" not in result.stderr
    assert "cli" not in result.stderr
    assert "minigrad: " not in result.stderr


def test_what_happens_after_backward_is_the_scripts_own_affair(desk: Desk) -> None:
    for ending, status in (("sys.exit(3)", 3), ("sys.exit()", 0), ("raise ValueError", 1)):
        result = desk.run(PRODUCT + ending, typed="c\n")
        assert result.exit_code == status
        assert "after (2, 3)\n" in result.stdout
    assert desk.run("import sys; sys.exit(4)").exit_code == 4


def test_a_script_may_redirect_or_close_what_the_debugger_uses(desk: Desk) -> None:
    redirecting = "import io\nsys.stdout = sys.stdin = io.StringIO('q')\n"
    result = desk.run(PRODUCT.replace("h = x", redirecting + "h = x"), typed="n\nc\n")
    assert result.exit_code == 0
    assert "before" not in result.stdout
    assert result.stdout.endswith("(step) c\nbackward runs\n")


def test_a_script_that_catches_everything_does_not_get_its_backward_either(desk: Desk) -> None:
    source = START + (
        "try:\n    x.sum().backward()\nexcept Exception:\n    print('caught')\n"
        "finally:\n    print('cleaned up', x.grad)\nprint('never')\n"
    )
    result = desk.run(source, typed="q\n")
    assert result.stdout.endswith("(step) q\ncleaned up None\nbackward did not run\n")


def test_a_hook_that_calls_backward_is_not_run_ahead_of_time(desk: Desk) -> None:
    source = START + (
        "aside = (w * 2).sum()\ny = x.sum()\ny.register_hook(lambda g: aside.backward())\n"
        "y.backward()\nprint(w.grad[0, 0])\n"
    )
    result = desk.run(source)
    assert (result.exit_code, result.stdout) == (2, "2.0\n")
    assert result.stderr.startswith("minigrad: this backward cannot be stepped through: a hook")


def test_a_part_that_another_thread_recorded_is_not_checked(desk: Desk) -> None:
    source = START + (
        "import threading\nmade = []\n"
        "thread = threading.Thread(target=lambda: made.append(x * 2))\n"
        "thread.start(); thread.join()\nmade[0].sum().backward()\n"
    )
    result = desk.run(source, "--transcript")
    assert result.exit_code == 0
    if sys.version_info < (3, 14):  # from then on a thread may inherit who watches
        assert result.stderr.startswith("not checked: ")


def test_names_of_the_scripts_steer_no_terminal(desk: Desk) -> None:
    source = START.replace('"猫"', '"a\\x1b[31m\\nb"') + "x.sum().backward()  # \x1b[2J\n"
    result = desk.run(source, typed="n\ns\ns\nw\ng\na\nt\ngoto \x1b\nc\n")
    assert result.exit_code == 0
    assert not re.search(r"[^\n\x20-\U0010ffff]|[\x7f-\x9f]", result.output)


# ---------------------------------------------------------------------------- what cannot be used


def test_what_is_no_script_is_refused_in_one_line(desk: Desk) -> None:
    desk.script(PRODUCT)
    assert desk.refusal() == "minigrad: give a script, FILE.py, or --example NAME of a lesson\n"
    assert "or --example" in desk.refusal("script.py", "--example", "2")
    assert desk.refusal("nowhere.py") == "minigrad: there is no file 'nowhere.py'\n"
    assert desk.refusal(".") == "minigrad: there is no file '.'\n"
    assert desk.refusal("\x1b[31m.py") == "minigrad: there is no file '\\x1b[31m.py'\n"
    assert "'nix' names no lesson" in desk.refusal("--example", "nix")
    assert "not both" in desk.refusal("script.py", "--transcript", "--html", "a.html")
    assert desk.step("script.py", "--at", "0").exit_code == 2
    assert desk.step("script.py", "--keep", "some").exit_code == 2


def test_a_file_that_is_not_python_fails_as_it_does_for_python(desk: Desk) -> None:
    (desk.folder / "notes.txt").write_text("just words here", encoding="utf-8")
    result = desk.step("notes.txt")
    assert result.exit_code == 1
    assert "SyntaxError" in result.stderr


def test_a_script_finds_its_arguments(desk: Desk) -> None:
    result = desk.run("import sys; print(sys.argv)\n" + PRODUCT, "a", "--", "--b", typed="c\n")
    assert result.stdout.startswith("['script.py', 'a', '--b']\n")


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_an_interrupt_while_a_pipe_is_read_ends_it_quietly(desk: Desk) -> None:
    child = subprocess.Popen(
        [sys.executable, "-u", "-c", COMMAND, "step", desk.script(PRODUCT), "--language", "en"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": ROOT, "PYTHONIOENCODING": "utf-8"},
        text=True,
        encoding="utf-8",
    )
    assert child.stdout is not None
    assert child.stderr is not None
    shown = [child.stdout.readline() for _ in range(3)]
    assert "gets the gradient" in shown[-1]
    child.send_signal(signal.SIGINT)
    assert child.wait(20) == 130
    assert child.stderr.read() == ""
    child.communicate()
