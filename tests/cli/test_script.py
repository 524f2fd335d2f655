"""A script that is run for `minigrad draw` behaves, prints and fails as under `python FILE`.

Most scripts here are run twice, by Python itself and by `run_script`, and all that can be seen from
outside has to agree. What is drawn of them is tested in `test_draw.py`.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from minigrad import modes
from minigrad.cli.script import run_script

COMMAND = "from minigrad.cli import main; main()"
posix = pytest.mark.skipif(os.name != "posix", reason="names and links that only POSIX allows")


class Outcome(NamedTuple):
    """What a program leaves behind for those who started it."""

    status: int
    stdout: str
    stderr: str


class Stage:
    """A folder with a script in it, run in both ways."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capture = capture
        self.variables: dict[str, Any] = {}

    def write(self, source: str | bytes, name: str = "script.py") -> Path:
        path = self.folder / name
        content = source.encode() if isinstance(source, str) else source
        path.write_bytes(content)
        return path

    def by_python(self, path: Path | str, *arguments: str) -> Outcome:
        ran = subprocess.run(
            [sys.executable, "-B", str(path), *arguments],
            capture_output=True,
            encoding="utf-8",
            cwd=self.folder,
        )
        return Outcome(ran.returncode, ran.stdout, ran.stderr)

    def by_us(
        self, path: Path | str, *arguments: str, watcher: modes.Watcher | None = None
    ) -> Outcome:
        status = 0
        self.capture.readouterr()
        try:
            self.variables = run_script(Path(path), arguments, watcher or modes.Watcher())
        except typer.Exit as end:
            status = int(end.exit_code) % 256  # as the system passes it on
        return Outcome(status, *self.capture.readouterr())

    def agree(self, source: str | bytes, *arguments: str, name: str = "script.py") -> Outcome:
        """Run the script in both ways; what Python makes of it is what we have to make of it."""
        path = self.write(source, name)
        expected = self.by_python(path, *arguments)
        assert self.by_us(path, *arguments) == expected
        return expected


@pytest.fixture
def stage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stage]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loaded = set(sys.modules)
    yield Stage(tmp_path, capsys)
    for name in set(sys.modules) - loaded:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


# ------------------------------------------------------------------------------ what a script sees


@pytest.mark.parametrize(
    "source",
    [
        "print(__name__, __file__, __doc__, __spec__)",
        '"""What it is for."""\nprint(__doc__)',
        "import sys; print(sys.argv)",
        "import sys; print(sys.path[0])",
        "if __name__ == '__main__':\n    print('main')",
        "x: int = 3\nprint(__annotations__, vars()['x'])",
        "import sys, __main__\nX = 1\nprint(sys.modules['__main__'] is __main__, __main__.X)\n"
        "print(vars(__main__) is globals())",
        "import beside; print(beside.value, beside.of_main())",
        "with open('data.txt', encoding='utf-8') as file:\n    print(file.read())",
        "import os; print(os.getcwd())",
        "import pickle\nclass Point:\n    x = 1\nprint(pickle.loads(pickle.dumps(Point())).x)",
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "from typing import ClassVar, get_type_hints\n@dataclass\nclass P:\n    x: int\n"
        "    y: ClassVar[int] = 3\nprint(P(1), P.__module__, get_type_hints(P))",
        "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f), inspect.getmodule(f))",
        "def f():\n    '''\n    >>> f()\n    1\n    '''\n    return 1\n"
        "import doctest; print(doctest.testmod())",
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('a')\nparser.add_argument('--b')\nprint(parser.parse_args())",
        "import asyncio\nasync def f():\n    return 3\nprint(asyncio.run(f()))",
        "import threading\nthread = threading.Thread(target=lambda: print('inside'))\n"
        "thread.start(); thread.join(); print('after')",
        "import sys; print(sys.excepthook is sys.__excepthook__, sys.getrecursionlimit())",
        "print('猫 🐟')",
    ],
)
def test_a_script_sees_what_it_sees_under_python(stage: Stage, source: str) -> None:
    stage.write(
        "value = 3\ndef of_main():\n    import __main__; return __main__.__name__", "beside.py"
    )
    stage.write("数据", "data.txt")
    outcome = stage.agree(source, "first", "--b=猫", name="my script.py")
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout


