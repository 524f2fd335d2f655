"""Four one-hot words: what a head that has learned nothing yet does with them.
四个独热词：还什么都没学到的注意力头会怎样处理它们。

The lesson's own random weights, drawn from Python's `random` in the lesson's order, and every stage
compared with its numbers. A one-hot word times W_Q picks a row of W_Q. No gradients here: see 02.
"""

import json
import math
import random
import sys
from pathlib import Path

import numpy as np

import minigrad
from minigrad import Tensor

LESSON = json.loads((Path(__file__).parent / "data" / "lessons.json").read_text(encoding="utf-8"))
EXPECTED = LESSON["one_hot_words"]
D_MODEL, D_K, N_WORDS = EXPECTED["d_model"], EXPECTED["d_k"], 4


def say(english: str, chinese: str) -> None:
    print(chinese if "zh" in sys.argv else english)


def draw(name: str) -> Tensor:
    """Draw a weight matrix row by row, as the lesson does."""
    rows = [[random.normalvariate(0, 0.1) for _ in range(D_K)] for _ in range(D_MODEL)]
    return Tensor(rows, name=name)


random.seed(42)
W_Q, W_K, W_V = draw("W_Q"), draw("W_K"), draw("W_V")

X = minigrad.eye(D_MODEL)[:N_WORDS]
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
np.testing.assert_array_equal(Q.data, W_Q.data[:N_WORDS])
say("A one-hot word picks a row: Q is the top of W_Q.", "独热词取出一行：Q 就是 W_Q 的前四行。")

scores = Q @ K.mT
scaled_scores = scores / math.sqrt(D_K)
weights = minigrad.softmax(scaled_scores, axis=-1)
output = weights @ V

stages = {"scores": scores, "scaled_scores": scaled_scores, "weights": weights, "output": output}
for name, stage in stages.items():
    print(f"\n{name} {stage.shape}")
    print(np.array2string(stage.data, precision=4, suppress_small=True))
    np.testing.assert_allclose(stage.data, EXPECTED[name], rtol=1e-9, err_msg=name)

np.testing.assert_allclose(weights.data, 1 / N_WORDS, atol=0.01)
say(
    "\nUntrained, a word looks at all words alike: every weight is within 0.01 of ¼.",
    "\n未经训练时，每个词对所有词一视同仁：每个权重与 ¼ 相差不到 0.01。",
)
