"""The two READMEs are true and say the same: their commands exist, their code runs, what they show
is what is printed, their links lead somewhere, and one has what the other has."""

import ast
import contextlib
import importlib.util
import io
import itertools
import math
import re
import shlex
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

import minigrad
from minigrad.cli import app
from minigrad.coursework.workbench import named, shipped

ROOT = Path(__file__).parent.parent
READMES = {"en": "README.md", "zh": "README.zh-CN.md"}
SETUP = 'python3 -m venv .venv && . .venv/bin/activate && pip install -e ".[test]" && '
LARGEST_PICTURE = 150_000

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^][]*\]\(([^()\s]+)\)")
PICTURE = re.compile(r"^!\[.+\]\((examples/pictures/\S+)\)$", re.MULTILINE)
NARROWER = re.compile(r'^<img src="(examples/pictures/\S+)" width="\d+" alt=".+">$', re.MULTILINE)
QUOTED = re.compile(r"`([^`\n]+)`")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


class Block(NamedTuple):
    """A fenced block: its language, and its text."""

    kind: str
    text: str


def read(language: str) -> str:
    return (ROOT / READMES[language]).read_text(encoding="utf-8")


def blocks(language: str) -> list[Block]:
    return [Block(*found.groups()) for found in BLOCK.finditer(read(language))]


def prose(language: str) -> str:
    return BLOCK.sub("", read(language))


def headings(language: str) -> list[str]:
    return re.findall(r"^#+ .*$", prose(language), re.MULTILINE)


def without_comment(line: str) -> str:
    return re.sub(r"\s+# .*", "", line).rstrip()


def commands(language: str) -> list[str]:
    """Each command of the shell blocks, those that `&&` joins apart."""
    lines = [
        line for kind, text in blocks(language) if kind == "bash" for line in text.splitlines()
    ]
    return [part for line in lines for part in without_comment(line).split(" && ")]


def shown(language: str, kind: str) -> list[tuple[str, str]]:
    """Blocks of a kind that are followed by their output, each with that."""
    found = blocks(language)
    following = itertools.pairwise(found)
    return [(a.text, b.text) for a, b in following if (a.kind, b.kind) == (kind, "text")]


def quoted(language: str) -> list[str]:
    """What is quoted, paragraph by paragraph, from the end of what a command prints."""
    quotes = re.findall(r"(?:^>.*\n)+", read(language), re.MULTILINE)
    return [re.sub(r"^> ?", "", quote, flags=re.MULTILINE) for quote in quotes]


