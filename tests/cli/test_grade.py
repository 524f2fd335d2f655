"""`minigrad grade`: what an instructor types, and what comes back, also when it is interrupted."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from minigrad.cli import app
from minigrad.cli import grade as command
from minigrad.coursework import Exercise
from tests.coursework.helpers import SOLUTION, WRONG, written


def hand_in(folder: Path, **answers: str) -> None:
    for student, code in answers.items():
        place = folder / "class" / student
        place.mkdir(parents=True)
        (place / "03-scale.py").write_text(code, encoding="utf-8")


def run(folder: Path, *options: str, language: str = "en") -> Result:
    arguments = ["grade", str(folder / "class"), "-o", str(folder / "marks")]
    return CliRunner().invoke(app, [*arguments, "--language", language, *options])


@pytest.mark.slow
def test_an_instructor_marks_a_class_and_goes_on_after_an_interruption(
    scale: Exercise, tmp_path: Path
) -> None:
    hand_in(tmp_path, ann=SOLUTION, 猫=WRONG, 鱼=WRONG)
    out = tmp_path / "marks"
    first = run(tmp_path)
    assert first.exit_code == 0, first.output
    assert "03-scale: 1 of 3 solved it" in first.output
    assert "2 × scale.divided: It is divided by c." in first.output
    table = (out / "marks.csv").read_text(encoding="utf-8-sig")
    assert "猫,0,1,failed,scale.divided" in table
    before = (out / "students" / "猫.json").stat().st_mtime_ns
    (out / "students" / "ann.json").unlink()
    assert run(tmp_path).exit_code == 0
    assert (out / "students" / "ann.json").exists()
    assert (out / "students" / "猫.json").stat().st_mtime_ns == before
    page = (out / "marks.html").read_text(encoding="utf-8")
    assert "猫" in page


@pytest.mark.slow
def test_where_there_is_no_terminal_each_student_gets_a_line(
    scale: Exercise, tmp_path: Path
) -> None:
    hand_in(tmp_path, ann=SOLUTION, 猫=SOLUTION)
    assert "1 of 2 marked: ann\n2 of 2 marked: 猫\n" in run(tmp_path, "--jobs", "1").stderr
    assert "已批改 1/2：ann\n已批改 2/2：猫\n" in run(tmp_path, language="zh").stderr


def test_a_terminal_gets_a_bar_and_no_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "ERRORS", Console(stderr=True, force_interactive=True))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    rows = [{"student": "ann"}, {"student": "猫"}]
    assert list(command._shown(iter(rows), 2, "en")) == rows
    told = capsys.readouterr().err
    assert "marking" in told
    assert "ann" not in told


@pytest.mark.parametrize("which", ["99", "none", "0"])
def test_an_exercise_that_there_is_not_ends_it_with_those_that_there_are(
    which: str, scale: Exercise, tmp_path: Path
) -> None:
    hand_in(tmp_path, ann=SOLUTION)
    for language, said in (("en", "choose from 03-scale"), ("zh", "可选：03-scale")):
        result = run(tmp_path, "--only", which, language=language)
        assert result.exit_code == 2
        assert f"'{which}'" in result.stderr
        assert said in result.stderr
    assert not (tmp_path / "marks").exists()


def test_a_class_that_there_is_not_is_told(scale: Exercise, tmp_path: Path) -> None:
    result = run(tmp_path)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    (tmp_path / "class").mkdir()
    assert "has no folders" in run(tmp_path).stderr
    assert "没有文件夹" in run(tmp_path, language="zh").stderr


@pytest.mark.slow
def test_a_place_that_cannot_be_written_to_ends_it_at_once(scale: Exercise, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    hand_in(tmp_path, ann=SOLUTION, bob=f"open({str(begun)!r}, 'w').close()\n{SOLUTION}")
    (tmp_path / "marks").write_text("a file")
    result = run(tmp_path, "--jobs", "1")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"minigrad: {tmp_path / 'marks'}")
    assert not begun.exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="names of files that are no Unicode")
def test_a_student_whose_name_is_no_unicode_gets_a_mark(scale: Exercise, tmp_path: Path) -> None:
    hand_in(tmp_path, **{os.fsdecode(b"\xe4nn"): SOLUTION})
    assert run(tmp_path).exit_code == 0
    assert r"\udce4nn,1,1,passed" in (tmp_path / "marks" / "marks.csv").read_text("utf-8-sig")


@pytest.mark.slow
def test_what_could_not_be_checked_is_told_and_stands_on_the_page(
    scale: Exercise, tmp_path: Path
) -> None:
    hand_in(tmp_path, ann=SOLUTION, 猫="import os\nos.kill(os.getppid(), 9)")
    for language, said in (("en", "could not be checked"), ("zh", "无法检查")):
        result = run(tmp_path, language=language)
        assert result.exit_code == 0
        (line,) = [x for x in result.stderr.splitlines() if said in x]
        assert "猫" in line
        page = (tmp_path / "marks" / "marks.html").read_text(encoding="utf-8")
        assert '<h2 class="error">' in page


# ------------------------------------------------------------------------------------------- Ctrl-C

SCRIPT = """
import signal, sys
from pathlib import Path
from minigrad.cli import app, grade
from minigrad.coursework import load

