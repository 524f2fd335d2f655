"""Statements that hold for whatever Hypothesis draws: shapes, axes, indices, programs.

Each is tried on a few cases in every run and on many in the slow suite; the cases are the same on
every machine. What is compared with is NumPy for values and central differences for gradients.
"""