def run_code(source: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "README", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def run_command(line: str, language: str, typed: str = "") -> str:
    program, *arguments = shlex.split(line)
    assert program == "minigrad"
    result = CliRunner().invoke(app, [*arguments, "--language", language], input=typed)
    assert result.exit_code == 0, result.output
    return result.stdout


def alike(shown: str, printed: str) -> bool:
    """Whether two words are the same; of a fraction the last digit may differ by machine."""
    if NUMBER.split(shown) != NUMBER.split(printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(
        math.isclose(float(a), float(b), rel_tol=0.0 if a.isdecimal() else 0.1) for a, b in pairs
    )


def stands_in(part: str, printed: str) -> bool:
    """Whether a part of an output was printed, wherever its lines are broken."""
    wanted, words = part.split(), printed.split()
    return any(
        all(map(alike, wanted, words[start:])) for start in range(len(words) - len(wanted) + 1)
    )


def parse(line: str) -> None:
    """Lets the command line read the arguments as it would when called, and run nothing."""
    group: Any = typer.main.get_command(app)
    program, *arguments = shlex.split(line)
    assert program == "minigrad"
    with group.make_context("minigrad", list(arguments)) as context:
        name, command, rest = group.resolve_command(context, arguments)
        command.make_context(name, rest, parent=context)


# ------------------------------------------------------------------------- what a stranger meets


def test_the_first_screen_has_a_picture_the_two_commands_and_twelve_lines() -> None:
    for language in READMES:
        first, *_ = re.split(r"^## ", read(language), maxsplit=1, flags=re.MULTILINE)
        assert len(PICTURE.findall(first)) == 1
        setup, code, output = [Block(*found.groups()) for found in BLOCK.finditer(first)]
        assert setup == Block("bash", f"{SETUP}minigrad vanish\n{SETUP}pytest\n")
        assert [code.kind, output.kind] == ["python", "text"]
        assert len([line for line in code.text.splitlines() if line]) == 12


def test_the_set_up_stands_where_the_continuous_integration_looks_for_it() -> None:
    lines = [line for line in read("en").splitlines() if re.match(r"\s*python3 -m venv ", line)]
    assert lines == [f"{SETUP}minigrad vanish", f"{SETUP}pytest"]


@pytest.mark.parametrize("language", READMES)
def test_the_code_prints_what_is_shown(language: str) -> None:
    examples = shown(language, "python")
    assert len(examples) == 4
    for source, output in examples:
        assert run_code(source) == output


@pytest.mark.parametrize("language", READMES)
def test_the_debugger_says_what_is_shown(language: str) -> None:
    commands, session = shown(language, "bash")[0]
    typed = [line.removeprefix("(step) ") for line in session.splitlines() if "(step)" in line]
    printed = run_command(without_comment(commands.splitlines()[-1]), language, "\n".join(typed))
    assert stands_in(session, printed)


@pytest.mark.parametrize("language", READMES)
def test_the_report_on_real_heads_is_what_is_shown(language: str) -> None:
    command, table = shown(language, "bash")[1]
    printed = run_command(command, language)
    assert stands_in(table, printed)
    assert stands_in(quoted(language)[0], printed)


@pytest.mark.slow
@pytest.mark.parametrize("language", READMES)
def test_the_findings_that_are_quoted_are_those_of_the_default_run(language: str) -> None:
    assert stands_in(quoted(language)[1], run_command("minigrad vanish", language))


@pytest.mark.slow
@pytest.mark.parametrize("language", READMES)
def test_the_check_ends_as_is_shown(language: str) -> None:
    command, summary = shown(language, "bash")[3]
    assert stands_in(summary, run_command(command, language))


@pytest.mark.slow
@pytest.mark.parametrize("language", READMES)
def test_the_verdict_on_an_exercise_is_what_the_command_prints(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (exercise,) = named("10", shipped())
    code = exercise.reference.read_text(encoding="utf-8")
    right = "at_scores.mT @ query * factor_of(query, scale)"
    assert right in code
    answer = tmp_path / "10-attention" / "exercise.py"
    answer.parent.mkdir()
    answer.write_text(code.replace(right, "at_scores.mT @ query"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", {"en": "en_GB.UTF-8", "zh": "zh_CN.UTF-8"}[language])
    result = CliRunner().invoke(app, ["exercises", "check", "10"])
    commands_, verdict = shown(language, "bash")[2]
    assert "minigrad exercises check 10" in commands_
    assert result.output.strip() == verdict.strip()


@pytest.mark.parametrize("language", READMES)
def test_every_output_that_is_shown_or_quoted_is_compared(language: str) -> None:
    assert [kind for kind, _ in blocks(language)].count("text") == 8
    assert [len(shown(language, kind)) for kind in ("python", "bash")] == [4, 4]
    assert len(quoted(language)) == 2


@pytest.mark.parametrize(
    ("printed", "same"),
    [
        ("a 0.98 of 72 heads", True),
        ("a 0.99 of 72 heads", True),
        ("a 0.98 of 73 heads", False),
        ("a 9.8 of 72 heads", False),
        ("a 0.98 of 72 rows", False),
        ("a 0.98 of 72", False),
    ],
)
def test_only_the_last_digits_of_a_fraction_may_differ(printed: str, same: bool) -> None:
    assert stands_in("0.98 of\n72 heads", printed) is same


# ------------------------------------------------------------------------------ what is referred to


@pytest.mark.parametrize(
    "line", dict.fromkeys(c for c in commands("en") if c.split()[0] == "minigrad")
)
def test_a_command_and_its_options_exist(line: str) -> None:
    parse(line)


@pytest.mark.parametrize(
    "line", ["minigrad vanish --louder", "minigrad banish", "minigrad check a b"]
)
def test_a_command_that_does_not_exist_would_be_noticed(line: str) -> None:
    with pytest.raises(Exception, match=r"[Nn]o such|unexpected"):
        parse(line)


@pytest.mark.parametrize("language", READMES)
def test_commands_inside_sentences_exist_too(language: str) -> None:
    quoted = QUOTED.findall(prose(language))
    ours = [text for text in quoted if text.startswith("minigrad ")]
    assert ours
    for line in ours:
        parse(line)
    modules = [text.split()[2] for text in quoted + commands(language) if "python -m" in text]
    assert set(modules) == {"tests.benchmarks", "tests.mutation"}
    assert all(importlib.util.find_spec(name) for name in modules)


@pytest.mark.parametrize("language", READMES)
def test_every_link_and_picture_leads_to_a_file(language: str) -> None:
    targets = LINK.findall(prose(language))
    assert READMES[{"en": "zh", "zh": "en"}[language]] in targets
    relative = [target for target in targets if not re.match(r"\w+:", target)]
    assert [target for target in relative if not (ROOT / target).is_file()] == []


@pytest.mark.parametrize("language", READMES)
def test_every_file_and_folder_that_is_named_exists(language: str) -> None:
    named = [text for text in QUOTED.findall(prose(language)) if re.fullmatch(r"[\w./]+", text)]
    paths = [text for text in named if "/" in text]
    assert len(paths) > 15
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("language", READMES)
def test_the_map_names_every_file_of_the_engine_and_every_lesson(language: str) -> None:
    engine = [path for path in (ROOT / "minigrad").glob("*.py") if path.stem != "__init__"]
    lessons = (ROOT / "examples").glob("[0-9][0-9]_*.py")
    text = prose(language)
    paths = [path.relative_to(ROOT).as_posix() for path in [*engine, *lessons]]
    assert [path for path in paths if path not in text] == []


@pytest.mark.parametrize("language", READMES)
def test_a_lesson_has_the_title_that_it_gives_itself(language: str) -> None:
    rows = re.findall(r"^\| \[\d+\]\((examples/\S+)\) \| (.+) \|$", read(language), re.MULTILINE)
    for path, title in rows:
        docstring = ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8"))) or ""
        assert title == docstring.splitlines()[list(READMES).index(language)]


@pytest.mark.parametrize("language", READMES)
def test_the_rule_that_is_shown_is_the_rule_that_runs(language: str) -> None:
    (rule,) = [text for kind, text in blocks(language) if kind == "python" and "lambda" in text]
    source = (ROOT / "minigrad" / "ops" / "probability.py").read_text(encoding="utf-8")
    _, _, following = source.partition(rule.strip())
    assert following.partition("\ndef ")[2].startswith("softmax(")


@pytest.mark.parametrize("language", READMES)
def test_the_version_to_cite_is_the_version(language: str) -> None:
    assert f"version {minigrad.__version__}" in read(language)


@pytest.mark.parametrize("language", READMES)
def test_the_picture_of_a_page_is_small_and_of_a_lesson_that_is_named_beside_it(
    language: str,
) -> None:
    (path,) = [path for path in PICTURE.findall(prose(language)) if path.endswith(".png")]
    content = (ROOT / path).read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) < LARGEST_PICTURE
    following = prose(language).partition(f"]({path})")[2]
    assert LINK.findall(following)[0] == "examples/10_lock_step.py"


@pytest.mark.parametrize("language", READMES)
def test_a_picture_is_small_keeps_its_text_and_is_made_by_a_command_shown(language: str) -> None:
    paths = PICTURE.findall(prose(language)) + NARROWER.findall(prose(language))
    names = [Path(path).name.partition(".")[0] for path in paths]
    assert names == ["vanish", "steps", "cat_eats_fish"]
    for path in paths:
        if path.endswith(".png"):
            continue
        content = (ROOT / path).read_bytes()
        assert len(content) < LARGEST_PICTURE
        assert content.count(b"<text") > 20
        makers = [line for line in commands(language) if line.endswith(f" {path}")]
        assert [f"--language {language}" in line for line in makers] == [True]


@pytest.mark.parametrize("language", READMES)
def test_the_graph_is_what_its_command_draws(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = NARROWER.findall(prose(language))
    (maker,) = [line for line in commands(language) if line.endswith(f" {path}")]
    found = shutil.which  # every machine has the engine that pip installs; not every one has dot
    monkeypatch.setattr(shutil, "which", lambda x, **more: None if x == "dot" else found(x, **more))
    monkeypatch.chdir(tmp_path)
    run_command(maker, language)
    assert (tmp_path / path).read_bytes() == (ROOT / path).read_bytes()


# -------------------------------------------------------------------- one has what the other has


def test_both_languages_have_the_same_headings_in_the_same_order() -> None:
    levels = {language: [len(h.split()[0]) for h in headings(language)] for language in READMES}
    assert levels["en"] == levels["zh"]
    assert all(CHINESE.search(heading) for heading in headings("zh")[1:])
    assert not any(CHINESE.search(heading) for heading in headings("en"))


def test_both_languages_have_the_same_commands_and_code() -> None:
    assert commands("en") == commands("zh")
    english, chinese = (
        [
            [without_comment(line) for line in text.splitlines()]
            for kind, text in blocks(language)
            if kind == "python"
        ]
        for language in READMES
    )
    assert english == chinese
    assert [kind for kind, _ in blocks("en")] == [kind for kind, _ in blocks("zh")]


def test_both_languages_have_the_same_lists_tables_and_figures() -> None:
    def outline(language: str) -> list[str]:
        lines = prose(language).splitlines()
        return [found.group() for line in lines if (found := re.match(r"\||-|\d\.|#+", line))]

    def measured(language: str) -> list[list[str]]:
        rows = [line for line in prose(language).splitlines() if line.startswith("| W")]
        return [row.split("|")[3:] for row in rows]

    assert outline("en") == outline("zh")
    assert measured("en") == measured("zh") != []


@pytest.mark.parametrize("name", READMES.values())
def test_the_file_is_utf8_with_plain_line_ends(name: str) -> None:
    content = (ROOT / name).read_bytes()
    assert content.decode("utf-8").endswith("\n")
    assert b"\r" not in content
