"""Exercises as Jupyter notebooks: the page, the stub to edit, a cell to try it, a cell to check it.

nbformat writes them. The cell with the stub saves itself as exercise.py, so that notebook, command
and grader look at one and the same file.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from minigrad.coursework.exercise import Exercise
from minigrad.coursework.values import Text
from minigrad.coursework.workbench import keep
from minigrad.files import write_whole

WRITE = Text(
    "Write your answer in this cell. Running it saves it as exercise.py, over what is there: work "
    "either here or in that file.",
    "请在下面的单元中作答。运行它会把内容保存为 exercise.py，并覆盖原有内容：请只在这里，"
    "或只在那个文件里编写。",
)
TRY = Text("Try what you wrote:", "试一试你写的内容：")
CHECK = Text(
    "Run the cell with your code again after every change, and then this one:",
    "每次修改代码后，请先重新运行代码单元，再运行这一个：",
)


class NotebookError(Exception):
    """Notebooks cannot be written; the text says what is missing."""


def write_notebooks(
    folder: Path, known: list[Exercise], language: str, *, force: bool = False
) -> list[Path]:
    """A notebook beside every stub; those that are there already are left alone, or kept beside it.

    Errors: `NotebookError` if nbformat is not installed.
    """
    library, written = nbformat(), []
    for exercise in known:
        target = folder / exercise.name / "exercise.ipynb"
        if target.exists() and not force:
            continue
        if target.exists():
            keep(target)
        text = library.writes(notebook(library, exercise, language))
        write_whole(target, (text + "\n").encode())
        written.append(target)
    return written


def nbformat() -> Any:
    """The library. Errors: `NotebookError` if it is not installed."""
    try:
        return importlib.import_module("nbformat")
    except ImportError:
        raise NotebookError(
            'notebooks are written by nbformat: pip install "minigrad-lab[notebooks]"'
        ) from None


def notebook(library: Any, exercise: Exercise, language: str) -> Any:
    """The notebook of one exercise, checked against the notebooks' own schema."""
    page = "README.zh-CN.md" if language == "zh" else "README.md"
    stub = (exercise.folder / "exercise.py").read_text(encoding="utf-8").rstrip()
    cells = library.v4
    made = cells.new_notebook(
        cells=[
            cells.new_markdown_cell((exercise.folder / page).read_text(encoding="utf-8").strip()),
            cells.new_markdown_cell(WRITE.of(language)),
            cells.new_code_cell(f"%%writefile exercise.py\n{stub}"),
            cells.new_markdown_cell(TRY.of(language)),
            cells.new_code_cell("%run exercise.py"),
            cells.new_markdown_cell(CHECK.of(language)),
            cells.new_code_cell(
                "from minigrad.cli.exercises import check\n\n"
                f'check("{exercise.name}", language="{language}")'
            ),
        ],
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
    )
    for number, cell in enumerate(made.cells):
        cell.id = f"{exercise.name}-{number}"  # the same whenever it is written
    library.validate(made)
    return made