@pytest.mark.parametrize("given", ["script.py", "./script.py", "../{}/script.py"])
def test_a_path_is_in_argv_as_it_was_typed(stage: Stage, given: str) -> None:
    stage.write("import sys; print(sys.argv)")
    path = given.format(stage.folder.name)
    expected = stage.by_python(path, "more")
    assert expected.stdout == f"{[path, 'more']}\n"
    # What typer makes of it is a Path, which knows no leading ./ of its own.
    assert stage.by_us(path, "more").stdout == f"{[str(Path(path)), 'more']}\n"


def test_the_file_of_a_script_is_absolute_wherever_the_script_goes(stage: Stage) -> None:
    stage.write("import os; os.chdir('/'); print(__file__); 1 / 0")
    expected = stage.by_python("script.py")
    assert expected.stdout == f"{stage.folder / 'script.py'}\n"
    here = os.getcwd()
    try:
        assert stage.by_us("script.py") == expected
    finally:
        os.chdir(here)


@posix
def test_a_link_to_a_script_is_called_by_its_own_name_and_imports_from_where_that_leads(
    stage: Stage,
) -> None:
    (stage.folder / "elsewhere").mkdir()
    stage.write("import beside, sys\nprint(__file__, sys.path[0], beside.x)", "elsewhere/real.py")
    stage.write("x = 1", "elsewhere/beside.py")
    link = stage.folder / "link.py"
    link.symlink_to(stage.folder / "elsewhere" / "real.py")
    expected = stage.by_python(link)
    assert expected.stdout == f"{link} {stage.folder / 'elsewhere'} 1\n"
    assert stage.by_us(link) == expected


@pytest.mark.parametrize("name", ["viz", "graphviz", "rich"])
def test_a_module_beside_the_script_is_the_scripts_whatever_the_command_has_imported(
    stage: Stage, name: str
) -> None:
    """A student's own `viz.py` is not ours."""
    __import__(name)
    ours = sys.modules[name]
    stage.write("mine = 5", f"{name}.py")
    stage.agree(f"import {name}; print({name}.mine)")
    assert sys.modules[name] is ours


@pytest.mark.parametrize("name", ["minigrad.py", "numpy.py", "graphviz.py", "viz.py"])
def test_a_script_may_be_called_as_what_it_imports(stage: Stage, name: str) -> None:
    """Python itself would import the script in place of the package."""
    source = "import numpy, minigrad\nprint(float(minigrad.Tensor(numpy.ones(())) * 3), __name__)"
    assert stage.by_us(stage.write(source, name)) == (0, "3.0 __main__\n", "")


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfprint('\xe7\x8c\xab')",  # with a byte order mark
        "# -*- coding: latin-1 -*-\nprint('é')".encode("latin-1"),
        "# coding: gbk\nprint('猫')".encode("gbk"),
        b"print(1)\r\nprint(__file__)\r\n",
        b"",
        b"# nothing at all",
    ],
)
def test_a_source_is_decoded_as_python_decodes_it(stage: Stage, content: bytes) -> None:
    assert stage.agree(content).status == 0


@posix
@pytest.mark.parametrize(
    "name", ["a b.py", "猫 'x' \"y\".py", "a:b.py", "noending", "-x.py", "a\nb.py"]
)
def test_a_script_may_have_any_name(stage: Stage, name: str) -> None:
    assert stage.agree("import sys; print(__file__, sys.argv)", name=name).status == 0


# ------------------------------------------------------------------------------ how a script ends


@pytest.mark.parametrize(
    "code",
    ["None", "0", "3", "'text'", "'文字'", "True", "False", "''", "(1, 2)", "-1", "[]", "0.0"],
)
def test_a_script_leaves_with_the_status_and_the_text_of_its_exit(stage: Stage, code: str) -> None:
    outcome = stage.agree(f"import sys\nprint('before')\nsys.exit({code})\nprint('never')")
    assert outcome.stdout == "before\n"


