"""Each layer imports only what stands above it, and `import minigrad` brings in numpy alone. The
contracts themselves stand in pyproject.toml; the first tests here need no tool to read them."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ENGINE = [
    path
    for path in sorted((ROOT / "minigrad").rglob("*.py"))
    if "cli" not in path.relative_to(ROOT).parts
]

LOADED_BY_MINIGRAD = """
import json, sys
import numpy
before = set(sys.modules)
import minigrad
print(json.dumps(sorted({name.partition(".")[0] for name in set(sys.modules) - before})))
"""


def imported_by(source: str) -> set[str]:
    """Return the top-level packages that a module imports, wherever the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).partition(".")[0])
    return names


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_engine_imports_numpy_and_the_standard_library_only(path: Path) -> None:
    foreign = imported_by(path.read_text(encoding="utf-8")) - set(sys.stdlib_module_names)
    # A notebook shows a tensor, or a log of steps, as viz draws it when `_repr_html_` is called.
    allowed = {"minigrad", "numpy"} | ({"viz"} if path.name in ("tensor.py", "steps.py") else set())
    assert foreign <= allowed


def test_importing_minigrad_loads_numpy_and_the_standard_library_only() -> None:
    result = subprocess.run(
        [sys.executable, "-c", LOADED_BY_MINIGRAD],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(json.loads(result.stdout)) - set(sys.stdlib_module_names)
    assert "minigrad" in loaded
    assert loaded <= {"minigrad", "numpy"}


def test_the_import_contracts_hold() -> None:
    pytest.importorskip("importlinter", reason="import-linter comes with the dev extra")
    result = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    assert " 0 broken" in result.stdout
