"""A first backward: a loss of three numbers, and which way each number moves it.
第一次反向传播：三个数、一个损失，以及每个数推动损失的方向。

Shows what `requires_grad`, `backward()` and `.grad` are for, and that the gradient is what a small
nudge measures. Arrays with shapes come in 04, attention in 02.
"""

import sys

from minigrad import Tensor


def say(english: str, chinese: str) -> None:
    print(chinese if "zh" in sys.argv else english)


def loss_of(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    product: Tensor = a * b
    loss: Tensor = product * product + c * product  # three uses of the product: all add up
    return loss


numbers = {"a": 2.0, "b": -3.0, "c": 1.0}


def nudge(name: str, h: float = 1e-6) -> float:
    """Measure how fast the loss follows one number: no calculus, two evaluations."""
    up, down = (numbers | {name: numbers[name] + step} for step in (h, -h))
    higher, lower = (loss_of(*map(Tensor, values.values())).item() for values in (up, down))
    slope: float = (higher - lower) / (2 * h)
    return slope


a, b, c = leaves = [Tensor(x, requires_grad=True, name=name) for name, x in numbers.items()]
loss = loss_of(a, b, c)
loss.backward()
say(f"loss = (ab)² + c·ab = {loss.item():g}", f"损失 = (ab)² + c·ab = {loss.item():g}")

# By hand: the derivative by the product is 2ab + c; the chain rule hands it on to a and b.
slope = 2 * a.item() * b.item() + c.item()
by_hand = {"a": slope * b.item(), "b": slope * a.item(), "c": a.item() * b.item()}

say("\n    gradient   by hand   by a nudge", "\n       梯度      手算      轻推一下")
stepped = []
for leaf, name in zip(leaves, numbers, strict=True):
    assert leaf.grad is not None, "backward() should have filled it"
    print(f"{name}   {leaf.grad:8.3f}  {by_hand[name]:8.3f}     {nudge(name):8.3f}")
    assert leaf.grad == by_hand[name], "the gradient is not what the blackboard says"
    assert abs(nudge(name) - by_hand[name]) < 1e-6, "the gradient is not what a nudge measures"
    stepped.append(Tensor(leaf.data - 0.01 * leaf.grad))

lower = loss_of(*stepped).item()
say(
    f"\nOne small step against the gradient: the loss falls to {lower:.3f}.",
    f"\n逆着梯度走一小步：损失降到 {lower:.3f}。",
)
assert lower < loss.item()
