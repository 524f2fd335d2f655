"""Writing a file whole or not at all, for everything that leaves a picture, a page or a copy."""

from __future__ import annotations

import errno
import os
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: beside its place first, then moved there in one step.

    Args:
        path: where the file shall be; missing folders are made.
        content: its bytes.

    Raises:
        OSError: the place cannot be written to; what stood there is untouched.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_whole(Path(folder) / "a" / "b.txt", b"all of it")
        ...     (Path(folder) / "a" / "b.txt").read_bytes()
        b'all of it'
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no file that can be replaced", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
