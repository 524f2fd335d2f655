"""Every lesson in `examples/` runs on its own, says what it promises, and stays short. How the
command finds and copies them is tested in `tests/cli/test_examples_command.py`."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))
REFERENCE = Path(__file__).parent / "reference" / "lessons.json"

# What each lesson has to have said by its end: numbers and words of the lessons themselves.
CLAIMS = {
    "01_first_backward": ["a     33.000    33.000       33.000", "the loss falls to 16.6"],
    "02_cat_eats_fish": [
        "猫    0.27    0.27    0.45",
        "猫    1.18    0.27    0.27    1.18",
        "吃    0.09    0.67    0.24",
        "∂L/∂K",
        "Every number agrees",
    ],
    "03_four_one_hot_words": ["scores (4, 4)", "output (4, 6)", "0.2485", "within 0.01 of ¼"],
    "04_shapes_and_batches": ["(8, 6)", "(2, 4, 64)", "(2, 4, 4)", "猫 吃 鱼"],
    "05_dot_exponent_base": [
        "[-2.  4. -1.]",
        "[0.1667 0.3333 0.5   ]",
        "[0.09   0.2447 0.6652]",
        "[0.1429 0.2857 0.5714]",
        "factor ln 2",
    ],
    "06_who_starves": ["matmul", "(3, 3)", "W_V does not"],
    "07_the_laboratory": ["1.98", "4.01", "8.04", "0.49", "0.79", "0.90", "0.32", "0.39", "0.38"],
    "08_stepping": [
        "∂L/∂scaled = weights ⊙ (G − Σ G ⊙ weights): norm 0.495",
        "each row sums to 0",
        "All 7 contributions agree",
        "to the last bit",
    ],
    "09_accumulation": [
        "1/3  ∂L/∂x = G ",
        "3/3  ∂L/∂x = G ⊙ x",
        "sum over axis 0 brings (2, 3)",
    ],
    "10_lock_step": [
        "25 of 32 rows are saturated",
        "∂L/∂scaled         2.3e-05",
        "as a whole, lives",
    ],
    "11_find_the_nan": ["the first NaN on the way back", "nan = 0.0 · (-inf)"],
}


# The pages that a lesson leaves in the folder it is run in.
PAGES = {
    "08_stepping": ["08_stepping.html"],
    "09_accumulation": ["09_accumulation.html"],
    "10_lock_step": ["10_random.html", "10_real_head.html"],
    "11_find_the_nan": ["11_find_the_nan.html"],
}


def run(path: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, str(path), *arguments],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
        **options,
    )


def test_there_is_a_claim_for_every_lesson() -> None:
    assert [path.stem for path in EXAMPLES] == list(CLAIMS)


QUICK = ("01_first_backward", "02_cat_eats_fish", "08_stepping")  # the others run with the slow
RUN = [
    pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else [pytest.mark.slow])
    for path in EXAMPLES
]


@pytest.mark.parametrize("path", RUN)
def test_a_lesson_says_what_it_promises(path: Path, tmp_path: Path) -> None:
    result = run(path, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    missing = [claim for claim in CLAIMS[path.stem] if claim not in result.stdout]
    assert not missing, result.stdout
    left = sorted(tmp_path.iterdir())
    assert [page.name for page in left] == PAGES.get(path.stem, [])
    assert all(page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>") for page in left)


@pytest.mark.slow
@pytest.mark.parametrize("path", RUN)
def test_a_lesson_speaks_chinese_too(path: Path, tmp_path: Path) -> None:
    result = run(path, "--language", "zh", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert sum("一" <= character <= "鿿" for character in result.stdout) > 10


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_lesson_is_under_sixty_lines_and_opens_with_two_titles(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) < 60
    english, chinese, blank = (ast.get_docstring(ast.parse(source)) or "").splitlines()[:3]
    assert english.endswith(".")
    assert chinese.endswith("。")
    assert blank == ""


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("02_cat_eats_fish", ["cat_eats_fish", "scaled", "grad", "K"]),
        ("02_cat_eats_fish", ["cat_eats_fish", "unscaled", "context"]),
        ("03_four_one_hot_words", ["one_hot_words", "output"]),
        ("04_shapes_and_batches", ["cat_eats_fish", "scaled", "context"]),
        ("05_dot_exponent_base", ["normalisations", "base2", "p"]),
    ],
)
def test_a_lesson_fails_when_its_reference_disagrees(
    tmp_path: Path, name: str, keys: list[str]
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    data = tmp_path / "examples" / "data" / "lessons.json"
    lesson = json.loads(data.read_text(encoding="utf-8"))
    values = lesson
    for key in keys:
        values = values[key]
    row = values[-1] if isinstance(values[-1], list) else values
    row[-1] += 1e-6
    data.write_text(json.dumps(lesson), encoding="utf-8")
    assert run(tmp_path / "examples" / f"{name}.py").returncode == 1


def test_the_lessons_read_the_reference_that_the_tests_read() -> None:
    shipped = ROOT / "examples" / "data" / "lessons.json"
    assert shipped.read_bytes() == REFERENCE.read_bytes()
