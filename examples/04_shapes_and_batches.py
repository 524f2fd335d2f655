"""Shapes and batches: the chain of shapes through a head, for one sentence and for two.
形状与批次：形状如何一步步穿过注意力头，一句话如此，两句话也如此。

Shows that d_v may differ from d_k, that a batch is so many sentences side by side, and that the
class and the four steps of 02 are the same computation. What the numbers mean is not the subject.
"""

import json
import sys
from pathlib import Path

import numpy as np

from attention import SelfAttention
from minigrad import Tensor, randn

LESSON = json.loads((Path(__file__).parent / "data" / "lessons.json").read_text(encoding="utf-8"))
rng = np.random.default_rng(0)


def say(english: str, chinese: str) -> None:
    print(chinese if "zh" in sys.argv else english)


def check(name: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    print(f"  {name:8} {found}")
    if found != expected:
        raise SystemExit(f"{name} should have the shape {expected}")


say("One sentence, three words, d_model 8, d_k 4, d_v 6:", "一句三个词，d_model 8，d_k 4，d_v 6：")
head = SelfAttention(8, 4, 6, rng=rng)
X = randn(rng, 3, 8)
Q, K, V = X @ head.W_Q, X @ head.W_K, X @ head.W_V
Z, weights = head(X)
shapes = {"X": (X, (3, 8)), "W_V": (head.W_V, (8, 6)), "Q": (Q, (3, 4)), "K": (K, (3, 4))}
shapes |= {"V": (V, (3, 6)), "scores": (Q @ K.mT, (3, 3)), "weights": (weights, (3, 3))}
for name, (tensor, expected) in (shapes | {"Z": (Z, (3, 6))}).items():
    check(name, tensor.shape, expected)
np.testing.assert_allclose(weights.data.sum(axis=-1), 1.0)

say("Two sentences 我 喜欢 打 篮球, 512 wide, d_k 64:", "两句 我 喜欢 打 篮球，宽 512，d_k 64：")
wide = SelfAttention(512, 64, rng=rng)
batch = randn(rng, 2, 4, 512)
Z, weights = wide(batch)
check("Z", Z.shape, tuple(LESSON["matrix_form"]["output_shape"]))
check("weights", weights.shape, tuple(LESSON["matrix_form"]["weights_shape"]))
np.testing.assert_allclose(Z.data[1], wide(batch[1])[0].data, rtol=1e-12)
say("The second sentence alone gives the same rows.", "单独算第二句，结果相同。")

# One-hot words pick rows, so weights filled with the lesson's Q, K and V give just those.
lesson = LESSON["cat_eats_fish"]
small = SelfAttention(3, 4)
small.W_Q, small.W_K, small.W_V = (Tensor(lesson[name]) for name in "QKV")
np.testing.assert_allclose(small(Tensor(np.eye(3)))[0].data, lesson["scaled"]["context"])
say("The same class gives 猫 吃 鱼 its context.", "同一个类也算出了 猫 吃 鱼 的上下文。")