def test_an_exit_with_a_number_of_numpys_is_a_text_as_for_python(stage: Stage) -> None:
    outcome = stage.agree("import sys, numpy as np\nsys.exit(np.int64(0))")
    assert outcome == (1, "", "0\n")
    outcome = stage.agree("import sys, numpy as np\nsys.exit(np.zeros(3))")
    assert outcome == (1, "", "[0. 0. 0.]\n")


@pytest.mark.parametrize("source", ["exit()", "quit(4)", "raise SystemExit", "raise SystemExit(5)"])
def test_every_way_to_exit_is_one(stage: Stage, source: str) -> None:
    stage.agree(source)


def test_what_a_script_defined_before_it_left_is_still_there(stage: Stage) -> None:
    """`sys.exit(main())` is how many scripts end."""
    path = stage.write("import sys\ndef main():\n    return 0\nx = 5\nsys.exit(main())")
    assert stage.by_us(path) == (0, "", "")
    assert stage.variables["x"] == 5
    assert stage.variables["main"]() == 0


def test_the_variables_that_a_script_leaves_are_returned(stage: Stage) -> None:
    stage.by_us(stage.write("x = 5\ndef f():\n    return x\n_hidden = [x]"))
    assert stage.variables["x"] == 5
    assert stage.variables["f"]() == 5
    assert stage.variables["_hidden"] == [5]


FAILURES = [
    "1 / 0",
    "def f():\n    return 1 / 0\n\ndef g():\n    return f()\n\ng()",
    "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('while handling')",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('because') from e",
    "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('alone') from None",
    "x = [1,\n     2][\n    10\n]",
    "raise ExceptionGroup('several', [ValueError(1), ExceptionGroup('more', [TypeError('猫')])])",
    "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\nraise Odd",
    "e = ValueError('a')\ne.add_note('first\\nsecond')\nraise e",
    "class Base(BaseException):\n    pass\nraise Base('base')",
    "raise GeneratorExit",
    "import typer\nraise typer.Exit(4)",
    "raise ValueError('two\\nlines')",
    "import beside_broken",
    "import beside_unfinished",
    "import no_such_module_anywhere",
    "from . import sibling",
    "x = (\n",
    "print 'a'",
    "if 1:\nx = 1",
    "exec(compile('1 / 0', '<inside>', 'exec'))",
    "colour = 1\nprint(color)",
    "import math\nmath.sqroot(2)",
    "import sys\nsys.excepthook = lambda *what: print('hook', what[0].__name__)\n1 / 0",
    "import os\nos.chdir('/')\n1 / 0",
]


@pytest.mark.parametrize("source", FAILURES)
@pytest.mark.filterwarnings("ignore::ImportWarning")  # as Python does by itself
def test_a_script_that_fails_shows_its_own_traceback_and_nothing_else(
    stage: Stage, source: str
) -> None:
    stage.write("def f():\n    1 / 0\nf()", "beside_broken.py")
    stage.write("\n\nx = (\n", "beside_unfinished.py")
    hook = sys.excepthook
    outcome = stage.agree(source)
    assert outcome.status == 1
    assert sys.excepthook is hook
    os.chdir(stage.folder)


