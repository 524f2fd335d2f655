"""What tests of pictures share: each layout engine in turn."""

from pathlib import Path

import pytest

from tests.viz.support import PROGRAMS, isolate


@pytest.fixture(params=PROGRAMS)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The name of a layout engine, which for the time of the test is the only one there is."""
    return isolate(request.param, monkeypatch, tmp_path)
