"""A tensor used three times: its gradient is a sum, and one can watch it add up.
用了三次的张量：它的梯度是一个和，可以看着它一份一份累加起来。

x goes into a product twice and into a sum once. Whoever overwrites instead of adding ends with one
of the three contributions.
"""

import sys

import numpy as np

import minigrad
from minigrad import Tensor
from viz import step_page

LANGUAGE = "zh" if "zh" in sys.argv else "en"


def say(english: str, chinese: str) -> None:
    print(chinese if LANGUAGE == "zh" else english)


x = Tensor([[2.0, -1.0, 0.5], [3.0, 1.0, -2.0]], requires_grad=True, name="x")
bias = Tensor([0.1, 0.2, 0.3], requires_grad=True, name="bias")
with minigrad.trace():
    square = x * x
    y = square + x + bias
square.name, y.name = "square", "y"
upstream = np.random.default_rng(0).normal(size=y.shape)
steps = minigrad.step_backward(y, upstream, check=True, variables=globals())
print(steps.transcript(LANGUAGE))

say("\n∂L/∂x, contribution by contribution:", "\n∂L/∂x，一份一份地看：")
parts = [event for event in steps if event.kind == "accumulate" and event.receiver.name == "x"]
for event in parts:
    print(
        f"  {event.part}/{event.parts}  {event.equation:17}  {np.asarray(event.after)[0].round(3)}"
    )
assert [event.part for event in parts] == [1, 2, 3]
final = steps.grads_at(-1)["x"]
np.testing.assert_allclose(final, upstream * (2 * x.data + 1), rtol=1e-14)
lost = np.abs(np.asarray(parts[-1].contribution) - final).max()
assert lost > 0.1
say(
    f"Together G ⊙ (2x + 1). Overwritten instead of added, it would be off by up to {lost:.2f}.",
    f"合起来是 G ⊙ (2x + 1)。若覆盖而不是累加，最多会差 {lost:.2f}。",
)

(summed,) = [event for event in steps if event.kind == "unbroadcast"]
assert summed.axes == (0,)
np.testing.assert_allclose(summed.gradient, upstream.sum(axis=0), rtol=1e-14)
say(
    "bias was broadcast over the rows, so its gradient is summed over them.",
    "bias 沿各行广播，因此它的梯度要沿各行求和。",
)
step_page(steps, "09_accumulation.html", language=LANGUAGE)
say("\nOpen 09_accumulation.html", "\n请打开 09_accumulation.html")
