"""Loading queries, keys and values from a file of the user's own, `.npz` or `.safetensors`.

Whatever is wrong with the file ends in one `QKVError` whose message is one line. Nothing in a
file is ever run: pickles are refused. What to make of the arrays is the business of `heads`.

The safetensors format is read here, not by its library: that library cannot hand bfloat16 to
NumPy, it would be one more thing to install, and the format is a length, a JSON header and bytes.
"""

import json
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from numpy.lib.npyio import NpzFile

from minigrad.notation import visible

__all__ = ["QKV", "QKVError", "load_qkv"]

Array = npt.NDArray[Any]

NAMES = {"Q": ("Q", "q", "query"), "K": ("K", "k", "key"), "V": ("V", "v", "value")}
"""What each array may be called in a file."""

KNOWN_NAMES = {name for names in NAMES.values() for name in names} | {"weights", "tokens"}

LONGEST_HEADER = 100_000_000
"""Bytes; a safetensors header that claims more is damaged (the format sets this limit)."""

SAFETENSORS_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    # NumPy has no bfloat16: its two bytes are taken as they are, and lifted later.
    "BF16": "V2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
    "BOOL": "?",
}


class QKVError(ValueError):
    """A file that cannot be used; the message is one line that says why."""


@dataclass(frozen=True, slots=True)
class QKV:
    """Queries, keys and values of one or many heads.

    Attributes:
        source: the name of the file.
        query: (..., L, d_k), float32 or float64.
        key: (..., S, d_k), with the same leading axes.
        value: (..., S, d_v), with the same leading axes.
        weights: (..., L, S), the model's own attention, or None.
        tokens: what stands at the positions, or None.
    """

    source: str
    query: Array
    key: Array
    value: Array
    weights: Array | None = None
    tokens: tuple[str, ...] | None = None

    @property
    def leading(self) -> tuple[int, ...]:
        """The leading axes, such as (layers, heads)."""
        return self.query.shape[:-2]


def load_qkv(path: Path) -> QKV:
    """Load queries, keys and values.

    Args:
        path: a `.npz` or `.safetensors` file with arrays `Q` (..., L, d_k), `K` (..., S, d_k) and
            `V` (..., S, d_v), also under the names `q`, `query` and so on. bfloat16 and float16
            become float32, integers float64. Optional: `weights` (..., L, S), `tokens`.

    Raises:
        QKVError: the file is missing, damaged or of another kind, an array is missing, holds
            something else than finite numbers, or its shape does not fit the others'.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "head.npz"
        ...     np.savez(path, Q=np.ones((2, 3)), K=np.ones((5, 3)), V=np.ones((5, 4)))
        ...     load_qkv(path).value.shape
        (5, 4)

    Source:
        https://github.com/huggingface/safetensors#format
    """
    try:
        return _assemble(visible(path.name), _read(path))
    except QKVError as error:
        raise QKVError(visible(f"{path}: {error}")) from None


def _read(path: Path) -> dict[str, Array]:
    """The arrays of a file that have one of the names we know."""
    readers = {".npz": _read_npz, ".safetensors": _read_safetensors}
    if path.is_dir():
        raise QKVError("this is a folder; give a .npz or .safetensors file")
    if not path.exists():
        raise QKVError("there is no such file")
    if path.suffix.lower() not in readers:
        raise QKVError("expected a .npz or .safetensors file; pickles are never opened")
    try:
        return readers[path.suffix.lower()](path)
    except MemoryError:
        raise QKVError("it claims to hold more numbers than fit in memory") from None
    except OSError as error:
        raise QKVError(f"it cannot be read ({error.strerror or error})") from None


def _read_npz(path: Path) -> dict[str, Array]:
    # Opened here, because NumPy leaves the file open when it is not a whole archive.
    with path.open("rb") as file, _open_archive(file) as archive:
        return {name: _member(archive, name) for name in archive.files if name in KNOWN_NAMES}


def _open_archive(file: BinaryIO) -> NpzFile:
    try:
        archive = np.load(file, allow_pickle=False)
    except EOFError:
        raise QKVError("the file is empty") from None
    except (zipfile.BadZipFile, zlib.error):
        raise QKVError("the file is damaged or cut short (not a whole zip archive)") from None
    except ValueError:
        raise QKVError("this is not a .npz file; pickles are never opened") from None
    if not isinstance(archive, NpzFile):
        raise QKVError("this is a single array (.npy); a .npz with Q, K and V is needed")
    return archive


def _member(archive: NpzFile, name: str) -> Array:
    try:
        array = archive[name]
    except ValueError as error:
        if "allow_pickle" in str(error):
            message = f"{name} holds Python objects, which are never loaded; save plain numbers"
            raise QKVError(message) from None
        array = None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):
        array = None
    if not isinstance(array, np.ndarray):
        raise QKVError(f"{name} is damaged, cut short or not an array")
    return array


