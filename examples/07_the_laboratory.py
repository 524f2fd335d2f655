"""The laboratory: what attention without 1/√d_k does, measured, and held against theory.
实验室：没有 1/√d_k 的注意力究竟怎样，测出来，再与理论对照。

Spread and saturation come out to the lesson's digit; then the gradients, as the typical row sees
them and as a sum does. Larger runs, real heads and pictures: `minigrad vanish`.
"""

import json
import sys
from pathlib import Path

import numpy as np

from attention.experiments import Settings, gradient_study, lesson_stream

LESSON = json.loads((Path(__file__).parent / "data" / "lessons.json").read_text(encoding="utf-8"))
EXPECTED = LESSON["score_spread"]


def say(english: str, chinese: str) -> None:
    print(chinese if "zh" in sys.argv else english)


say(
    "8 keys: spread of the scores, and the mean largest weight",
    "8 个键：分数的离散程度，平均最大权重",
)
print(" d_k   std(q·k)   var/d_k   unscaled   scaled")
lessons = zip(lesson_stream(), EXPECTED["std"], EXPECTED["max_weight"], strict=True)
for row, spread, weight in lessons:
    found = (row.spread, row.largest_weight_unscaled, row.largest_weight_scaled)
    lesson = (spread["std_measured"], weight["max_weight_unscaled"], weight["max_weight_scaled"])
    np.testing.assert_allclose(found, lesson, rtol=1e-12)
    # The standard error of a variance from N samples is √((kurtosis − 1)/N); five of them.
    ratio = row.spread**2 / row.d_k
    assert abs(ratio - 1) < 5 * np.sqrt((2 + 6 / row.d_k) / 20_000), "var(q·k) should be d_k"
    print(f"{row.d_k:4} {found[0]:10.2f} {ratio:9.3f} {found[1]:10.2f} {found[2]:8.2f}")

say(
    "\nGradients: median at the softmax, RMS at Q, median at V",
    "\n梯度：softmax 中位数、Q 均方根、V 中位数",
)
ratios = {}
narrow, wide = gradient_study(Settings(d_k=(16, 1024), rows=800)).widths
for name in ("unscaled", "scaled"):
    places = [getattr(result, name).gradients for result in (narrow, wide)]
    table = np.array([[at["softmax input"].median, at["Q"].rms, at["V"].median] for at in places])
    for result, line in zip((narrow, wide), table, strict=True):
        print(f"{result.d_k:4} {name:9}" + "".join(f"{number:10.2g}" for number in line))
    ratios[name] = table[1] / table[0]

typical, query, value = ratios["unscaled"]
say("Without the scale the typical row dies,", "不缩放时，典型的一行梯度消失，")
assert typical < 1e-3
say("yet the RMS at Q grows, carried by a few rows;", "Q 处的均方根反而变大，靠的是少数几行；")
assert query > 2
say("V never notices, and with the scale nothing changes.", "V 不受影响；缩放之后，一切如常。")
assert 0.5 < value < 2
np.testing.assert_allclose(ratios["scaled"], 1.0, atol=0.2)