signal.signal(signal.SIGINT, signal.default_int_handler)  # also where whoever began it ignores it
place = Path(sys.argv.pop(1))
grade.shipped = lambda: [load(place)]
app()
"""
WAITING = """
import os, time
from pathlib import Path
Path({place!r}, "unfinished").write_text(str(os.getpid()))
Path({place!r}, "unfinished").rename(Path({place!r}, "begun"))
while not Path({place!r}, "go").exists():
    time.sleep(0.02)
"""


@contextmanager
def marking(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Marking three students one after the other, of whom the second takes until `go` is there."""
    place = written(folder / "course")
    checks = (place / "checks.py").read_text(encoding="utf-8")
    (place / "checks.py").write_text(checks.replace("seconds=3.0", "seconds=600.0"))
    waiting = WAITING.format(place=str(folder)) + SOLUTION
    hand_in(folder, ann=SOLUTION, bob=waiting, cat=SOLUTION)
    options = [str(folder / "class"), "-o", str(folder / "marks"), "--jobs", "1"]
    command = [sys.executable, "-c", SCRIPT, str(place), "grade", *options, "--language", "en"]
    (folder / "tmp").mkdir()
    with subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            until(lambda: (folder / "begun").exists() or process.poll() is not None)
            assert process.poll() is None, process.communicate()
            yield process
        finally:
            process.kill()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def read_until(process: "subprocess.Popen[str]", text: str) -> str:
    assert process.stderr is not None
    found = ""
    while text not in found:
        line = process.stderr.readline()
        assert line, found
        found += line
    return found


def interrupt(process: "subprocess.Popen[str]") -> None:
    """Press Ctrl-C, which goes to all processes of a terminal."""
    os.killpg(process.pid, signal.SIGINT)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")
def test_an_interruption_waits_for_what_runs_and_keeps_it(tmp_path: Path) -> None:
    students = tmp_path / "marks" / "students"
    with marking(tmp_path) as process:
        interrupt(process)
        told = read_until(process, "Ctrl-C again")
        (tmp_path / "go").touch()
        told += process.communicate(timeout=60)[1]
        assert process.returncode == 130
    assert "interrupted after 2 of 3 students; the same command goes on" in told
    assert sorted(file.name for file in students.iterdir()) == ["ann.json", "bob.json"]
    assert '"status": "passed"' in (students / "bob.json").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("how", ["twice", "to end", "hang up"])
def test_a_second_interruption_ends_it_and_all_that_runs(how: str, tmp_path: Path) -> None:
    with marking(tmp_path) as process:
        if how == "twice":
            interrupt(process)
            read_until(process, "Ctrl-C again")
            interrupt(process)
        else:
            process.send_signal(signal.SIGTERM if how == "to end" else signal.SIGHUP)
        told = process.communicate(timeout=60)[1]
        assert process.returncode == 130
        assert "interrupted after 1 of 3" in told
        left = [p for p in Path("/proc").glob("[0-9]*") if session_of(p) == process.pid]
    assert not left
    until(lambda: not Path("/proc", (tmp_path / "begun").read_text()).exists())
    until(lambda: not [*(tmp_path / "tmp").iterdir()])
    assert [file.name for file in (tmp_path / "marks" / "students").iterdir()] == ["ann.json"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_who_marks_ends_with_a_command_that_is_killed(tmp_path: Path) -> None:
    with marking(tmp_path) as process:
        process.kill()
        process.wait(60)
        processes = Path("/proc").glob
        until(lambda: not [p for p in processes("[0-9]*") if session_of(p) == process.pid])
        until(lambda: not Path("/proc", (tmp_path / "begun").read_text()).exists())


def session_of(process: Path) -> int | None:
    try:
        return os.getsid(int(process.name))
    except ProcessLookupError:
        return None


@pytest.mark.slow
def test_one_exercise_has_a_table_of_its_own(scale: Exercise, tmp_path: Path) -> None:
    hand_in(tmp_path, 鱼=SOLUTION, ann=WRONG)
    assert run(tmp_path).exit_code == 0
    whole = (tmp_path / "marks" / "marks.csv").read_bytes()
    assert run(tmp_path, "--only", "3").exit_code == 0
    assert (tmp_path / "marks" / "marks.csv").read_bytes() == whole
    assert (tmp_path / "marks" / "marks-03-scale.html").exists()
    rows = (tmp_path / "marks" / "marks-03-scale.csv").read_text("utf-8-sig").splitlines()
    assert [row.partition(",")[0] for row in rows] == ["student", "ann", "鱼"]
