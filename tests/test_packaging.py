"""What a stranger receives: the metadata, and a wheel that works without the checkout. The wheel
is built by the slow test; `.ci/run` installs one for real, with its dependencies."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import minigrad

ROOT = Path(__file__).parent.parent
PACKAGES = ["minigrad", "attention", "viz"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

PAGES = ("step.html", "step.css", "rules.js", "step.js")
BUILD = "import sys, hatchling.build as b; print(b.build_wheel(sys.argv[1]))"
RUN = "from minigrad.cli import main; main()"


def test_the_distribution_and_the_import_have_their_own_names() -> None:
    assert PROJECT["project"]["name"] == "minigrad-lab"
    assert PROJECT["project"]["scripts"] == {"minigrad": "minigrad.cli:main"}


def test_the_version_stands_in_one_place_and_in_the_changelog() -> None:
    source = (ROOT / "minigrad" / "__init__.py").read_text(encoding="utf-8")
    assert f'__version__ = "{minigrad.__version__}"' in source
    assert f"## {minigrad.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_torch_is_no_requirement() -> None:
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = [*PROJECT["project"]["dependencies"], *(name for extra in extras for name in extra)]
    assert not [name for name in wanted if re.match(r"torch\b", name)]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


@pytest.mark.parametrize("name", ["pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_project_files_are_utf8_with_plain_line_ends(name: str) -> None:
    content = (ROOT / name).read_bytes()
    assert content.decode("utf-8").endswith("\n")
    assert b"\r" not in content


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="hatchling comes with the dev extra")
    directory = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(directory)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return directory / built.stdout.split()[-1]


@pytest.mark.slow
def test_the_wheel_carries_the_packages_the_lessons_and_their_data(wheel: Path) -> None:
    carried = set(zipfile.ZipFile(wheel).namelist())
    assert {f"viz/pages/{name}" for name in PAGES} <= carried
    expected = {f"{package}/py.typed" for package in PACKAGES}
    for path in (ROOT / "examples").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            expected.add(f"minigrad/_examples/{path.relative_to(ROOT / 'examples').as_posix()}")
    assert expected <= carried
    tops = {name.partition("/")[0] for name in carried}
    assert tops == {*PACKAGES, f"minigrad_lab-{minigrad.__version__}.dist-info"}


@pytest.mark.slow
def test_the_wheel_lists_and_runs_its_lessons_from_an_empty_folder(
    wheel: Path, tmp_path: Path
) -> None:
    installed, empty = tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    zipfile.ZipFile(wheel).extractall(installed)
    # -P keeps the current folder off the import path; the checkout must not be found either.
    start = [
        sys.executable,
        "-P",
        "-c",
        f"import sys; sys.path.insert(0, {str(installed)!r}); {RUN}",
    ]
    listed, ran = (
        subprocess.run(
            [*start, "examples", *arguments],
            cwd=empty,
            env={"PYTHONPATH": str(installed), "PYTHONIOENCODING": "utf-8", "LANG": "en_US.UTF-8"},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        for arguments in ([], ["02"])
    )
    assert "07_the_laboratory" in listed.stdout
    assert "Every number agrees" in ran.stdout
    assert list(empty.iterdir()) == []
