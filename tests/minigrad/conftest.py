"""What the tests of the engine share: a seeded generator, and the garbage collector off."""

import gc
from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Whatever goes away now goes away by reference counting alone."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
