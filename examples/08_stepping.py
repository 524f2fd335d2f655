"""Stepping through 猫 吃 鱼: the backward pass one event at a time, every contribution checked.
逐步走过 猫 吃 鱼：一次一个事件的反向传播，每一份贡献都经过检验。

Prints the whole log, walks forwards and backwards in it, and writes it as a page to click through.
The same in the terminal: minigrad step --example cat-eats-fish
"""

import json
import sys
from pathlib import Path

import numpy as np

import minigrad
from attention import scaled_dot_product_attention
from minigrad import Tensor
from viz import step_page

LESSON = json.loads((Path(__file__).parent / "data" / "lessons.json").read_text(encoding="utf-8"))
CAT_EATS_FISH = LESSON["cat_eats_fish"]
LANGUAGE = "zh" if "zh" in sys.argv else "en"


def say(english: str, chinese: str) -> None:
    print(chinese if LANGUAGE == "zh" else english)


Q, K, V = (Tensor(CAT_EATS_FISH[name], requires_grad=True, name=name) for name in "QKV")
with minigrad.trace():  # keep values and lines, for the log to show
    context, _ = scaled_dot_product_attention(Q, K, V)
upstream = np.array(CAT_EATS_FISH["scaled"]["upstream"])
steps = minigrad.step_backward(context, upstream, check=True)
print(steps.transcript(LANGUAGE))

checked = [event.verdict for event in steps if event.verdict]
worst = max(verdict.relative for verdict in checked)
assert len(checked) == 7
assert worst < 1e-6
say(
    f"\nAll {len(checked)} contributions agree with differences, the worst to {worst:.0e}.",
    f"\n全部 {len(checked)} 份贡献都与差分相符，最大相对误差 {worst:.0e}。",
)

say(
    "\nOn to the softmax, into its rule, and back again:",
    "\n走到 softmax，进入它的规则，再退回来：",
)
for event in (steps.goto("softmax"), steps.next(), steps.back()):
    print(f"  {event.index:2} {event.kind:5} {event.equation or event.node.label}")
assert Q.grad is None, "looking leaves every .grad alone"

context.backward(upstream)
for name, tensor in zip("QKV", (Q, K, V), strict=True):
    last = np.asarray(steps.grads_at(-1)[name])
    np.testing.assert_array_equal(last, tensor.grad)
    np.testing.assert_allclose(last, CAT_EATS_FISH["scaled"]["grad"][name], atol=1e-13)
say("backward() leaves the same, to the last bit.", "backward() 的结果与此逐位相同。")
step_page(steps, "08_stepping.html", language=LANGUAGE)
say("\nOpen 08_stepping.html", "\n请打开 08_stepping.html")
