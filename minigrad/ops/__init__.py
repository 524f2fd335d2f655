"""The primitives, one file for each chapter of NumPy's manual that they belong to."""
