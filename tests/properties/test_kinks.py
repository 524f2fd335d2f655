"""At ties, kinks, bounds and zeros the gradients are those that the docstrings name, also where
they are recorded for a second derivative."""

import numpy as np
import pytest

from minigrad import PRIMITIVES
from tests.properties.kinks import KINKS, Kink, gradients_at

CASES = [(name, kink) for name, kinks in KINKS.items() for kink in kinks]


@pytest.mark.parametrize("create_graph", [False, True], ids=["arrays", "tensors"])
@pytest.mark.parametrize(("name", "kink"), CASES, ids=[f"{n}, {k.says}" for n, k in CASES])
def test_at_a_kink_a_primitive(name: str, kink: Kink, create_graph: bool) -> None:
    upstream, *found = gradients_at(PRIMITIVES[name], kink, create_graph=create_graph)
    for gradient, expected in zip(found, kink.expected(upstream), strict=True):
        np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-15)
