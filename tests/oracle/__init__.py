"""Comparisons with torch, where it is installed: `pytest -m torch`."""
