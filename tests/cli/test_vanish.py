"""`minigrad vanish`: what it prints and writes, and how it ends when something is wrong.

The numbers themselves are tested in `tests/attention/test_experiments*.py`.
"""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from attention.experiments import PLACES, Check, DifferenceCheck
from minigrad.cli import app
from minigrad.cli import vanish as vanish_module

ROOT = Path(__file__).parents[2]
MINILM = ROOT / "examples" / "data" / "minilm_qkv.npz"
SMALL = ("--d-k", "4,64", "--rows", "80")


def run(*arguments: str | Path, language: str = "en") -> Result:
    words = ["vanish", *map(str, arguments), "--language", language]
    return CliRunner().invoke(app, words)


def complaint(result: Result, status: int = 2) -> str:
    """The one line on standard error with which a command ended."""
    assert result.exit_code == status, result.output
    assert result.stderr.count("\n") == 1, result.stderr
    assert "Traceback" not in result.output
    return result.stderr


@pytest.fixture(scope="module")
def small() -> Result:
    return run(*SMALL)


# -------------------------------------------------------------------------------- what is printed


def test_both_arms_stand_side_by_side(small: Result) -> None:
    assert small.exit_code == 0, small.output
    assert small.stdout.startswith(
        "8 keys, 80 queries for each d_k, float64, seed 0, V of width 64"
    )
    arms = [line for line in small.stdout.splitlines() if "without the scale  " in line]
    assert len(arms) == 3
    assert all("with 1/√d_k" in line for line in arms)


def test_every_place_and_quantity_is_printed(small: Result) -> None:
    lines = [line.strip() for line in small.stdout.splitlines()]
    for place in PLACES:
        assert place in lines
    for heading in ("spread", "theory", "max p", "entropy", "dead", "starved", "zeros"):
        assert heading in small.stdout
    for heading in ("median", "1 %", "99 %", "RMS"):
        assert heading in small.stdout
    rows = [line.split() for line in lines if line.startswith("64 ")]
    assert len(rows) == 2 + len(PLACES)
    assert rows[0][1:3] != rows[0][5:7]
    assert rows[0][2] == "8.00"
    assert rows[0][6] == "1.00"


def test_no_line_is_wider_than_a_terminal(small: Result) -> None:
    assert max(len(line) for line in small.stdout.splitlines()) <= 80


def test_the_gradient_check_is_reported_and_three_sentences_end_it(small: Result) -> None:
    paragraphs = [" ".join(text.split()) for text in small.stdout.strip().split("\n\n")]
    typical, query, value = paragraphs[-3:]
    assert paragraphs[-4].startswith("Gradients against finite differences")
    assert typical.startswith("The typical row dies: at d_k = 64")
    assert query.startswith("Yet the RMS of ∂L/∂Q without the scale grows")
    assert value.startswith("V is untouched")


def test_chinese_is_printed_when_asked() -> None:
    result = run(*SMALL, language="zh")
    assert result.exit_code == 0
    assert "典型的一行会“死”：d_k = 64" in result.stdout
    assert "不缩放" in result.stdout
    assert "without" not in result.stdout


@pytest.mark.slow
def test_quick_measures_less() -> None:
    result = run("--quick")
    assert result.exit_code == 0
    assert "400 queries" in result.stdout
    assert "at d_k = 256" in result.stdout
    assert "1024" not in result.stdout
    assert "8 queries" in run("--quick", "--rows", "8", "--d-k", "4").stdout


def test_options_reach_the_study(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    options = ["--d-k", "8,4,8", "--keys", "3", "--rows", "7", "--seed", "5"]
    result = run(*options, "--dtype", "float32", "--upstream-width", "d_k", "--json", path)
    assert result.exit_code == 0, result.output
    settings = json.loads(path.read_text(encoding="utf-8"))["settings"]
    assert settings == {
        "d_k": [8, 4],
        "keys": 3,
        "rows": 7,
        "seed": 5,
        "dtype": "float32",
        "upstream_width": None,
    }
    assert "V of width d_k" in result.stdout


def test_real_heads_are_reported_head_by_head() -> None:
    result = run("--qkv", MINILM)
    assert result.exit_code == 0, result.output
    assert "72 heads, 12 queries × 12 keys, d_k = 32" in " ".join(result.stdout.split())
    lines = [line.strip() for line in result.stdout.splitlines()]
    assert sum(line.startswith("[") and ", " in line.split("]")[0] for line in lines) == 72
    assert "differ by at most 6.0e-07" in result.stdout
    assert "52 of 72 heads are saturated" in result.stdout
    assert max(len(line) for line in lines) <= 80
    assert "52 个饱和" in run("--qkv", MINILM, language="zh").stdout


def test_the_closed_forms_are_printed_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    good = Check("std of q·k", "d_k = 64", "√d_k", 8.01, 8.0, 0.1)
    monkeypatch.setattr(vanish_module, "closed_form_checks", lambda **_: (good,))
    result = run(*SMALL, "--checks")
    assert result.exit_code == 0
    assert "8.00 ± 0.100" in result.stdout
    bad = Check("std of q·k", "d_k = 64", "√d_k", 9.0, 8.0, 0.1)
    monkeypatch.setattr(vanish_module, "closed_form_checks", lambda **_: (good, bad))
    result = run(*SMALL, "--checks")
    assert complaint(result, 1) == "minigrad: these checks did not pass: std of q·k (d_k = 64)\n"
    assert "OFF" in result.stdout


def test_a_wrong_gradient_ends_the_command_with_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: Any, **options: Any) -> list[DifferenceCheck]:
        return [
            DifferenceCheck(
                "softmax input", options["d_k"], options["scaled"], 4, 8, 8, 0, 0.5, 1.0
            )
        ]

    monkeypatch.setattr("attention.experiments.study.check_random_head", wrong)
    result = run("--d-k", "4", "--rows", "8")
    assert "softmax input at d_k = 4 without the scale: relative error 0.5" in complaint(result, 1)
    assert "the worst relative error of a row is 0.500" in " ".join(result.stdout.split())


