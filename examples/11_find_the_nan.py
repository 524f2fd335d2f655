"""Find the NaN: the loss is fine, a gradient is not, and the log names the event where it begins.
寻找 NaN：损失正常，梯度却不正常，日志会指出它从哪个事件开始。

p · log p is 0 at p = 0, so one writes where(p > 0, p · log p, 0). The branch that is not chosen
gets an upstream of 0, and 0 · log 0 is 0 · (−∞), which is no number.
"""

import sys

import numpy as np

import minigrad
from minigrad import BackwardSteps, Tensor
from viz import step_page

LANGUAGE = "zh" if "zh" in sys.argv else "en"
P = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])  # probabilities, one of them 0


def say(english: str, chinese: str) -> None:
    print(chinese if LANGUAGE == "zh" else english)


def entropy_log(repaired: bool) -> BackwardSteps:
    """The backward pass of the entropy of P, from a random upstream gradient."""
    p = Tensor(P, requires_grad=True, name="p")
    with minigrad.trace(), np.errstate(divide="ignore", invalid="ignore"):
        log_p = minigrad.log(minigrad.where(p > 0, p, 1.0) if repaired else p)
        entropy = -minigrad.where(p > 0, p * log_p, 0.0).sum(axis=-1)
    log_p.name, entropy.name = "log_p", "entropy"
    assert np.isfinite(entropy.data).all()
    upstream = np.random.default_rng(0).normal(size=entropy.shape)
    return minigrad.step_backward(entropy, upstream, check=True)


steps = entropy_log(repaired=False)
print(steps.transcript(LANGUAGE))
found = steps.until(lambda event: any(note.kind == "nan" for note in event.notes))
assert found is not None
(log_p,) = (node.value for node in steps.nodes.values() if node.name == "log_p")
say(f"\nIt begins at event {found.index}: ", f"\n始于事件 {found.index}：")
arrays = (found.contribution, found.upstream, log_p)
made, upstream, logarithm = (float(np.asarray(array)[0, 2]) for array in arrays)
print(f"  {found.equation}\n  {made} = {upstream} · ({logarithm})")
assert np.isnan(made)
step_page(steps, "11_find_the_nan.html", language=LANGUAGE)

steps = entropy_log(repaired=True)
assert np.isfinite(steps.grads_at(-1)["p"]).all()
say(
    "With log(where(p > 0, p, 1)) no gradient meets the infinity.",
    "改成 log(where(p > 0, p, 1))，梯度就不再碰到无穷大。",
)
say("\nOpen 11_find_the_nan.html", "\n请打开 11_find_the_nan.html")
