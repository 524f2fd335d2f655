"""The primitives, one file for each chapter of NumPy's manual that they belong to."""

from minigrad.ops import elementwise, indexing, linalg, probability, reductions, shaping

__all__ = ["elementwise", "indexing", "linalg", "probability", "reductions", "shaping"]
