"""Files that do not want to be checked: each costs its own exercise, and never gains a point."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from minigrad.coursework import Exercise, Verdict, grade, load
from tests.coursework.helpers import SOLUTION, answer, written

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return load(written(tmp_path_factory.mktemp("course")))


WRONG = "def scaled_gradient(g, c):\n    return g / c\n"
HOSTILE = {
    "an exit": "import sys\nsys.exit(0)",
    "an exit at once": "import os\nos._exit(0)",
    "an exit in the rule": "def scaled_gradient(g, c):\n    import os\n    os._exit(0)",
    "an end in the rule": "def scaled_gradient(g, c):\n    import sys\n    sys.exit(0)",
    "a line again and again": (
        "import os, time\n"
        "while True:\n"
        "    time.sleep(0.1)\n"
        "    for fd in range(3, 20):\n"
        "        try:\n"
        "            os.write(fd, b'{}\\n')\n"
        "        except OSError:\n"
        "            pass\n"
    ),
    "a recursion": "def scaled_gradient(g, c):\n    return scaled_gradient(g, c)",
    "a segfault": "import ctypes\nctypes.string_at(0)",
    "much memory": "block = bytearray(3 << 30)",
    "much output": "while True:\n    print('x' * 10000)",
    "patched comparisons": "np.allclose = np.array_equal = lambda *a, **k: True\n" + WRONG,
    "patched comparisons, and an input written into": (
        "np.allclose = np.array_equal = np.array_equiv = lambda *a, **k: True\n"
        "np.all = np.any = np.abs = lambda *a, **k: True\n"
        "def scaled(x, c):\n    x *= c\n    return x + 0\n"
    ),
    "patched comparisons, and the upstream written into": (
        "np.array_equal = lambda *a, **k: True\n"
        "def scaled_gradient(g, c):\n    g *= c\n    return g\n"
    ),
    "columns and rows that broadcast": (
        "def scaled_gradient(g, c):\n"
        "    return np.ones((20_000, 1)) if g[0, 0] > 0 else np.ones((1, 20_000))\n"
    ),
    "folders within folders": (
        "import os\n"
        "for _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')\n"
        "open('猫', 'w').close()\nos.mkdir('e')\nos.chmod('e', 0)\n" + WRONG
    ),
    "patched minigrad": (
        "import minigrad.coursework.exercise as e, minigrad.coursework.values as v\n"
        "e.as_the_reference = v.difference = lambda *a: None\n"
        "import minigrad.coursework.grading as j\nj.judge = j.grade = None\n" + WRONG
    ),
    "a report of its own": (
        "import json, os, sys\n"
        "for fd in range(3, 20):\n"
        "    try:\n"
        "        os.write(fd, (json.dumps({'done': True, 'status': 'passed'}) + '\\n').encode())\n"
        "    except OSError:\n"
        "        pass\n" + WRONG
    ),
    "lines of its own": (
        "import json, os\n"
        "for fd in range(3, 20):\n"
        "    try:\n"
        "        for check in ('values', 'signature', 'runs'):\n"
        "            line = {'check': check, 'seed': 0, 'observed': {}}\n"
        "            os.write(fd, (json.dumps(line) + '\\n').encode())\n"
        "    except OSError:\n"
        "        pass\n" + WRONG
    ),
    "a line without an end": (
        "import os\n"
        "while True:\n"
        "    for fd in range(3, 20):\n"
        "        try:\n"
        "            os.write(fd, b'[' * (1 << 16))\n"
        "        except OSError:\n"
        "            pass\n"
    ),
    "lines that are none": (
        "import os\n"
        "for fd in range(3, 20):\n"
        "    try:\n"
        "        os.write(fd, b'[[[\\n')\n"
        "    except OSError:\n"
        "        pass\n"
    ),
    "much in every result": (
        "def scaled_gradient(g, c):\n    return np.zeros((1 << 21,))\n"
        "def scaled(x, c):\n    return np.zeros((1 << 21,))\n"
    ),
    "an error that cannot be told": (
        "class Silent(Exception):\n    __str__ = None\ndef scaled(x, c):\n    raise Silent\n"
    ),
    "every value equal": (
        "class Equal(np.ndarray):\n"
        "    __eq__ = lambda self, other: np.ones(self.shape, bool)\n"
        "def scaled_gradient(g, c):\n    return (g / c).view(Equal)\n"
    ),
    "a question": "answer = input('猫?')",
    "a large file": "open('large', 'wb').write(b'x' * (1 << 26))",
    "an object": "def scaled_gradient(g, c):\n    return object()",
    "a file that is no text": None,
}


SAYS = {
    "much output": "it prints without end",
    "an exit at once": "exit status 0",
    "an end in the rule": "it ends the program (SystemExit: 0)",
    "lines of its own": "cannot be read",
    "a line without an end": "cannot be read; results may have 16 MB in all",
    "lines that are none": "cannot be read",
    "a line again and again": "cannot be read",
    "much in every result": "a very large array: float64, 16,777,216 B",
    "patched comparisons, and an input written into": "an input is changed in place",
    "patched comparisons, and the upstream written into": "the upstream is changed in place",
    "columns and rows that broadcast": "20000",
    "much memory": "MemoryError",
    "a recursion": "RecursionError",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_it_costs_the_exercise_and_gains_nothing(
    what: str, scale: Exercise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made"
    made.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(made))
    code = HOSTILE[what]
    file = answer(tmp_path, code or "")
    if code is None:
        file.write_bytes(b"\xff\xfe\x00")
    start = time.monotonic()
    verdict = grade(scale, file)
    left = list(made.iterdir())
    subprocess.run(["rm", "-rf", str(made)], check=True)  # pytest itself may not get it away
    assert verdict.status == "failed", verdict
    assert verdict.failed is not None
    assert SAYS.get(what, "") in verdict.failed.message.en
    assert verdict.failed.message.zh
    assert time.monotonic() - start < 20
    assert not left


def test_an_endless_loop_ends_after_the_time_that_a_check_has(
    scale: Exercise, tmp_path: Path
) -> None:
    start = time.monotonic()
    verdict = grade(scale, answer(tmp_path, "def scaled(x, c):\n    while True:\n        pass"))
    assert message_of(verdict).startswith("it was not through after 3 seconds")
    assert [o.status for o in verdict.outcomes][:2] == ["passed", "failed"]
    assert 3 <= time.monotonic() - start < 10


def message_of(verdict: Verdict) -> str:
    assert verdict.failed is not None
    return verdict.failed.message.en


SLEEPS = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', MARK]{})\n"
STARTED = {
    "the first children of a fork bomb": "for _ in range(4):\n    " + SLEEPS.format(""),
    "a session of its own": SLEEPS.format(", start_new_session=True"),
    "a session of its own, and then an end": (
        SLEEPS.format(", start_new_session=True") + "os._exit(0)\n"
    ),
    "an orphan elsewhere": "if os.fork() == 0:\n    os.setsid()\n    os.chdir('/')\n    "
    + SLEEPS.format("")
    + "    os._exit(0)\n",
    "an orphan": "if os.fork() == 0:\n    os.setsid()\n    "
    + SLEEPS.format("")
    + "    os._exit(0)\n",
}


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("what", STARTED)
def test_nothing_that_it_started_is_left(what: str, scale: Exercise, tmp_path: Path) -> None:
    mark = f"minigrad-{os.getpid()}-{time.time_ns()}"
    code = f"import os, subprocess, sys, time\nMARK = {mark!r}\n{STARTED[what]}"
    grade(scale, answer(tmp_path, code + WRONG))
    deadline = time.monotonic() + 5
    while left := [p for p in Path("/proc").glob("[0-9]*") if mark in command_of(p)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere not all of it is limited")
def test_it_has_limits(scale: Exercise, tmp_path: Path) -> None:
    """It may start no processes either; root may, but who checks the work of others is not root."""
    wanted = {"AS": 2 << 30, "CPU": 60 + 3 * 24, "FSIZE": 1 << 24, "CORE": 0, "NPROC": 0}
    code = f"import resource\nfor name in {[*wanted]}:\n    "
    code += "print(name, *resource.getrlimit(getattr(resource, 'RLIMIT_' + name)))"
    printed = grade(scale, answer(tmp_path, code)).printed.splitlines()
    assert printed == [f"{name} {most} {most}" for name, most in wanted.items()]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_it_ends_with_the_grader(scale: Exercise, tmp_path: Path) -> None:
    """Also where the grader is killed, and can end nothing any more."""
    here = tmp_path / "here"
    answer(
        tmp_path,
        f"open({str(here)!r}, 'w').write(str(__import__('os').getpid()))\nwhile True: pass",
    )
    code = (
        "import sys\nfrom pathlib import Path\nfrom minigrad.coursework import grade, load\n"
        "grade(load(Path(sys.argv[1])), Path(sys.argv[2]))"
    )
    command = [sys.executable, "-c", code, str(scale.folder), str(tmp_path / "answer.py")]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # its folder stays where it is
    grader = subprocess.Popen(command, cwd=Path(__file__).parents[2], env=environment)
    deadline = time.monotonic() + 30
    while not (here.exists() and here.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    grader.kill()
    grader.wait()
    while Path(f"/proc/{here.read_text()}/cwd").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def command_of(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def test_it_sees_no_environment_of_ours(
    scale: Exercise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "猫吃鱼")
    verdict = grade(scale, answer(tmp_path, "import os\nprint(sorted(os.environ.items()))"))
    assert verdict.status == "passed"
    assert "OPENBLAS_NUM_THREADS" in verdict.printed
    assert "SECRET_TOKEN" not in verdict.printed


def test_how_long_it_took_is_measured_outside(scale: Exercise, tmp_path: Path) -> None:
    code = "def scaled(x, c):\n    import time\n    time.sleep(0.1)\n    return x * c"
    seconds = {o.name: o.seconds for o in grade(scale, answer(tmp_path, code)).outcomes}
    assert seconds["values"] >= 0.6  # two calls with three seeds
    assert seconds["signature"] < seconds["values"]


def test_it_works_in_a_folder_that_goes_again(scale: Exercise, tmp_path: Path) -> None:
    code = "import os\nopen('left.txt', 'w').write('x')\nprint(os.getcwd())"
    verdict = grade(scale, answer(tmp_path, code))
    assert verdict.status == "passed"
    assert not Path(verdict.printed.strip()).exists()


@pytest.mark.parametrize(
    "content",
    [
        "\ufeff# of a Windows editor\n" + SOLUTION,
        "# -*- coding: gbk -*-\n# 猫 吃 鱼\n" + SOLUTION,
        SOLUTION.replace("\n", "\r\n"),
    ],
)
def test_files_are_read_as_python_reads_them(content: str, scale: Exercise, tmp_path: Path) -> None:
    file = tmp_path / "answer.py"
    file.write_bytes(content.encode("gbk" if "gbk" in content else "utf-8"))
    assert grade(scale, file).status == "passed"


def test_all_observations_together_have_a_time_too(scale: Exercise, tmp_path: Path) -> None:
    code = "def scaled(x, c):\n    import time\n    time.sleep(0.3)\n    return x * c"
    slow = grade(replace(scale, seconds=0.7), answer(tmp_path, code))
    assert message_of(slow).startswith("it was not through after 4.2 seconds")


def test_a_file_that_is_too_large_is_not_run(scale: Exercise, tmp_path: Path) -> None:
    verdict = grade(scale, answer(tmp_path, "#" * 2_000_000))
    assert verdict.status == "error"
    assert message_of(verdict) == "it is larger than 1,048,576 bytes"


def test_warnings_of_numpy_are_not_shown(scale: Exercise, tmp_path: Path) -> None:
    """They come from checks that have not failed, too, and from those that judge."""
    code = "def scaled_gradient(g, c):\n    return g * c / 0.0"
    verdict = grade(scale, answer(tmp_path, code))
    assert verdict.diagnosis == "not-finite"
    assert verdict.printed == ""


def test_what_is_judged_check_by_check_gives_no_warnings_either(
    scale: Exercise, tmp_path: Path
) -> None:
    """Two of these differ by more than there is: a warning, which tests take for an error."""
    code = "def scaled_gradient(g, c):\n    "
    code += "return np.where(np.sin(1e3 * g) > 0, 4.4e307, -4.4e307)"
    seen: list[Verdict] = []
    verdict = grade(scale, answer(tmp_path, code), so_far=seen.append)
    assert verdict.status == "failed"
    assert verdict.failed is not None
    assert verdict.failed.name == "linear"
    assert len(seen) == 6  # up to the check that failed
    assert seen[-1].outcomes[5].message == verdict.failed.message
