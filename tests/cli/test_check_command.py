"""`minigrad check` shows what the registry's check found, for minigrad's primitives or a file's,
and ends with a status to match. What the check itself finds is tested with `minigrad.check`."""

import re
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


LONELY = RIGHT.replace(", example=lambda rng: (rng.normal(size=(2, 3)),)", "")


@pytest.mark.parametrize(
    ("source", "status"), [(LONELY, 2), (LONELY + RIGHT.replace("cube", "other"), 2)]
)
def test_a_primitive_without_an_example_is_neither_right_nor_wrong(
    source: str, status: int, tmp_path: Path
) -> None:
    said = {
        "en": ("not checked", "Add one to @primitive(…)"),
        "zh": ("未检查", "请在 @primitive(…)"),
    }
    for language, texts in said.items():
        result = run(write(tmp_path, source), "--language", language)
        assert result.exit_code == status
        assert all(text in result.output for text in texts)
        assert "WRONG" not in result.output
        assert "有误" not in result.output


def test_beside_a_wrong_one_it_does_not_change_the_status(tmp_path: Path) -> None:
    source = LONELY + WRONG.replace("cube", "other")
    page = tmp_path / "page.html"
    result = run(write(tmp_path, source), "--language", "en", "--step", str(page))
    assert result.exit_code == 1
    assert "0 of 2 primitives are right. 1 could not be checked." in result.output
    assert "of other" in result.output
    alone = run(write(tmp_path, LONELY), "--language", "zh", "--step", str(page))
    assert alone.exit_code == 2
    assert "它没有调用示例，无法检查" in alone.output


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


def test_a_wrong_one_is_diagnosed_and_its_page_and_drawing_say_so(tmp_path: Path) -> None:
    page, picture = tmp_path / "cube.html", tmp_path / "cube.svg"
    source = write(tmp_path, CUBE.format(rule="6.0 * g * x * x"))
    said = {"en": "cube: WRONG: ", "zh": "cube：有误："}
    names = {"en": "The gradient is the right one times 2", "zh": "梯度是正确值的 2"}
    for language, text in said.items():
        shown = ("--step", str(page), "--draw", str(picture))
        result = run(source, *shown, "--language", language)
        assert result.exit_code == 1
        assert names[language] in " ".join(result.output.split())
        for path in (page, picture):
            assert text + names[language] in path.read_text(encoding="utf-8").replace("\xa0", " ")


def test_in_chinese_nothing_is_said_twice_or_in_english(tmp_path: Path) -> None:
    example = "example=lambda rng: tuple(rng.normal(size=(2, 2, 3)))"
    source = "from minigrad import primitive\nimport numpy as np\n" + "".join(
        f"\n\n@primitive({rules}, {example})\ndef {name}(a, b):\n    return {returns}\n"
        for name, rules, returns in [
            ("f", "lambda g, a, b: 2 * g * b, lambda g, a: g * a", "a * b"),
            ("f2", "lambda g, a, b: g * b, lambda g, a: g * a * a", "a * b"),
            ("f3", "lambda g, a, b: g * b, None", "a * b[:, :1]"),
            ("f4", "lambda g, a, b: g * np.where(a > 0, b, 0), lambda g, a: g * a", "a * b"),
            ("f5", "lambda g, b: g * b, lambda g, a: g * a", "a.astype('f8') * b"),
        ]
    )
    result = run(write(tmp_path, source), "--language", "zh")
    assert result.output.count("梯度是正确值的 2") == 1
    assert "误差最大的是 [" in result.output
    assert not [word for word in re.findall("[a-z]{3,}", result.output) if "float" not in word]


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
        "zh": "输入 1 'b'：梯度的符号反了。漏了一个负号",
    }
    for language, sentence in says.items():
        assert sentence in run(write(tmp_path, source), "--language", language).output


def test_a_picture_of_another_kind_is_refused(tmp_path: Path) -> None:
    result = run(write(tmp_path, RIGHT), "--draw", str(tmp_path / "cube.xyz"), "--language", "en")
    assert result.exit_code == 2
    assert not (tmp_path / "cube.xyz").exists()
