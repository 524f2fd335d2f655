"""`minigrad exercises`: what a student types, and what comes back. What is right and wrong is
decided in `minigrad.coursework`."""

import base64
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from minigrad.cli import Language, app
from minigrad.cli import exercises as command
from minigrad.coursework import Exercise, Outcome, Text, Verdict, load, verifying
from minigrad.coursework.grading import FAILED
from minigrad.coursework.reports import message_of
from minigrad.coursework.values import difference
from tests.coursework.helpers import SOLUTION, WRONG, written


@pytest.fixture
def work(scale: Exercise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the exercise was begun; returns the file to write in."""
    folder = tmp_path / "work"
    assert run("start", str(folder)).exit_code == 0
    monkeypatch.chdir(folder)
    return folder / "03-scale" / "exercise.py"


def run(*arguments: str, language: str = "en") -> Result:
    given = arguments if arguments[0] == "verify" else (*arguments, "--language", language)
    return CliRunner().invoke(app, ["exercises", *given])


def test_a_student_begins_is_told_the_mistake_gets_hints_and_solves_it(work: Path) -> None:
    assert "not checked yet" in run("list").output
    begun = run("check", "3")
    assert begun.exit_code == 1
    assert "not written yet" in begun.output
    work.write_text(WRONG, encoding="utf-8")
    wrong = run("check", "scale")
    assert wrong.exit_code == 1
    assert "✓ the forward values are right" in wrong.output
    assert "✗ the gradients are right" in wrong.output
    assert "It is divided by c." in wrong.output
    assert "minigrad exercises hint 3" in wrong.output
    hints = [run("hint", "3").output for _ in range(5)]
    assert [hint[:3] for hint in hints] == ["1/4", "2/4", "3/4", "4/4", "4/4"]
    assert "the gradients are right" in hints[0]
    assert "in place of" in hints[1]
    assert "Wrong: [1] scaled((3, 5), 1.75): ∂L/∂x; [2]" in hints[1]
    assert "What is the derivative of c x?" in hints[2]
    assert "What is the derivative of c x?\n\n3 · 2 = 6.0" in hints[3]
    assert "not yet right" in run("list").output
    work.write_text(SOLUTION, encoding="utf-8")
    solved = run("check", "all")
    assert solved.exit_code == 0
    assert "solved" in solved.output
    assert "solved" in run("list").output
    assert "nothing to hint at" in run("hint", "3").output


def test_it_speaks_chinese(work: Path) -> None:
    work.write_text(WRONG, encoding="utf-8")
    output = run("check", "3", language="zh").output
    assert "✗ 梯度正确" in output
    assert "除以了 c。" in output
    assert "应为" in output
    assert not {"the", "is", "of"} & set(output.split())
    assert "有误：[1] scaled(" in run("hint", "3", "--level", "2", language="zh").output
    assert "c x 的导数是什么？" in run("hint", "3", "--level", "3", language="zh").output


@pytest.mark.slow
def test_a_file_that_changed_since_is_said_to_have_changed(work: Path) -> None:
    work.write_text(WRONG, encoding="utf-8")
    run("check", "3")
    for _ in range(4):
        run("hint", "3")
    assert "changed" not in run("list").output + run("hint", "3").output
    work.write_text(SOLUTION, encoding="utf-8")
    assert "not yet right; changed since; check it again" in " ".join(run("list").output.split())
    assert "还不对；有改动，请重新检查" in run("list", language="zh").output
    for language, says in (("en", "Your file has changed since"), ("zh", "检查之后文件有改动")):
        assert run("hint", "3", language=language).output.startswith(says)
    run("check", "3")
    assert "changed" not in run("list").output + run("hint", "3").output


def failed(message: Text | None, printed: str = "") -> Verdict:
    assert message is not None
    outcome = Outcome("values", Text("values", "值"), FAILED, message)
    title = Text("Scale", "缩放")
    return Verdict("03-scale", title, FAILED, (outcome,), printed=printed)


@pytest.mark.parametrize(
    ("message", "known"),
    [
        (difference(None, 1.0), True),
        (difference(np.ones(3, np.float16) / 3, np.ones(3) / 3), True),
        (Text("line 2: ValueError: a\n  b", "第 2 行：ValueError: a\n  b"), True),
        (Text("is there a loop without an end?", "是否有无限循环？"), True),
        (difference(3.0, -1.0), False),
        (difference(np.array([1.0, np.nan]), np.ones(2)), False),
    ],
)
def test_the_third_hint_says_again_what_explains_itself(
    message: Text, known: bool, scale: Exercise
) -> None:
    for language, unknown in (("en", "is none of those that are known"), ("zh", "不在已知的错误")):
        third = command.hint_of(scale, failed(message), 3, language)
        if known:
            assert third == message.of(language)
        else:
            assert unknown in third


def test_what_to_type_next_has_the_language_and_the_folder_that_were_given(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.setenv(name, "en_GB.UTF-8")
    begun = run("start", "new folder", language="zh").output
    assert begun.endswith("cd 'new folder' && minigrad exercises check 3 --language zh\n")
    begun = run("start", "new", language="en").output
    assert begun.endswith("cd new && minigrad exercises check 3\n")
    command.show(failed(difference(None, 1.0)), Language.ZH, Path("new folder"))
    told = capsys.readouterr().out
    assert "minigrad exercises hint 3 --dir 'new folder' --language zh\n" in told
    hint = run("hint", "3", language="zh").output
    assert hint.endswith("请先检查：minigrad exercises check 3 --language zh\n")


def test_what_is_printed_is_cut_with_a_mark(capsys: pytest.CaptureFixture[str]) -> None:
    for count in (8, 9):
        printed = "".join(f"line {i}\n" for i in range(count))
        command.show(failed(difference(None, 1.0), printed), Language.EN)
        output = capsys.readouterr().out
        assert "│ line 7\n" in output
        assert "line 8" not in output
        assert ("│ …\n" in output) == (count > 8)


def test_a_folder_without_exercises_is_said_to_have_none(work: Path, tmp_path: Path) -> None:
    for given, language in ((("list",), "en"), (("check", "all"), "zh")):
        result = run(*given, "--dir", str(tmp_path / "empty"), language=language)
        assert result.exit_code == 2
        assert "minigrad exercises start DIR" in result.output
        assert {"en": "there are no exercises in", "zh": "中没有练习"}[language] in result.output


def test_the_engines_errors_have_chinese_labels_in_chinese() -> None:
    said = "ValueError: no\n  got: 1\n  expected: 2"
    verdict = failed(Text(said, said))
    assert message_of(verdict, "zh") == "ValueError: no\n  实际：1\n  应为：2"
    assert message_of(verdict) == said


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers_and_another_others(work: Path) -> None:
    work.write_text(WRONG, encoding="utf-8")
    first, again, other = (run("check", "3", "--seed", seed).output for seed in ("5", "5", "6"))
    assert first == again != other


@pytest.mark.slow
def test_reports_go_to_a_file_or_to_the_terminal(work: Path) -> None:
    work.write_text(WRONG, encoding="utf-8")
    printed = run("check", "3", "--report", "json")
    assert printed.exit_code == 1
    assert json.loads(printed.output)["exercises"][0]["diagnosis"] == "scale.divided"
    done = run("check", "all", "--report", "junit", "-o", "report.xml")
    assert (done.exit_code, done.output) == (1, "")
    assert ElementTree.parse("report.xml").getroot().tag == "testsuites"
    refused = run("check", "3", "-o", "report.xml")
    assert refused.exit_code == 2


@pytest.mark.slow
def test_a_report_is_there_before_the_first_check_and_whatever_happens(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def interrupted(*_: object, **__: object) -> None:
        seen.append(json.loads(Path("results.json").read_text(encoding="utf-8")))
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "grade", interrupted)
    run("check", "all", "--report", "gradescope", "-o", "results.json")
    assert [test["output"] for test in seen[0]["tests"]] == ["it was not checked yet"]
    assert seen[0]["tests"][0]["score"] == 0
    assert json.loads(Path("results.json").read_text(encoding="utf-8")) == seen[0]


@pytest.mark.slow
def test_a_report_is_written_after_each_check(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of an answer whose end never comes."""
    kept: list[list[str]] = []

    def noted(file: Path, content: bytes) -> None:
        (verdict,) = json.loads(content)["exercises"]
        kept.append([outcome["status"] for outcome in verdict["checks"]])

    monkeypatch.setattr(command, "write_whole", noted)
    loop = "\n\ndef scaled_gradient(g, c):\n    while True:\n        pass\n"
    work.write_text(SOLUTION + loop, encoding="utf-8")
    run("check", "3", "--report", "json", "-o", "results.json")
    assert kept == [
        ["error"],  # before anything
        ["passed", *["error"] * 7],  # the signature
        ["passed", "passed", *["error"] * 6],  # and the values
        ["passed", "passed", "failed", *["skipped"] * 5],
    ]
    kept.clear()
    work.write_text(SOLUTION.replace("x * c", "x + c"), encoding="utf-8")
    run("check", "3", "--report", "json", "-o", "results.json")
    assert kept[2:] == [["passed", "failed", *[rest] * 6] for rest in ("error", "skipped")]


@pytest.mark.slow
def test_a_check_that_fails_itself_is_an_error_and_not_a_wrong_answer(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("猫")

    monkeypatch.setattr("minigrad.coursework.grading.run", broken)
    result = run("check", "3")
    assert result.exit_code == 2
    assert "RuntimeError: 猫" in result.output
    assert "could not be checked" in run("list").output


@pytest.mark.slow
def test_classroom_gets_base64_if_that_is_asked_for(work: Path) -> None:
    plain = json.loads(run("check", "3", "--report", "classroom").output)
    told = run("check", "3", "--report", "classroom-base64").output
    assert json.loads(base64.b64decode(told)) == plain


def test_a_report_that_cannot_be_written_is_said_before_anything_is_checked(work: Path) -> None:
    result = run("check", "3", "--report", "json", "-o", "03-scale/exercise.py/report.json")
    assert result.exit_code == 2
    assert "03-scale/exercise.py" in result.output.replace("\n", "")
    assert "Traceback" not in result.output


def test_a_reset_gives_the_stub_back(work: Path) -> None:
    work.write_text(WRONG, encoding="utf-8")
    output = run("reset", "3").output
    kept = [p for p in work.parent.iterdir() if p.name.startswith("exercise.py.")]
    assert [p.read_text(encoding="utf-8") for p in kept] == [WRONG]
    assert kept[0].name in output.replace("\n", "")
    assert "NotImplementedError" in work.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_second_start_is_refused_and_forced(work: Path) -> None:
    work.write_text(WRONG, encoding="utf-8")
    refused = run("start", ".")
    assert refused.exit_code == 2
    assert "--force" in refused.output
    assert work.read_text(encoding="utf-8") == WRONG
    forced = run("start", ".", "--force")
    assert forced.exit_code == 0
    assert "What you wrote is kept as 03-scale/exercise.py." in forced.output
    assert "NotImplementedError" in work.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("check", "9"), "'9' is no exercise: choose from 03-scale"),
        (("hint", "3"), "Check it first: minigrad exercises check 3"),
        (("check", "3", "--dir", "elsewhere"), "minigrad exercises start"),
        (("watch", "nothing"), "is no exercise"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: tuple[str, ...], says: str, work: Path) -> None:
    result = run(*arguments)
    assert result.exit_code in (1, 2)
    assert says in result.output.replace("\n", " ")


def test_it_is_said_in_chinese_too(work: Path) -> None:
    assert "'4' 不是练习；可选：03-scale" in run("check", "4", language="zh").output
    assert "已存在，没有复制任何文件" in run("start", ".", language="zh").output
    elsewhere = run("watch", "3", "--dir", "elsewhere", language="zh").output
    assert "请用 minigrad exercises start DIR 复制练习" in elsewhere.replace("\n", "")


@pytest.mark.slow
def test_an_author_is_told_what_is_wrong_with_an_exercise(scale: Exercise) -> None:
    folder = scale.folder.parent
    right = run("verify", "--from", str(folder))
    assert right.exit_code == 0
    assert "03-scale: 2 mistakes, ok" in right.output
    mutants = scale.folder / "mutants.py"
    mutants.write_text(mutants.read_text(encoding="utf-8").replace("return g / c", "return g * c"))
    wrong = run("verify", "--from", str(folder))
    assert wrong.exit_code == 1
    assert "scale.divided: seed 0: it is passed" in wrong.output


@pytest.mark.parametrize("place", ["nowhere", "course", "course/exercises/solutions"])
def test_an_author_is_told_where_there_are_no_exercises(
    place: str, scale: Exercise, tmp_path: Path
) -> None:
    result = run("verify", "--from", str(tmp_path / place))
    assert result.exit_code == 2
    assert "has no exercises: folders that are named 01-name" in result.output


BROKEN = {
    "checks.py": [
        ("EXERCISE =", "EXERCISE = (", "03-scale: checks.py: line 4: SyntaxError"),
        (
            "EXERCISE =",
            "raise SystemExit\nEXERCISE =",
            "03-scale: checks.py: line 4: it ends the program",
        ),
        ("EXERCISE", "OTHER", "03-scale: checks.py: EXERCISE is no Exercise but None"),
        ("checks=op_checks(", "checks=[len] + op_checks(", "checks[0] is no Check but <built-in"),
        ("seconds=3.0,", "seeds=0,", "EXERCISE: its seeds cannot be 0"),
        ("seconds=3.0,", "seeds=True,", "EXERCISE: its seeds cannot be True"),
        ("seconds=3.0,", "seconds=-1,", "EXERCISE: its seconds cannot be -1"),
        ("3.0,", "float('nan'),", "EXERCISE: its seconds cannot be nan"),
        ("缩放", "\\ud800", "EXERCISE: its title cannot be"),
        ("EXERCISE =", "raise KeyboardInterrupt\nEXERCISE =", "03-scale: checks.py: line 4"),
        ("worked=lambda solution", "worked=lambda nothing", "the worked example: checks.py, line"),
    ],
    "mutants.py": [
        ("MUTANTS = [", "1 / 0\nMUTANTS = [", "03-scale: mutants.py: line 4: ZeroDivisionError"),
        ("scale.upstream", "", "MUTANTS[0]: its id cannot be ''"),
        ("MUTANTS = [", "MUTANTS = [3,", "03-scale: mutants.py: MUTANTS[0] is no Mutant but 3"),
        ('Text("Multiply.", "相乘。")', '"x"', "MUTANTS[0]: its hint cannot be 'x'"),
        ("return g / c", "return (", "scale.divided: its code, line 2: SyntaxError"),
        ("return g / c", "pass\\nexit()", "scale.divided: its code, line 3: it ends the program"),
    ],
    "exercise.py": [
        ("def scaled(", "def scaled", "the stub: exercise.py, line 2: SyntaxError"),
        ("def scaled(", "raise SystemExit\ndef scaled(", "the stub: exercise.py, line 2: it ends"),
    ],
    "../solutions/03-scale.py": [
        (
            "import numpy",
            "import nothing",
            "the reference: 03-scale.py, line 2: ModuleNotFoundError",
        ),
        ("return x * c", "raise SystemExit", "the reference: seed 0: values: line 6: it ends the"),
        ("return g * c", "return g * d", "the reference: seed 0: runs: [1] scaled((3, 5), 1.75)"),
    ],
}


@pytest.mark.parametrize(
    ("file", "old", "new", "says"), [(file, *rest) for file, all in BROKEN.items() for rest in all]
)
def test_an_authors_slip_is_a_line_and_no_traceback(
    file: str, old: str, new: str, says: str, scale: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "verify", partial(verifying.verify, seeds=(0,)))
    place = scale.folder / file
    text = place.read_text(encoding="utf-8")
    assert old in text
    place.write_text(text.replace(old, new), encoding="utf-8")
    result = run("verify", "--from", str(scale.folder.parent))
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert says in result.output
    assert result.output.count("\n") == 3
    assert "0 of 1 exercises are right" in result.output


@pytest.mark.parametrize(
    ("checks", "says"),
    [
        ("[]", "EXERCISE: its checks cannot be []"),
        ("[Check('a', Text('a', 'a'), lambda module, rng: [1])]", "a must observe values by name"),
        ("[Check('a', Text('a', 'a'), lambda module, rng: 1 / 0)]", "a: ZeroDivisionError"),
        ("[Check('a', 'b', 3)]", "checks[0]: its title cannot be 'b'"),
    ],
)
def test_checks_that_cannot_be_run_are_said(checks: str, says: str, scale: Exercise) -> None:
    (scale.folder / "checks.py").write_text(
        "from minigrad.coursework import Check, Exercise, Text\n"
        f"EXERCISE = Exercise(title=Text('Scale', '缩放'), checks={checks})\n",
        encoding="utf-8",
    )
    (scale.folder / "README.md").unlink()
    result = run("verify", "--from", str(scale.folder.parent))
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert says in result.output
    assert ("its page README.md is missing" in result.output) == ("not read" not in result.output)


def test_the_other_exercises_are_verified_all_the_same(
    scale: Exercise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "verify", lambda _: [])
    written(tmp_path / "course", "03-other")
    written(tmp_path / "course", "cube")
    (scale.folder / "checks.py").unlink()
    result = run("verify", "--from", str(scale.folder.parent))
    assert result.exit_code == 1
    assert "03-scale has the same number" in result.output
    assert "checks.py missing" in result.output
    assert "03-other: 2 mistakes, WRONG" in result.output
    assert "cube: not read, WRONG\n  its name must begin as in 01-name" in result.output


def test_an_exercise_that_ends_the_process_is_told_of(scale: Exercise, tmp_path: Path) -> None:
    other = written(tmp_path / "course", "04-other")
    (other / "mutants.py").write_text("import os\nos._exit(0)\n", encoding="utf-8")
    result = run("verify", "--from", str(scale.folder.parent))
    assert result.exit_code == 2
    assert "ended the process that verifies it" in result.output


def test_a_notebook_checks_what_the_command_checks(
    scale: Exercise,
    work: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat comes with the notebooks extra")
    from minigrad.cli.notebooks import notebook

    made = notebook(nbformat, scale, "zh")
    assert made.cells[0].source == "# 3 缩放"
    writing, checking = made.cells[2].source, made.cells[-1].source
    assert writing.startswith("%%writefile exercise.py\n")
    monkeypatch.chdir(work.parent)
    work.write_text(WRONG, encoding="utf-8")
    exec(checking, {})
    assert "除以了 c。" in capsys.readouterr().out


@pytest.mark.slow
def test_watch_checks_again_when_the_file_is_saved_and_goes_nowhere_by_itself(
    tmp_path: Path,
) -> None:
    course, folder = written(tmp_path / "course"), tmp_path / "work"
    code = (
        "import sys\nfrom pathlib import Path\nfrom minigrad.cli import main\n"
        "from minigrad.cli import exercises\nfrom minigrad.coursework import load\n"
        f"exercises.shipped = lambda: [load(Path({str(course)!r}))]\nmain()"
    )
    start = [sys.executable, "-c", code, "exercises"]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"}
    subprocess.run([*start, "start", str(folder), "--language", "en"], check=True, env=environment)
    file = folder / "03-scale" / "exercise.py"
    with subprocess.Popen(
        [*start, "watch", "3", "--dir", str(folder), "--language", "en"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env=environment,
    ) as process:
        assert process.stdout is not None
        seen = [read_until(process, "not written yet")]
        file.write_text(WRONG, encoding="utf-8")
        seen.append(read_until(process, "It is divided by c."))
        file.write_text(SOLUTION, encoding="utf-8")
        seen.append(read_until(process, "solved"))
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(10) == 0
        finally:
            process.kill()  # where Ctrl-C is ignored, it would go on for ever


def read_until(process: "subprocess.Popen[str]", text: str) -> str:
    assert process.stdout is not None
    found, deadline = "", time.monotonic() + 30
    while text not in found:
        assert time.monotonic() < deadline, found
        found += process.stdout.readline()
    return found


def test_without_nbformat_nothing_is_copied(
    scale: Exercise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nbformat", None)
    result = run("start", str(tmp_path / "work"), "--notebooks")
    assert result.exit_code == 2
    assert "minigrad-lab[notebooks]" in result.output
    assert not (tmp_path / "work").exists()


def test_a_report_that_is_a_folder_is_told(work: Path) -> None:
    result = run("check", "3", "--report", "json", "-o", ".")
    assert result.exit_code == 2
    assert ".: it is no file that can be replaced" in result.output


def test_a_hint_where_there_is_no_course_says_how_to_get_one(
    scale: Exercise, tmp_path: Path
) -> None:
    result = run("hint", "3", "--dir", str(tmp_path))
    assert result.exit_code == 2
    assert "minigrad exercises start DIR" in result.output.replace("\n", " ")


@pytest.mark.parametrize(
    ("content", "says"), [(b" \n", "is empty"), (b"\xff\xfe", "is not written in UTF-8")]
)
def test_a_page_that_cannot_be_read_is_told(content: bytes, says: str, scale: Exercise) -> None:
    (scale.folder / "README.zh-CN.md").write_bytes(content)
    assert f"its page README.zh-CN.md {says}" in verify_at_once(scale)


def verify_at_once(exercise: Exercise) -> str:
    return "\n".join(verifying.verify(exercise, seeds=(0,)))


@pytest.mark.slow
def test_of_all_exercises_one_that_is_missing_counts(
    scale: Exercise, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = load(written(tmp_path / "course", "04-other"))
    monkeypatch.setattr(command, "shipped", lambda: [scale, other])
    work.write_text(SOLUTION, encoding="utf-8")
    result = run("check", "all", "--report", "json")
    assert result.exit_code == 2
    first, second = json.loads(result.output)["exercises"]
    assert (first["status"], second["status"]) == ("passed", "error")
    assert "there is no 04-other/exercise.py" in second["checks"][0]["message"]["en"]
    assert "its file is missing" in run("list").output


def test_a_notebook_that_was_edited_is_kept_when_all_begins_again(
    scale: Exercise, tmp_path: Path
) -> None:
    pytest.importorskip("nbformat", reason="nbformat comes with the notebooks extra")
    folder = tmp_path / "work"
    assert run("start", str(folder), "--notebooks").exit_code == 0
    notebook = folder / "03-scale" / "exercise.ipynb"
    notebook.write_text("my work", encoding="utf-8")
    assert run("start", str(folder), "--notebooks", "--force").exit_code == 0
    kept = [path for path in notebook.parent.iterdir() if path.name.startswith("exercise.ipynb.")]
    assert [path.read_text(encoding="utf-8") for path in kept] == ["my work"]
    assert json.loads(notebook.read_text(encoding="utf-8"))["cells"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)])
def test_what_is_ended_leaves_no_folder(number: int, tmp_path: Path) -> None:
    place = written(tmp_path / "course")
    work, there = tmp_path / "work" / "03-scale", tmp_path / "tmp"
    work.mkdir(parents=True)
    there.mkdir()
    loop = f"open({str(tmp_path / 'begun')!r}, 'w').close()\nwhile True: pass\n"
    (work / "exercise.py").write_text(loop, encoding="utf-8")
    code = (
        "import sys\nfrom pathlib import Path\nfrom minigrad.cli import exercises, main\n"
        "from minigrad.coursework import load\n"
        f"exercises.shipped = lambda: [load(Path({str(place)!r}))]\nmain()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "exercises", "check", "3", "--dir", str(work.parent)],
        env={**os.environ, "TMPDIR": str(there)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(60) != 0
    assert not [*there.iterdir()]