def _read_safetensors(path: Path) -> dict[str, Array]:
    size = path.stat().st_size
    with path.open("rb") as file:
        start, header = _read_header(file, size)
        return {
            name: _read_tensor(file, name, entry, start, size)
            for name, entry in header.items()
            if name in KNOWN_NAMES
        }


def _read_header(file: BinaryIO, size: int) -> tuple[int, Mapping[str, Any]]:
    """Where the numbers start, and the entries: name → dtype, shape, data_offsets."""
    prefix = file.read(8)
    length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else size
    if length > min(size - 8, LONGEST_HEADER):
        raise QKVError("the file is damaged or cut short (its header does not fit)")
    try:
        header = json.loads(file.read(length).decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise QKVError("this is not a safetensors file (its header is not JSON)")
    return 8 + length, header


def _read_tensor(file: BinaryIO, name: str, entry: Any, start: int, size: int) -> Array:
    try:
        code, shape = entry["dtype"], tuple(entry["shape"])
        first, last = entry["data_offsets"]
        sizes = all(isinstance(n, int) and n >= 0 for n in (*shape, first, last))
        whole = sizes and isinstance(code, str)
    except (KeyError, TypeError, ValueError):
        whole = False
    if not whole:
        raise QKVError(f"the header's entry for {name} is damaged")
    if code not in SAFETENSORS_DTYPES:
        raise QKVError(f"{name} has the dtype {code}; expected F64, F32, F16 or BF16")
    dtype = np.dtype(SAFETENSORS_DTYPES[code])
    if last - first != math.prod(shape) * dtype.itemsize:
        raise QKVError(f"the header's entry for {name} is damaged (its size does not fit)")
    if start + last > size:
        raise QKVError(f"the file is cut short: {name} ends after the file does")
    file.seek(start + first)
    return np.frombuffer(file.read(last - first), dtype=dtype).reshape(shape)


def _assemble(source: str, arrays: Mapping[str, Array]) -> QKV:
    """Find Q, K and V among the arrays of a file, lift them, and hold their shapes together."""
    parts = {part: _numbers(part, _find(part, arrays)) for part in NAMES}
    _check_shapes(parts)
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(parts["Q"] @ parts["K"].mT).all():
            raise QKVError(f"Q and K are so large that their products overflow {parts['Q'].dtype}")
    weights = arrays.get("weights")
    if weights is not None:
        weights = _numbers("weights", weights)
        expected = (*parts["Q"].shape[:-1], parts["K"].shape[-2])
        if weights.shape != expected:
            raise QKVError(f"weights has the shape {weights.shape}; Q and K ask for {expected}")
    return QKV(source, parts["Q"], parts["K"], parts["V"], weights, _tokens(arrays, parts["K"]))


def _find(part: str, arrays: Mapping[str, Array]) -> Array:
    for name in NAMES[part]:
        if name in arrays:
            return arrays[name]
    found = ", ".join(arrays) or "none of them"
    raise QKVError(f"the array {part} is missing: Q, K and V are needed, found {found}")


def _numbers(name: str, array: Array) -> Array:
    """The array in float32 or float64 and in the machine's byte order, all its numbers finite."""
    if array.dtype == np.dtype("V2"):
        # bfloat16 is the upper half of a float32; this is also how NumPy stores it in a .npz.
        array = (array.view("<u2").astype(np.uint32) << 16).view(np.float32)
    if array.dtype.kind not in "fiu":
        raise QKVError(f"{name} has the dtype {array.dtype}; numbers are needed")
    single = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    with np.errstate(over="ignore"):
        array = array.astype(np.float32 if single else np.float64)
    wrong = array.size - int(np.isfinite(array).sum())
    if wrong:
        first = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise QKVError(f"{name} has {wrong} entries that are NaN or infinite, the first at {first}")
    return array


def _check_shapes(parts: Mapping[str, Array]) -> None:
    shapes = ", ".join(f"{part} {array.shape}" for part, array in parts.items())
    query, key, value = (array.shape for array in parts.values())
    if min(map(len, (query, key, value))) < 2:
        raise QKVError(f"each array needs two axes or more, (..., length, width); got {shapes}")
    if 0 in (*query, *key, *value):
        raise QKVError(f"an array is empty: {shapes}")
    if not query[:-2] == key[:-2] == value[:-2]:
        raise QKVError(f"the leading axes differ: {shapes}")
    if query[-1] != key[-1]:
        raise QKVError(f"Q and K must have the same width d_k: {shapes}")
    if key[-2] != value[-2]:
        raise QKVError(f"K and V must have the same length: {shapes}")


def _tokens(arrays: Mapping[str, Array], key: Array) -> tuple[str, ...] | None:
    """The tokens if they are strings, one for each key; else they say nothing."""
    tokens = arrays.get("tokens")
    if tokens is None or tokens.dtype.kind != "U" or tokens.shape != (key.shape[-2],):
        return None
    return tuple([visible(token) for token in tokens.tolist()])
