"""Three pitfalls of the first head one writes, and who starves when its softmax saturates.
初写注意力头的三个陷阱，以及 softmax 饱和时究竟是谁得不到梯度。

Follows the gradient of one word's context to W_Q, W_K and W_V while a knob sharpens the softmax.
Summed over many words, a few that are not saturated hide this: that is the subject of 07.
"""

import sys

import numpy as np

import minigrad
from attention import SelfAttention
from minigrad import randn

rng = np.random.default_rng(0)


def say(english: str, chinese: str) -> None:
    print(chinese if "zh" in sys.argv else english)


say("Pitfall 1: K without its transpose.", "陷阱一：忘记转置 K。")
Q, K = randn(rng, 3, 4), randn(rng, 3, 4)
try:
    raise SystemExit(f"Q @ K should fail, and gave the shape {(Q @ K).shape}")
except ValueError as error:
    print(error)
Q, K = randn(rng, 4, 4), randn(rng, 4, 4)
assert not np.allclose((Q @ K).data, (Q @ K.mT).data)
say("With 4 words of width 4 no error warns you.", "4 个词、宽 4 时不报错，数字却全错。")

say("Pitfall 2: the scores are words × words, whatever d_k.", "陷阱二：分数矩阵总是 词数 × 词数。")
for d_k in (1, 4, 100):
    scores = randn(rng, 3, d_k) @ randn(rng, 3, d_k).mT
    print(f"  d_k {d_k:3}: {scores.shape}")
    assert scores.shape == (3, 3)

say("Pitfall 3: no 1/√d_k. Watch word 1; d_k 64:", "陷阱三：忘记 1/√d_k。看第 1 个词，d_k 64：")
X, upstream = randn(rng, 6, 64), rng.normal(size=64)
print("  scale   max weight    |∂W_Q|    |∂W_K|    |∂W_V|")
norms = {}
for scale in (1 / 8, 1.0, 4.0):
    head = SelfAttention(64, 64, scale=scale, rng=np.random.default_rng(1))
    context, weights = head(X)
    gradients = minigrad.grad(context[0] @ upstream, (head.W_Q, head.W_K, head.W_V))
    norms[scale] = np.array([np.linalg.norm(gradient.data) for gradient in gradients])
    numbers = "  ".join(f"{norm:8.1e}" for norm in norms[scale])
    print(f"  {scale:5.3f}   {weights.data[0].max():10.4f}  {numbers}")

starved = norms[4.0] / norms[1 / 8]
assert starved[0] < 1e-3, "W_Q should starve"
assert starved[1] < 1e-3, "W_K should starve"
assert 0.5 < starved[2] < 4, "W_V should not"
say(
    "W_Q and W_K starve. One lesson adds W_V; W_V does not:",
    "W_Q、W_K 挨饿；有课文说 W_V 也是，其实不：",
)
say("∂L/∂V = Aᵀ·∂L/∂Z does not pass through the softmax.", "∂L/∂V = Aᵀ·∂L/∂Z 不经过 softmax。")
