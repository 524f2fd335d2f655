"""Running a layout engine on DOT: Graphviz's own `dot` where there is one, else graphviz-pure.

Whatever goes wrong, up to the writing of the picture, ends in one `DrawingError` that says what to
do. What is drawn is told in `drawing`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import unicodedata
import warnings
from pathlib import Path

from minigrad.files import write_whole

__all__ = [
    "DrawingError",
    "check_format",
    "find_engine",
    "has_wide",
    "lay_out",
    "text_width",
    "unwritable",
    "write_picture",
]

PURE = "graphviz-pure"


class DrawingError(RuntimeError):
    """A picture that could not be made or written; the text says why and what to do."""


def write_picture(target: Path, content: bytes) -> None:
    """Write a picture or a page whole or not at all.

    Raises:
        DrawingError: the place cannot be written to.
    """
    try:
        write_whole(target, content)
    except OSError as error:
        raise unwritable(str(target), error) from error


def unwritable(path: str, error: OSError) -> DrawingError:
    """The error that says why a file cannot be written, and what to do."""
    reason = error.strerror or error
    return DrawingError(f"{path!r} cannot be written: {reason}. Choose another place.")


def find_engine() -> tuple[str, str]:
    """The layout program, `dot` or `graphviz-pure`, and its path.

    Raises:
        DrawingError: there is neither.
    """
    if found := shutil.which("dot"):
        return "dot", found
    # Installed by pip, it lies beside Python even where that folder is not on PATH.
    places = (os.environ.get("PATH", ""), sysconfig.get_path("scripts"))
    if found := shutil.which(PURE, path=os.pathsep.join(places)):
        return PURE, found
    raise DrawingError(
        "no layout engine was found: run pip install graphviz-pure, or install Graphviz so that "
        "dot is on PATH. Mermaid and plain text (mermaid(), outline()) need neither."
    )


def check_format(format: str) -> None:
    """Raise the `DrawingError` that `lay_out` would end in, for want of a program or a format."""
    program, _ = find_engine()
    if format == "pdf" and program == PURE:
        raise _unknown(format, program)


def _unknown(format: str, program: str) -> DrawingError:
    pdf = ", pdf" if program == "dot" else "; for pdf install Graphviz"
    return DrawingError(f"{program} does not write {format!r}; choose svg, png, dot, json{pdf}.")


def lay_out(source: str, format: str, engine: str = "dot") -> bytes:
    """Lay out DOT source with the program that there is.

    Args:
        source: a graph in the DOT language.
        format: svg, png, dot, json, or another that the program knows; pdf needs Graphviz.
        engine: the algorithm.

    Raises:
        DrawingError: there is no program, it does not know the format, or it failed.

    Example:
        >>> lay_out("digraph { a -> b }", "svg")[:5]
        b'<?xml'
    """
    program, path = find_engine()
    command = [path, f"-K{engine}", f"-T{format}"]
    if format == "png":
        command.append("-Gdpi=144")
        _warn_of_lost_glyphs(source, program)
    try:
        ran = subprocess.run(command, input=source.encode(), capture_output=True, check=False)
    except OSError as error:
        raise DrawingError(f"{path} could not be started: {error}. Install it again.") from error
    if ran.returncode == 0 and ran.stdout:
        return ran.stdout
    said = ran.stderr.decode(errors="replace").strip()
    if "not recognized" in said:
        raise _unknown(format, program)
    raise DrawingError(f"{program} ended with status {ran.returncode}: {said[-300:]}")


def has_wide(text: str) -> bool:
    """Whether there are characters as wide as they are high in a text, as Chinese is."""
    return any(unicodedata.east_asian_width(c) in "WF" for c in text)


def text_width(text: str, size: float) -> float:
    """The width of a text in points, a little more than any common sans-serif font needs.

    The engines measure with fonts that may lack what the reader's has; so we do it ourselves.

    >>> text_width("猫", 10.0)
    10.0
    """
    return size * sum([_advance(c) for c in text])


def _advance(character: str) -> float:
    """In em."""
    if unicodedata.combining(character):
        return 0.0
    if has_wide(character):
        return 1.0
    if character in "ijl.,:;'|!·ft()[] ":
        return 0.36
    if character in "mwMWOQG@%⊙∂Σ−=+<>…‖√∞":
        return 0.9
    if ord(character) > 0x370:  # Greek and beyond
        return 0.85 if character.isupper() else 0.75
    return 0.64


# Beyond these a font for Latin, Greek and Cyrillic, which is all that graphviz-pure has, has gaps.
_PLAIN = re.compile("[\\x00-\\u04ff\\u1d2c-\\u1d6a\\u2010-\\u2044\\u2070-\\u209c∂∆∏∑−√∞≈≠≤≥�]*")


def _warn_of_lost_glyphs(source: str, program: str) -> None:
    if program == PURE:
        lost = sorted(set(_PLAIN.sub("", source)))
    elif shutil.which("fc-list") and not _has_chinese_font():
        lost = sorted({c for c in source if has_wide(c)})
    else:
        return
    if lost:
        warnings.warn(
            f"this PNG has no glyphs for {' '.join(lost[:12])}, which become empty squares. "
            "Write an SVG instead: its text stays text, and every browser shows it.",
            stacklevel=2,
        )


def _has_chinese_font() -> bool:
    listed = subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True, check=False)
    return listed.returncode != 0 or bool(listed.stdout.strip())
