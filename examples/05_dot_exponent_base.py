"""Dot product or cosine, why exponentiate, and which base: three questions about the softmax.
点积还是余弦、为什么取指数、底数选几：关于 softmax 的三个问题。

Each question is answered by the smallest numbers that decide it. What the answers do to the
gradients of a whole head is the subject of 06 and 07.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

import attention
import minigrad
from minigrad import Tensor

LESSON = json.loads((Path(__file__).parent / "data" / "lessons.json").read_text(encoding="utf-8"))
LINEAR, COMPARE, BASE_2 = (LESSON["normalisations"][k] for k in ("linear_bad", "compare", "base2"))


def say(english: str, chinese: str, found: Tensor, expected: Any) -> None:
    """Print a claim with its numbers, and fail if they are not the expected ones."""
    print(chinese if "zh" in sys.argv else english, np.round(found.data, 4))
    np.testing.assert_allclose(found.data, expected, rtol=1e-9, atol=1e-15)


q, k = Tensor([3.0, 4.0]), Tensor([2.0, 1.0])
cosine = q @ k / (minigrad.norm(q) * minigrad.norm(k))
say("q·k = cos × ‖q‖ × ‖k‖ =", "q·k = cos × ‖q‖ × ‖k‖ =", q @ k, cosine.item() * 5 * math.sqrt(5))
say("a key twice as long: the dot doubles,", "键加长一倍：点积加倍，", q @ (2 * k), 20.0)
longer = q @ (2 * k) / (minigrad.norm(q) * minigrad.norm(2 * k))
say("  and the cosine stays:", "  余弦不变：", longer, cosine.item())
best, limit = attention.softmax(Tensor([1.0] + 7 * [-1.0]))[0], 1 / (1 + 7 * math.e**-2)
say("cosines end at ±1: the best of 8 keys gets", "余弦止于 ±1:8 个键中最好的只得", best, limit)

z = Tensor(LINEAR["z"])
linear = z / z.sum()
say("\nz / Σz: negative, above 1:", "\nz / Σz：有负数，有大于 1 的：", linear, LINEAR["linear"])
with np.errstate(divide="ignore"):
    nothing = 1 / Tensor([-1.0, 1.0]).sum()
say("  and no number at all if Σz = 0:", "  Σz = 0 时什么也得不到：", nothing, np.inf)
z = Tensor(COMPARE["z"], requires_grad=True)
say("1, 2, 3 linear:", "1, 2, 3 线性：", z / z.sum(), COMPARE["linear"])
p = attention.softmax(z)
say("1, 2, 3 softmax:", "1, 2, 3 softmax：", p, COMPARE["softmax"])
say("  with 100 added to each score:", "  每个分数加 100：", attention.softmax(z + 100), p.data)

p, scaled = attention.softmax(z, base=2), attention.softmax(z * math.log(2))
say("\nbase 2:", "\n底数 2：", p, BASE_2["p"])
say("  is base e with z × ln 2:", "  等于底数 e、分数乘 ln 2：", scaled, p.data)
upstream = np.array([0.5, -1.0, 2.0])
(gradient,) = minigrad.grad(p, z, upstream)
by_hand = math.log(2) * (np.diag(p.data) - np.outer(p.data, p.data)) @ upstream
say("  so its gradient has a factor ln 2:", "  因此梯度带因子 ln 2：", gradient, by_hand)
