"""A first backward: a loss of three numbers, and which way each number moves it.
第一次反向传播:三个数、一个损失,以及每个数推动损失的方向。

Shows what `requires_grad`, `backward()` and `.grad` are for, and that the gradient is what a small
nudge measures. Arrays with shapes come in 04, attention in 02.
"""

import sys

from minigrad import Tensor


def say(english: str, chinese: str) -> None:
    print(chinese if "zh" in sys.argv else english)


def loss_of(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    product = a * b
    return product * product + c * product  # the product is used twice: both ways add up


numbers = {"a": 2.0, "b": -3.0, "c": 1.0}
a, b, c = (Tensor(value, requires_grad=True, name=name) for name, value in numbers.items())

loss = loss_of(a, b, c)
loss.backward()
say(f"loss = (ab)² + c·ab = {loss.item():g}", f"损失 = (ab)² + c·ab = {loss.item():g}")

# By hand: the derivative by the product is 2ab + c; the chain rule hands it on to a and b.
slope = 2 * a.item() * b.item() + c.item()
by_hand = {"a": slope * b.item(), "b": slope * a.item(), "c": a.item() * b.item()}

say("\n    gradient   by hand   by a nudge", "\n       梯度      手算      轻推一下")
for tensor, name in ((a, "a"), (b, "b"), (c, "c")):
    h = 1e-6
    more, less = numbers | {name: numbers[name] + h}, numbers | {name: numbers[name] - h}
    rise = loss_of(*map(Tensor, more.values())).item() - loss_of(*map(Tensor, less.values())).item()
    nudge = rise / (2 * h)
    print(f"{name}   {tensor.grad:8.3f}  {by_hand[name]:8.3f}     {nudge:8.3f}")
    if tensor.grad != by_hand[name] or abs(nudge - by_hand[name]) > 1e-6:
        raise SystemExit(f"the gradient at {name} is not what the blackboard says")

with_step = loss_of(*(Tensor(t.data - 0.01 * t.grad) for t in (a, b, c)))
say(
    f"\nOne small step against the gradient: the loss falls to {with_step.item():.3f}.",
    f"\n逆着梯度走一小步:损失降到 {with_step.item():.3f}。",
)
if not with_step.item() < loss.item():
    raise SystemExit("a step against the gradient should lower the loss")
