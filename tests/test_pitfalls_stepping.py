"""Ways in which stepping through a backward pass went wrong for somebody. The letter and number at
the head of each name are the case's own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import minigrad
from minigrad import step_backward
from tests.helpers import gradient_of, leaf

ROOT = Path(__file__).parents[1]


def test_s01_a_tensor_is_entered_once_and_after_all_of_its_users() -> None:
    a = leaf(0.5, name="a")
    b = a + a
    c = b * b
    b.name, c.name = "b", "c"
    steps = step_backward(c)
    assert [e.node.label for e in steps if e.kind == "enter"] == ["c", "b"]
    assert [e.node.label for e in steps if e.kind == "done"] == ["a"]
    assert float(steps.grads_at(-1)["a"]) == 4.0


def test_s01_an_intermediate_that_two_others_use_is_complete_when_it_is_entered() -> None:
    x = leaf(1.5, name="x")
    h = x * 4.0
    p, q = h * h, h * 3.0
    total = p + q
    for tensor, name in ((h, "h"), (p, "p"), (q, "q"), (total, "L")):
        tensor.name = name
    steps = step_backward(total)
    order = [e.node.label for e in steps if e.kind == "enter"]
    assert order[0] == "L"
    assert set(order[1:3]) == {"p", "q"}
    assert order[3:] == ["h"]
    assert float(steps.goto("h").gradient) == 15.0
    assert float(steps.goto("x").gradient) == 60.0
    assert steps.position == len(steps) - 1


def test_s03_a_log_that_one_leaves_half_way_does_not_count_in_a_backward() -> None:
    x = leaf(2.0, name="x")
    h = x * 3.0
    total = h * h
    steps = step_backward(total)
    steps.next()
    assert x.grad is None
    total.backward()
    assert float(gradient_of(x)) == 36.0
    assert float(steps.goto("x").gradient) == 36.0
    assert float(gradient_of(x)) == 36.0


def test_s03_a_log_gone_through_to_the_end_and_begun_again_is_one_backward() -> None:
    x = leaf(2.0, name="x")
    h = x * 3.0
    steps = step_backward(h * h)
    for _ in range(3):
        for _ in steps:
            pass
        while steps.position + 1 < len(steps):
            steps.next()
        assert float(steps.grads_at(steps.position)["x"]) == 36.0
        steps.goto(0)
    assert float(step_backward(h * h).grads_at(-1)["x"]) == 36.0
    assert x.grad is None


def test_s04_the_gradients_of_intermediates_are_shown() -> None:
    x = leaf(2.0, name="x")
    h = x * x
    h.name = "h"
    steps = step_backward(h * 3.0)
    assert float(steps.goto("h").gradient) == 3.0
    assert float(steps.goto("x").gradient) == 12.0


_PROGRAM = """
import numpy as np
import minigrad
from minigrad import Tensor, scope, step_backward, trace

rng = np.random.default_rng(0)
with trace():
    leaves = [Tensor(rng.normal(size=(3, 2)), requires_grad=True, name=n) for n in "wwbca"]
    parts = [minigrad.softmax(x * y) for x in leaves for y in leaves]
    with scope("end"):
        out = minigrad.stack(parts[::2]).sum(axis=0) @ leaves[0].mT
steps = step_backward(out, rng.normal(size=out.shape), check=True, variables=globals())
for language in ("en", "zh"):
    print(ascii(steps.transcript(language)))
print(ascii(steps.to_json()))
print([*steps.grads_at(-1)], [*steps.nodes], [*steps.sources])
"""


def test_s04_the_order_the_words_and_the_numbers_are_the_same_in_every_process() -> None:
    told = set()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", _PROGRAM]
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        assert len(ran.stdout.splitlines()) == 4
        told.add(ran.stdout)
    assert len(told) == 1


def test_s04_tensors_that_could_come_in_any_order_come_youngest_first() -> None:
    leaves = [leaf(np.array([1.0, 2.0]), name=f"x{i}") for i in range(9)]
    steps = step_backward(minigrad.stack(leaves[::-1]).sum())
    done = [e.node.label for e in steps if e.kind == "done"]
    assert done == [f"x{i}" for i in range(9)][::-1]
