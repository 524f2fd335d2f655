"""The coursework: exercises, verdicts, reports and classes."""
