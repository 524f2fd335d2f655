"""Planted mistakes: every gradient rule is made wrong in every way we can think of, and the check
that `minigrad check` runs has to notice. `python -m tests.mutation` prints what it noticed.

`sources` reads a rule's code, `mutants` makes wrong ones of it, `verdicts` judges them, `engine`
breaks the walk itself.
"""
