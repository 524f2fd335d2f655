"""What comes back of a student's process, and when it is right."""

import json
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor
from minigrad.coursework.values import (
    LARGEST,
    Foreign,
    Raised,
    decode,
    decode_all,
    difference,
    encode,
    encode_all,
    identical,
)

ARRAYS = [
    np.array([1.0, np.nan, -np.inf]),
    np.array(3.5, np.float32),
    np.zeros((0, 3)),
    np.arange(6).reshape(2, 3),
    np.array([True, False]),
    np.array([1 + 2j]),
    np.array([1.0, 2.0], ">f8"),
    np.arange(6.0).reshape(2, 3).T,
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda x: f"{x.dtype}{x.shape}")
def test_an_array_comes_back_as_it_went(array: Any) -> None:
    back = decode(json.loads(json.dumps(encode(array))))
    assert (back.shape, back.dtype) == (array.shape, array.dtype)
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "NoneType"),
        ("text", "str"),
        (object(), "object"),
        ([np.zeros(2)], "list"),
        (np.array(["a"]), "NumPy array"),
        (np.array([None]), "NumPy array"),
        (np.broadcast_to(np.zeros(1), (LARGEST,)), "very large array"),
    ],
)
def test_what_is_no_number_comes_back_as_a_description(value: Any, kind: str) -> None:
    back = decode(encode(value))
    assert isinstance(back, Foreign)
    assert back.kind == kind
    assert len(encode("x" * 10**6)["text"]) <= 500


@pytest.mark.parametrize(
    "told",
    [
        3,
        {"dtype": "O", "shape": [1], "data": "AAAAAAAAAAA="},
        {"dtype": "U1", "shape": [1], "data": "AAAA"},
        {"dtype": "f8", "shape": [2], "data": "AAAAAAAAAAA="},
    ],
)
def test_what_was_never_encoded_is_refused(told: Any) -> None:
    with pytest.raises(ValueError, match=r"told|number|size|buffer|reshape"):
        decode(told)


def test_constants_are_plain_numbers_by_name() -> None:
    observed = {"a": np.ones(2), "#constants a": {"n": 3, "√d_k": 2.5}}
    back = decode_all(json.loads(json.dumps(encode_all(observed))))
    assert back["#constants a"] == {"n": 3.0, "√d_k": 2.5}


RIGHT = [
    (1.0 + 1e-9, 1.0),
    (np.array([np.inf, 2.0]), np.array([np.inf, 2.0])),
    (Tensor([1.0, 2.0]), np.array([1.0, 2.0])),
    (np.array([1.0, 2.0], np.float32), np.array([1.0, 2.0])),
    (3, 3.0),
    (Raised("ValueError", "猫", 7, "Add"), Raised("ValueError", "吃")),
]
WRONG = [
    (1.0 + 1e-5, 1.0, "in place of 1"),
    (np.array([np.inf, 2.001]), np.array([np.inf, 2.0]), "entry [1] is 2.001"),
    (np.array([np.nan]), np.array([1.0]), "NaN"),
    (1.0, np.array([1.0]), "shape is () in place of (1,)"),
    (np.array([[1.0]]), np.array([1.0]), "shape is (1, 1)"),
    (np.array([1, 2]), np.array([1.0, 2.0]), "dtype is int64 in place of float64"),
    (1 + 0j, 1.0, "complex"),
    (np.array([1.0, 0.0]), np.array([1.0, 1e-5]), "1 of 2 entries is off"),
    (Foreign("named", "y"), Foreign("named", "x"), "it is named y in place of named x"),
    (1.0, Foreign("named", "x"), "in place of named x"),
    (np.array([]), Foreign("named", "x"), "it is array in place of named x"),
    (np.array([0.100001], np.float32), np.array([0.1]), "its dtype is float32 in place of float64"),
    (Raised("ValueError", "猫", 7, "Add"), 1.0, "line 7: ValueError: 猫"),
    (Raised("ValueError", "猫", 3), Raised("TypeError", "猫"), "ValueError: 猫"),
]


@pytest.mark.parametrize(("value", "right"), RIGHT)
def test_rounding_is_right(value: Any, right: Any) -> None:
    assert difference(value, right) is None


@pytest.mark.parametrize(("value", "right", "says"), WRONG)
def test_all_else_is_wrong_and_says_how(value: Any, right: Any, says: str) -> None:
    told = difference(value, right)
    assert told is not None
    assert says in told.en
    assert told.zh != told.en


def test_arrays_are_identical_in_shape_and_entries() -> None:
    x = np.array([1.0, np.nan])
    assert identical(x, x.copy())
    assert not identical(x, np.array([1.0, 0.0]))
    assert not identical(x, x[None])
    assert not identical(x, Foreign("None"))
    assert not identical(None, None)
