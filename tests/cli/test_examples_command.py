"""`minigrad examples` lists, runs and copies the lessons. What the lessons claim is tested in
`tests/test_examples.py`; finding them in a wheel, in `tests/test_packaging.py`."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from minigrad.cli import Language, app, default_language
from minigrad.cli.examples import (
    all_examples,
    copy_examples,
    examples_directory,
    matching_examples,
)
from minigrad.files import write_whole

NUMBERS = [f"{number:02d}" for number in range(1, 12)]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["examples", *arguments])


def files_in(directory: Path) -> dict[str, bytes]:
    """All but the exercises, which have a command of their own."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
        and not {"__pycache__", "exercises"} & {*path.relative_to(directory).parts}
    }


# ------------------------------------------------------------------------------------- listing


def test_the_list_names_every_lesson_with_its_title() -> None:
    result = run("--language", "en")
    assert result.exit_code == 0
    for example in all_examples():
        assert example.path.stem in result.output
        assert example.titles[Language.EN].split(":")[0] in " ".join(result.output.split())
    assert [example.path.stem[:2] for example in all_examples()] == NUMBERS


def test_the_list_speaks_chinese_when_asked() -> None:
    result = run("--language", "zh")
    shown = "".join(result.output.split())  # wherever its lines are broken
    for example in all_examples():
        assert "".join(example.titles[Language.ZH].split()) in shown
        assert example.titles[Language.ZH] != example.titles[Language.EN]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"LANG": "zh_CN.UTF-8"}, Language.ZH),
        ({"LANG": "en_GB.UTF-8"}, Language.EN),
        ({"LANG": "de_DE.UTF-8"}, Language.EN),
        ({"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, Language.EN),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_TW", "LANG": "en_US"}, Language.ZH),
    ],
)
def test_the_locale_chooses_the_language(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: Language
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert default_language() is expected


# ------------------------------------------------------------------------------------- running


@pytest.mark.parametrize(
    "name", ["2", "02", "02_", "02_cat_eats_fish", "02_cat_eats_fish.py", "cat"]
)
def test_a_lesson_is_found_by_number_name_or_beginning(name: str) -> None:
    (found,) = matching_examples(name, all_examples())
    assert found.path.name == "02_cat_eats_fish.py"


@pytest.mark.parametrize("name", ["99", "00", "cats", "²", "../02", ""])
def test_a_name_that_means_no_single_lesson_ends_with_one_line(name: str) -> None:
    result = run(name)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "choose from 01_first_backward" in result.stderr


def test_an_ambiguous_beginning_names_its_candidates() -> None:
    result = run("f")
    assert result.exit_code == 2
    assert "'f' names several lessons" in result.stderr
    assert "01_first_backward, 03_four_one_hot_words" in result.stderr
    assert "02_cat_eats_fish" not in result.stderr


def test_a_lesson_runs_as_plain_python_runs_it() -> None:
    lesson = examples_directory() / "01_first_backward.py"
    through = [sys.executable, "-c", "from minigrad.cli import main; main()", "examples", "1"]
    command, plain = (
        subprocess.run([*start, "--language", "zh"], capture_output=True, check=True)
        for start in (through, [sys.executable, str(lesson)])
    )
    assert "损失" in command.stdout.decode()
    assert command.stdout == plain.stdout


def test_a_lesson_that_fails_gives_the_command_its_status(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "01_broken.py").write_text('"""A lesson."""\nraise SystemExit(3)\n', "utf-8")
    monkeypatch.setattr("minigrad.cli.examples.examples_directory", lambda: tmp_path)
    assert run("1").exit_code == 3


# ------------------------------------------------------------------------------------- copying


def test_copy_writes_every_lesson_with_its_data(tmp_path: Path) -> None:
    target = tmp_path / "some where" / "lessons"
    result = run("--copy", str(target), "--language", "en")
    assert result.exit_code == 0
    assert files_in(target) == files_in(examples_directory())
    assert "lessons/01_first_backward.py'" in result.output


def test_copied_lessons_run_where_they_are(tmp_path: Path) -> None:
    copy_examples(tmp_path)
    subprocess.run(
        [sys.executable, "02_cat_eats_fish.py"], cwd=tmp_path, check=True, capture_output=True
    )


def test_no_solution_is_copied(tmp_path: Path) -> None:
    assert run("--copy", str(tmp_path)).exit_code == 0
    assert not (tmp_path / "exercises").exists()


def test_copy_never_overwrites_unless_told_to(tmp_path: Path) -> None:
    mine = tmp_path / "02_cat_eats_fish.py"
    mine.write_text("my own notes", encoding="utf-8")

    refused = run("--copy", str(tmp_path))
    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert "02_cat_eats_fish.py; nothing was copied" in refused.stderr
    assert files_in(tmp_path) == {mine.name: b"my own notes"}

    assert run("--copy", str(tmp_path), "--force").exit_code == 0
    assert files_in(tmp_path) == files_in(examples_directory())


def test_copy_into_a_place_that_is_a_file_ends_with_one_line(tmp_path: Path) -> None:
    occupied = tmp_path / "occupied"
    occupied.write_text("a file", encoding="utf-8")
    result = run("--copy", str(occupied))
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert occupied.read_text(encoding="utf-8") == "a file"


def test_a_name_and_copy_together_are_refused(tmp_path: Path) -> None:
    result = run("02", "--copy", str(tmp_path / "lessons"))
    assert result.exit_code == 2
    assert not (tmp_path / "lessons").exists()


def test_a_file_is_written_whole_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = tmp_path / "lesson.py"
    target.write_text("before", encoding="utf-8")

    def full_disk(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:3])
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match="no space left"):
        write_whole(target, b"after")
    assert list(tmp_path.iterdir()) == [target]
    assert target.read_text(encoding="utf-8") == "before"