# -------------------------------------------------------------------------------- what is written


@pytest.mark.slow
def test_all_files_are_written_and_nothing_else(tmp_path: Path) -> None:
    names = {"--plot": "v.PNG", "--json": "v.json", "--csv": "v.csv", "--html": "new/v.html"}
    options = [word for name, file in names.items() for word in (name, tmp_path / file)]
    result = run(*SMALL, *options)
    assert result.exit_code == 0, result.output
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {str(Path(name)) for name in names.values()}
    assert (tmp_path / "v.PNG").read_bytes().startswith(b"\x89PNG")
    study = json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))
    assert [width["d_k"] for width in study["widths"]] == [4, 64]
    assert len(study["findings"]) == 3
    lines = list(csv.DictReader((tmp_path / "v.csv").read_text(encoding="utf-8").splitlines()))
    assert {line["scaled"] for line in lines} == {"true", "false"}
    page = (tmp_path / "new" / "v.html").read_text(encoding="utf-8")
    assert "Gradients against finite differences" in page
    assert result.stderr.count("wrote") == 4


def test_an_interrupted_run_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "v.json"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr(vanish_module, "gradient_study", interrupted)
    assert "interrupted" in complaint(run("--json", path), 130)
    assert [file.name for file in tmp_path.iterdir()] == ["v.json"]
    assert path.read_text(encoding="utf-8") == "old"


def test_a_lack_of_memory_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(vanish_module, "gradient_study", exhausted)
    assert "not enough memory" in complaint(run(), 1)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows sends no SIGINT to a child")
def test_ctrl_c_ends_a_real_run_with_status_130(tmp_path: Path) -> None:
    command = "from minigrad.cli import main; main()"
    options = ["--rows", "1000000", "--json", str(tmp_path / "v.json"), "--language", "en"]
    process = subprocess.Popen(
        [sys.executable, "-c", command, "vanish", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(3.0)
    process.send_signal(signal.SIGINT)
    try:
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()  # where Ctrl-C is ignored, as below nohup, it would run for an hour
    assert process.returncode == 130
    assert errors.decode().strip().endswith("minigrad: interrupted; nothing was written")
    assert output == b""
    assert list(tmp_path.iterdir()) == []


# -------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--d-k", "4,x"], "--d-k takes a whole number, not 'x'"),
        (["--d-k", ""], "--d-k takes a whole number, not ''"),
        (["--d-k", "4,0"], "d_k must be at least 1, not 0"),
        (["--keys", "1"], "keys must be at least 2, not 1"),
        (["--keys", "many"], "--keys takes a whole number, not 'many'"),
        (["--rows", "0"], "rows must be at least 1, not 0"),
        (["--rows", "1.5"], "--rows takes a whole number, not '1.5'"),
        (["--seed", "-1"], "seed must be at least 0, not -1"),
        (["--dtype", "int8"], "dtype must be float16, float32 or float64, not 'int8'"),
        (["--upstream-width", "wide"], "--upstream-width takes a whole number, not 'wide'"),
        (["--upstream-width", "0"], "upstream_width must be at least 1, not 0"),
        (["--plot", "v.gif"], "--plot saves .png, .svg, .pdf, not 'v.gif'"),
        (["--json", "."], "'.' is a folder; give the name of a file in it"),
        (["--qkv", MINILM, "--keys", "4"], "--keys: not with --qkv, where the file decides"),
        (["--qkv", MINILM, "--quick"], "--quick: not with --qkv"),
        (["--qkv", MINILM, "--seed", "-1"], "seed must be at least 0, not -1"),
    ],
)
def test_options_that_make_no_sense(arguments: list[str | Path], message: str) -> None:
    assert message in complaint(run(*arguments))


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    assert "there is no such file" in complaint(run("--qkv", tmp_path / "none.npz"))
    assert "this is a folder" in complaint(run("--qkv", tmp_path))
    cut = tmp_path / "cut.npz"
    cut.write_bytes(MINILM.read_bytes()[:5000])
    assert "damaged or cut short" in complaint(run("--qkv", cut))
    np.savez(tmp_path / "nan.npz", Q=np.full((2, 2), np.nan), K=np.ones((2, 2)), V=np.ones((2, 2)))
    assert "NaN" in complaint(run("--qkv", tmp_path / "nan.npz"))
    np.savez(tmp_path / "two.npz", Q=np.ones((2, 2)), K=np.ones((2, 2)))
    assert "the array V is missing" in complaint(run("--qkv", tmp_path / "two.npz"))


def test_a_place_that_cannot_be_written_to_costs_neither_the_numbers_nor_the_other_file(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    paths = tmp_path / "file" / "v.json", tmp_path / "v.csv"
    result = run("--d-k", "4", "--rows", "8", "--json", paths[0], "--csv", paths[1])
    assert result.exit_code == 2
    assert "minigrad: cannot write" in result.stderr
    assert "Traceback" not in result.output
    assert "softmax input" in result.stdout
    assert paths[1].exists()