@pytest.mark.parametrize(
    "source",
    [
        "x = Tensor(np.ones((2, 3)))\nx @ x",
        pytest.param(
            "x = Tensor(np.ones((2, 3)), requires_grad=True)\n(x * x).backward()",
            marks=pytest.mark.slow,
        ),
        "x = Tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\ny.backward()",
        pytest.param(
            "x = Tensor(3.0, requires_grad=True)\nwith minigrad.no_grad():\n    y = -x\n"
            "y.backward()",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_error_inside_minigrad_is_the_scripts_with_all_of_its_frames(
    stage: Stage, source: str
) -> None:
    outcome = stage.agree(
        f"import minigrad\nimport numpy as np\nfrom minigrad import Tensor\n{source}"
    )
    assert outcome.status == 1
    own = f'Traceback (most recent call last):\n  File "{stage.folder / "script.py"}", line '
    assert outcome.stderr.count(own) == 1


@pytest.mark.parametrize("content", [b"x = 1\0\n", b"x = '\xe9'\n", b"# coding: nonsense\nx = 1"])
def test_a_source_that_is_no_text_is_a_syntax_error_without_a_frame_of_ours(
    stage: Stage, content: bytes
) -> None:
    status, out, err = stage.by_us(stage.write(content))
    assert (status, out) == (1, "")
    assert "SyntaxError: " in err
    assert "minigrad" not in err
    assert "runpy" not in err


def test_a_recursion_without_end_shows_only_its_own_frames(stage: Stage) -> None:
    source = "def f():\n    f()\nf()"
    expected = stage.by_python(stage.write(source))
    found = stage.by_us(stage.folder / "script.py")
    assert found.status == expected.status == 1
    # How often it went in depends on how deep it stood to begin with.
    counted = [line for line in expected.stderr.splitlines() if "more times" not in line]
    assert [line for line in found.stderr.splitlines() if "more times" not in line] == counted


def test_an_interrupt_shows_the_traceback_and_ends_with_130(stage: Stage) -> None:
    expected = stage.by_python(stage.write("raise KeyboardInterrupt"))
    assert expected.status == -signal.SIGINT
    assert stage.by_us(stage.folder / "script.py") == expected._replace(status=130)


def test_a_compiled_script_runs_and_fails_as_under_python(stage: Stage) -> None:
    import py_compile

    compiled = str(stage.folder / "script.pyc")
    py_compile.compile(str(stage.write("print(__name__)\n1 / 0")), cfile=compiled)
    expected = stage.by_python(compiled)
    assert expected.status == 1
    assert stage.by_us(compiled) == expected


@pytest.mark.parametrize("name", ["none.py", ".", "folder", "folder/none.py", "a\x1b[31m.py"])
def test_what_is_no_file_ends_with_one_line(stage: Stage, name: str) -> None:
    (stage.folder / "folder").mkdir()
    status, out, err = stage.by_us(stage.folder / name)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "there is no file" in err
    assert "\x1b" not in err


# ---------------------------------------------------------------------- what is put back afterwards

LEAVERS = [
    "",
    "1 / 0",
    "import sys; sys.exit(3)",
    "import sys; sys.argv.append('x'); sys.path.insert(0, 'x')",
    "import sys; sys.argv = ('x',); sys.path = ['x']",
    "import sys; sys.argv = []; sys.path = sys.path + ['x']",
    "import sys; del sys.argv",
    "import sys; del sys.modules['__main__']",
    "import sys; sys.modules['__main__'] = None",
    "import sys; sys.stdout = sys.stderr = open('log.txt', 'w')",
    "import sys, io; sys.stdout = io.StringIO()",
    "import sys; sys.excepthook = print",
    "import minigrad; minigrad.no_grad().__enter__()",
]


@pytest.mark.parametrize("source", LEAVERS)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_whatever_a_script_does_to_the_interpreter_is_put_back(stage: Stage, source: str) -> None:
    def world() -> list[Any]:
        return [
            list(sys.argv),
            list(sys.path),
            sys.modules["__main__"],
            sys.stdout,
            sys.stderr,
            sys.excepthook,
            modes.current.get(),
        ]

    keep = sys.argv, sys.path, sys.stdout, sys.stderr, sys.excepthook, modes.current.get()
    before = world()
    try:
        stage.by_us(stage.write(source), "argument")
        assert world() == before
    finally:
        sys.argv, sys.path, sys.stdout, sys.stderr, sys.excepthook, mode = keep
        modes.current.set(mode)


# --------------------------------------------------------------------------- what the watcher sees


class Notes(modes.Watcher):
    """Writes down what happens."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def recorded(self, op: Any, inputs: Any, options: dict[str, Any], result: Any) -> None:
        self.entries.append(f"{op}")

    def began(self, root: Any, gradient: Any) -> None:
        self.entries.append("began")

    def finished(self, root: Any) -> None:
        self.entries.append("finished")


def test_a_watcher_is_told_of_all_that_the_script_records_and_of_nothing_after_it(
    stage: Stage,
) -> None:
    notes = Notes()
    stage.write("from minigrad import Tensor\ndef f(x):\n    return x * x", "helper.py")
    source = "import helper\nx = helper.Tensor(3.0, requires_grad=True)\nhelper.f(x).backward()"
    assert stage.by_us(stage.write(source), watcher=notes).status == 0
    assert notes.entries == ["multiply", "began", "finished"]
    stage.variables["helper"].f(stage.variables["x"]).backward()
    assert len(notes.entries) == 3


def test_a_watcher_sees_all_that_a_script_did_before_it_failed(stage: Stage) -> None:
    notes = Notes()
    source = (
        "from minigrad import Tensor\ny = -Tensor(3.0, requires_grad=True)\ny.backward()\n1 / 0"
    )
    assert stage.by_us(stage.write(source), watcher=notes).status == 1
    assert notes.entries == ["negative", "began", "finished"]


# -------------------------------------------------------------------------- as a program of its own

SCRIPT_WITH_A_POOL = """
import multiprocessing
from minigrad import Tensor

class Point:
    def __init__(self, x):
        self.x = x

def square(point):
    x = Tensor(point.x, requires_grad=True)
    (x * x).backward()
    return float(x.grad)

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(square, [Point(1.0), Point(2.0)]))
    x = Tensor(2.0, requires_grad=True)
    (x * 3).backward()
"""


def drawn(path: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """`minigrad draw` as a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", COMMAND, "draw", "--language", "en", str(path), *arguments],
        capture_output=True,
        **options,
    )


@pytest.mark.slow
def test_a_pool_of_processes_finds_what_the_script_defines(stage: Stage) -> None:
    ran = drawn(stage.write(SCRIPT_WITH_A_POOL))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.decode().splitlines()[0] == "[2.0, 4.0]"
    assert ran.stdout.decode().count("[2.0, 4.0]") == 1
    assert ran.stderr == b""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("import os; print('a', flush=True); os._exit(7)", 7),
        ("import os; os.kill(os.getpid(), 15); import time; time.sleep(5)", -15),
        ("import os; os.kill(os.getpid(), 2); import time; time.sleep(5)", 130),
        ("import warnings; warnings.simplefilter('error'); warnings.warn('w')", 1),
    ],
)
def test_a_process_that_is_ended_ends_as_under_python(
    stage: Stage, source: str, status: int
) -> None:
    path = stage.write(source)
    expected = stage.by_python(path)
    ran = drawn(path)
    assert (ran.returncode, ran.stdout.decode()) == (status, expected.stdout)
    assert ran.stderr.decode() == expected.stderr


@pytest.mark.slow
def test_input_warnings_and_handlers_at_exit_are_as_under_python(stage: Stage) -> None:
    source = """
import atexit, sys, warnings
from minigrad import Tensor
atexit.register(lambda: print("bye"))
warnings.warn("careful")
warnings.warn("old", DeprecationWarning)
print(input(), sys.stdin.read())
x = Tensor(float(len(sys.argv)), requires_grad=True)
(x * x).backward()
"""
    path = stage.write(source)
    ran = drawn(path, "one", input=b"first\nsecond\n")
    expected = subprocess.run(
        [sys.executable, str(path), "one"],
        input=b"first\nsecond\n",
        capture_output=True,
    )
    assert ran.returncode == 0
    assert ran.stderr == expected.stderr
    before, _, after = expected.stdout.partition(b"bye")
    assert ran.stdout.startswith(before)
    assert ran.stdout.endswith(b"bye" + after)
    assert "∂L norm 4" in ran.stdout.decode()
