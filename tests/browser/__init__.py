"""What is written for notebooks and browsers, opened in a real one: `pytest -m browser`."""
