"""The op that CONTRIBUTING.md shows works as it is written there, and the check that it
recommends would find a mistake in it."""

import ast
import doctest
import re
from pathlib import Path

import pytest

CONTRIBUTING = Path(__file__).parent.parent / "CONTRIBUTING.md"
(EXAMPLE,) = re.findall(r"^```python\n(.*?)^```", CONTRIBUTING.read_text("utf-8"), re.M | re.S)
