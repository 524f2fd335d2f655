"""Reading queries, keys and values from files: what is accepted, how all else is refused."""

import contextlib
import io
import json
import math
import pickle
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.experiments import QKVError, load_qkv

Array = npt.NDArray[Any]


def draw(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def head(**changes: Any) -> dict[str, Any]:
    """Arrays of two layers of three heads, with some of them changed; None takes one away."""
    arrays: dict[str, Any] = {"Q": draw(2, 3, 4, 8), "K": draw(2, 3, 5, 8), "V": draw(2, 3, 5, 6)}
    return {name: value for name, value in (arrays | changes).items() if value is not None}


def npz(path: Path, arrays: Mapping[str, Any]) -> Path:
    np.savez(path, **arrays)
    return path


def safetensors(entries: Mapping[str, tuple[str, tuple[int, ...], bytes]], **more: Any) -> bytes:
    """The bytes of a safetensors file, written by hand from the format's description."""
    header: dict[str, Any] = dict(more)
    data = b""
    for name, (dtype, shape, content) in entries.items():
        offsets = [len(data), len(data) + len(content)]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": offsets}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def bfloat16(array: Array) -> Array:
    """The upper halves of float32 numbers, as unsigned integers."""
    return (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def three(dtype: str, content: bytes, shape: tuple[int, ...]) -> dict[str, Any]:
    return dict.fromkeys("QKV", (dtype, shape, content))


# --------------------------------------------------------------------------------- what is read


@pytest.mark.parametrize("names", ["QKV", "qkv", ("query", "key", "value")])
def test_arrays_are_found_under_their_usual_names(tmp_path: Path, names: tuple[str, ...]) -> None:
    arrays = dict(zip(names, head().values(), strict=True))
    loaded = load_qkv(npz(tmp_path / "a.npz", arrays))
    for found, expected in zip(
        (loaded.query, loaded.key, loaded.value), head().values(), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    assert (loaded.source, loaded.leading) == ("a.npz", (2, 3))
    assert loaded.weights is None
    assert loaded.tokens is None


@pytest.mark.parametrize(
    ("stored", "lifted"),
    [("<f2", "f4"), ("<f4", "f4"), ("<f8", "f8"), (">f4", "f4"), ("<i4", "f8"), ("u1", "f8")],
)
def test_numbers_are_lifted_to_single_or_double(tmp_path: Path, stored: str, lifted: str) -> None:
    array = (4.0 * draw(4, 8)).clip(0).astype(stored)
    loaded = load_qkv(npz(tmp_path / "a.npz", {"Q": array, "K": array, "V": array}))
    assert loaded.query.dtype == np.dtype(lifted)
    assert loaded.query.dtype.isnative
    np.testing.assert_array_equal(loaded.query, array.astype(lifted))


def test_bfloat16_is_lifted_from_both_formats(tmp_path: Path) -> None:
    half = bfloat16(draw(4, 8))
    expected = (half.astype(np.uint32) << 16).view(np.float32)
    assert np.abs(expected - draw(4, 8)).max() < 0.02
    # NumPy has no bfloat16; a file written with ml_dtypes has two bytes without a meaning.
    stored = half.view("V2")
    npz(tmp_path / "a.npz", {"Q": stored, "K": stored, "V": stored})
    content = safetensors(three("BF16", half.tobytes(), (4, 8)))
    (tmp_path / "a.safetensors").write_bytes(content)
    for name in ("a.npz", "a.safetensors"):
        loaded = load_qkv(tmp_path / name)
        np.testing.assert_array_equal(loaded.query, expected)
        assert loaded.query.dtype == np.float32


@pytest.mark.parametrize(("code", "dtype"), [("F16", "<f2"), ("F32", "<f4"), ("F64", "<f8")])
def test_safetensors_of_each_precision(tmp_path: Path, code: str, dtype: str) -> None:
    array = draw(2, 4, 8).astype(dtype)
    content = safetensors(three(code, array.tobytes(), array.shape), __metadata__={"format": "pt"})
    (tmp_path / "A.SafeTensors").write_bytes(content)
    np.testing.assert_array_equal(load_qkv(tmp_path / "A.SafeTensors").value, array)


def test_the_librarys_own_files_are_read_the_same(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors.numpy")
    arrays = {name: value.astype(np.float16) for name, value in head().items()}
    library.save_file(arrays | {"other": np.arange(3)}, tmp_path / "a.safetensors")
    loaded = load_qkv(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(loaded.key, arrays["K"].astype(np.float32))


def test_weights_and_tokens_come_along(tmp_path: Path) -> None:
    weights = np.full((2, 3, 4, 5), 0.2)
    arrays = head(weights=weights, tokens=np.array(["猫", "吃", "鱼", "\x1b[31m", "."]))
    loaded = load_qkv(npz(tmp_path / "a.npz", arrays))
    assert loaded.weights is not None
    np.testing.assert_array_equal(loaded.weights, weights)
    assert loaded.tokens == ("猫", "吃", "鱼", "�[31m", ".")


def test_tokens_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    assert load_qkv(npz(tmp_path / "a.npz", head(tokens=np.array(["one"])))).tokens is None
    assert load_qkv(npz(tmp_path / "b.npz", head(tokens=np.arange(5)))).tokens is None


# ------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"V": None}, "the array V is missing: Q, K and V are needed, found Q, K"),
        ({"Q": draw(8), "K": draw(8), "V": draw(8)}, "two axes or more"),
        ({"Q": draw(2, 3, 4, 7)}, "Q and K must have the same width d_k"),
        ({"V": draw(2, 3, 4, 6)}, "K and V must have the same length"),
        ({"K": draw(2, 1, 5, 8)}, "the leading axes differ: Q (2, 3, 4, 8), K (2, 1, 5, 8)"),
        ({"Q": draw(2, 3, 0, 8)}, "an array is empty"),
        ({"Q": draw(2, 3, 4, 8) * np.nan}, "Q has 192 entries that are NaN or infinite"),
        ({"V": np.full((2, 3, 5, 6), np.inf)}, "the first at (0, 0, 0, 0)"),
        ({"K": np.array([["a", "b"]])}, "K has the dtype <U1; numbers are needed"),
        ({"K": np.ones((2, 3, 5, 8), dtype=bool)}, "K has the dtype bool"),
        ({"K": np.ones((2, 3, 5, 8), dtype=complex)}, "K has the dtype complex128"),
        ({"Q": np.array([[{}]], dtype=object)}, "Q holds Python objects, which are never loaded"),
        (
            {"weights": np.ones((4, 5))},
            "weights has the shape (4, 5); Q and K ask for (2, 3, 4, 5)",
        ),
        ({"weights": np.full((2, 3, 4, 5), np.nan)}, "weights has 120 entries that are NaN"),
    ],
)
def test_arrays_that_cannot_be_used(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    complaint = refusal(npz(tmp_path / "a.npz", head(**changes)))
    assert message in complaint
    assert "a.npz: " in complaint


def refusal(path: Path) -> str:
    """The one line with which a file is refused."""
    with pytest.raises(QKVError) as caught:
        load_qkv(path)
    message = str(caught.value)
    assert message.isprintable()
    return message


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert "there is no such file" in refusal(tmp_path / "none.npz")
    assert "this is a folder" in refusal(tmp_path)
    assert "there is no such file" in refusal(tmp_path / "a\n\x1b[2J.npz")


@pytest.mark.parametrize("suffix", [".pkl", ".pt", ".txt", ""])
def test_files_of_another_kind(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_bytes(b"anything")
    assert "expected a .npz or .safetensors file" in refusal(path)


def test_a_single_array_is_not_enough(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, draw(4, 8))
    (tmp_path / "a.npz").write_bytes(buffer.getvalue())
    assert "a single array" in refusal(tmp_path / "a.npz")


class Trap:
    """An object whose unpickling writes a file: the proof that something was run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_is_never_run(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    (tmp_path / "a.npz").write_bytes(pickle.dumps(Trap(sprung)))
    assert "pickles are never opened" in refusal(tmp_path / "a.npz")
    objects = np.array([[Trap(sprung)]], dtype=object)
    assert "never loaded" in refusal(npz(tmp_path / "b.npz", head(Q=objects)))
    assert not sprung.exists()
    pickle.loads(pickle.dumps(Trap(sprung)))
    assert sprung.exists()


@pytest.mark.parametrize("name", ["a.npz", "a.safetensors"])
def test_an_empty_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    refusal(tmp_path / name)


def test_every_cut_of_a_file_is_refused(tmp_path: Path) -> None:
    whole = {
        "a.npz": npz(tmp_path / "whole.npz", head()).read_bytes(),
        "a.safetensors": safetensors(three("F32", draw(4, 8).tobytes(), (4, 8))),
    }
    for name, content in whole.items():
        for length in np.linspace(0, len(content) - 1, 25).astype(int):
            (tmp_path / name).write_bytes(content[:length])
            refusal(tmp_path / name)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"dtype": "F32", "shape": [4, 8]}, "entry for Q is damaged"),
        ({"dtype": "F32", "shape": [4, 8], "data_offsets": [0]}, "entry for Q is damaged"),
        ({"dtype": "F32", "shape": [4, -8], "data_offsets": [0, 128]}, "entry for Q is damaged"),
        ({"dtype": "F32", "shape": [4, 9], "data_offsets": [0, 128]}, "its size does not fit"),
        ({"dtype": "F32", "shape": [4, 8], "data_offsets": [-128, 0]}, "entry for Q is damaged"),
        ({"dtype": "F32", "shape": [4, 8], "data_offsets": [900, 1028]}, "cut short: Q ends"),
        ({"dtype": "F32", "shape": "48", "data_offsets": [0, 128]}, "entry for Q is damaged"),
        ({"dtype": "F8_E4M3", "shape": [4, 8], "data_offsets": [0, 32]}, "the dtype F8_E4M3"),
        ({"dtype": ["F32"], "shape": [4, 8], "data_offsets": [0, 128]}, "entry for Q is damaged"),
        ("nothing", "entry for Q is damaged"),
    ],
)
def test_safetensors_headers_that_lie(tmp_path: Path, entry: Any, message: str) -> None:
    text = json.dumps({"Q": entry}).encode()
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(128))
    assert message in refusal(tmp_path / "a.safetensors")


@pytest.mark.parametrize("header", [b"[]", b"not JSON", b"\xff\xfe", b"[" * 100_000])
def test_safetensors_headers_that_are_none(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    assert "not a safetensors file" in refusal(tmp_path / "a.safetensors")


def test_a_header_longer_than_the_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", 2**60) + b"{}")
    assert "its header does not fit" in refusal(tmp_path / "a.safetensors")


def test_names_from_a_file_cannot_steer_the_terminal(tmp_path: Path) -> None:
    content = safetensors({"\x1b[2J": ("F32", (1,), bytes(4))})
    (tmp_path / "a.safetensors").write_bytes(content)
    assert "\x1b" not in refusal(tmp_path / "a.safetensors")


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_damaged_file_is_read_or_refused_but_never_crashes(data: st.DataObject) -> None:
    arrays = three("F32", draw(4, 8).tobytes(), (4, 8))
    with tempfile.TemporaryDirectory() as folder:
        whole = npz(Path(folder) / "a.npz", {name: draw(4, 8) for name in "QKV"})
        for name, content in (
            ("a.npz", bytearray(whole.read_bytes())),
            ("a.safetensors", bytearray(safetensors(arrays))),
        ):
            position = data.draw(st.integers(0, len(content) - 1))
            content[position] ^= data.draw(st.integers(1, 255))
            path = Path(folder) / name
            path.write_bytes(content)
            # Anything but a QKVError ends the test.
            with contextlib.suppress(QKVError):
                assert math.prod(load_qkv(path).query.shape) > 0
