"""`minigrad check` shows what the registry's check found, for minigrad's primitives or a file's,
and ends with a status to match. What the check itself finds is tested with `minigrad.check`."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import minigrad
from minigrad.cli import app
from minigrad.cli.check import BadFileError, load_primitives

CUBE = '''
"""A file as a student writes it."""

import numpy as np

from minigrad import primitive


@primitive(lambda g, x: {rule}, example=lambda rng: (rng.normal(size=(2, 3)),))
def cube(x):
    """The third power."""
    return x * x * x
'''
RIGHT, WRONG = CUBE.format(rule="3.0 * g * x * x"), CUBE.format(rule="2.0 * g * x * x")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["check", *arguments])


def write(directory: Path, source: str) -> str:
    path = directory / "mine.py"
    path.write_text(source, encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_every_primitive_of_the_registry_is_shown_and_right() -> None:
    result = run("--language", "en")
    assert result.exit_code == 0, result.output
    count = len(minigrad.PRIMITIVES)
    assert f"{count} of {count} primitives are right." in result.output
    shown = {line.split()[0] for line in result.output.splitlines() if " ok" in line}
    assert shown == set(minigrad.PRIMITIVES)


def test_a_right_rule_in_a_file_passes(tmp_path: Path) -> None:
    result = run(write(tmp_path, RIGHT), "--language", "en")
    assert result.exit_code == 0, result.output
    assert "1 of 1 primitives are right." in result.output


def test_a_wrong_rule_in_a_file_is_named_with_both_values(tmp_path: Path) -> None:
    result = run(write(tmp_path, WRONG), "--language", "en")
    assert result.exit_code == 1
    assert "0 of 1 primitives are right." in result.output
    assert "cube" in result.output
    assert "by differences" in result.output
    assert "relative error 0.333" in result.output


def test_the_table_speaks_chinese_when_asked(tmp_path: Path) -> None:
    assert "1 个算子中有 0 个正确" in run(write(tmp_path, WRONG), "--language", "zh").output


def test_a_primitive_without_an_example_is_not_passed(tmp_path: Path) -> None:
    source = RIGHT.replace(", example=lambda rng: (rng.normal(size=(2, 3)),)", "")
    result = run(write(tmp_path, source), "--language", "en")
    assert result.exit_code == 1
    assert "no example" in result.output


def test_a_file_imports_what_lies_beside_it_and_leaves_the_import_path_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "beside_mine.py").write_text("factor = 3.0\n", encoding="utf-8")
    source = RIGHT.replace("import numpy", "from beside_mine import factor\nimport numpy")
    before = list(sys.path)
    ops = load_primitives(Path(write(tmp_path, source)))
    assert [op.name for op in ops] == ["cube"]
    assert sys.path == before


def test_minigrads_own_primitives_in_a_file_are_not_the_files() -> None:
    here = Path(minigrad.__file__).parent / "cli" / "examples.py"
    with pytest.raises(BadFileError, match="defines no primitive"):
        load_primitives(here)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", "defines no primitive"),
        ("x = (\n", "mine.py, line 1: SyntaxError"),
        ("\n\nx = y\n", "mine.py, line 3: NameError: name 'y' is not defined"),
        ("def f():\n    raise KeyError('a')\n\nf()\n", "mine.py, line 2: KeyError: 'a'"),
        ("raise SystemExit(0)\n", "mine.py, line 1: SystemExit"),
        ("raise ValueError('two\\nlines \\x1b[31m')\n", r"ValueError: two\nlines \x1b[31m"),
        ("import no_such_module_anywhere\n", "mine.py, line 1: ModuleNotFoundError"),
        ("x = '\0'\n", "mine.py"),
    ],
)
def test_a_file_that_cannot_be_used_ends_with_one_line(
    tmp_path: Path, source: str, message: str
) -> None:
    result = run(write(tmp_path, source))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert "\x1b" not in result.stderr


def test_a_syntax_error_in_an_imported_file_is_placed_there(tmp_path: Path) -> None:
    (tmp_path / "beside_broken.py").write_text("\n\nx = (\n", encoding="utf-8")
    result = run(write(tmp_path, "import beside_broken\n"))
    assert result.exit_code == 2
    assert "beside_broken.py, line 3: SyntaxError" in result.stderr


def test_a_missing_file_ends_with_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "none.py", tmp_path):
        result = run(str(path))
        assert result.exit_code == 2
        assert result.stderr == f"minigrad: there is no file {str(path)!r}\n"


def test_piped_output_is_plain_text_and_the_progress_bar_stays_away(tmp_path: Path) -> None:
    start = [sys.executable, "-c", "from minigrad.cli import main; main()", "check"]
    result = subprocess.run(
        [*start, write(tmp_path, RIGHT)], capture_output=True, encoding="utf-8", check=True
    )
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


def test_a_primitive_of_ones_own_is_drawn_and_stepped_through(tmp_path: Path) -> None:
    picture, page = tmp_path / "cube.svg", tmp_path / "cube.html"
    arguments = [write(tmp_path, RIGHT), "--draw", str(picture), "--step", str(page)]
    result = run(*arguments, "--language", "en")
    assert result.exit_code == 0, result.output
    assert "cube" in picture.read_text(encoding="utf-8")
    assert "cube" in page.read_text(encoding="utf-8")
    assert "wrote" in result.output


def test_a_wrong_one_is_diagnosed_and_its_page_ends_where_it_is_wrong(tmp_path: Path) -> None:
    page = tmp_path / "cube.html"
    twice = CUBE.format(rule="6.0 * g * x * x")
    result = run(write(tmp_path, twice), "--step", str(page), "--language", "en")
    assert result.exit_code == 1
    assert "The gradient is the right one times 2" in " ".join(result.output.split())
    assert page.exists()


@pytest.mark.parametrize("option", ["--draw", "--step"])
def test_only_a_primitive_of_ones_own_is_shown(option: str, tmp_path: Path) -> None:
    result = run(option, str(tmp_path / "x.svg"))
    assert result.exit_code == 2
    assert "give FILE.py" in result.output


def test_of_several_inputs_it_is_said_which_is_wrong_and_in_both_languages(tmp_path: Path) -> None:
    source = (
        "from minigrad import primitive\n\n\n"
        "@primitive(lambda g, b: g * b, lambda g, a: -g * a,\n"
        "           example=lambda rng: tuple(rng.normal(size=(2, 2, 3))))\n"
        "def product(a, b):\n    return a * b\n"
    )
    says = {
        "en": "input 1 'b': The gradient has the opposite sign. A minus is missing",
        "zh": "input 1 'b'：梯度的符号反了。漏了一个负号",
    }
    for language, sentence in says.items():
        assert sentence in run(write(tmp_path, source), "--language", language).output


def test_a_picture_of_another_kind_is_refused(tmp_path: Path) -> None:
    result = run(write(tmp_path, RIGHT), "--draw", str(tmp_path / "cube.xyz"), "--language", "en")
    assert result.exit_code == 2
    assert not (tmp_path / "cube.xyz").exists()
