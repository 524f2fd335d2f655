"""猫 吃 鱼 (cat eats fish): attention in four steps, and every gradient on the way back.
猫 吃 鱼：注意力的四个步骤，以及一路返回的每一个梯度。

Works through the numbers of the first lesson, with and without the scale, and compares all of them
with values that another program computed. Where Q, K and V come from is the subject of 03 and 04.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

import minigrad
from minigrad import Tensor

LESSON = json.loads((Path(__file__).parent / "data" / "lessons.json").read_text(encoding="utf-8"))
CAT_EATS_FISH = LESSON["cat_eats_fish"]
ZH = "zh" in sys.argv


def show(title: str, rows: Tensor | np.ndarray[Any, Any]) -> None:
    """Print a matrix, one line per word, and hold it against the lesson."""
    print(f"\n{title}")
    for token, row in zip(CAT_EATS_FISH["tokens"], np.asarray(rows), strict=True):
        print(f"  {token}  " + "  ".join(f"{value:6.2f}" for value in row))


def attend(kind: str, scale: float) -> None:
    """Walk forward in four steps, then back, and compare with the reference of that kind."""
    expected = CAT_EATS_FISH[kind]
    Q, K, V = (Tensor(CAT_EATS_FISH[name], requires_grad=True, name=name) for name in "QKV")

    scores = Q @ K.mT
    scaled = scores * scale
    weights = minigrad.softmax(scaled, axis=-1)
    context = weights @ V

    forward = {"scores": scores, "scaled_scores": scaled, "weights": weights, "context": context}
    titles = ("1 打分", "2 缩放", "3 归一化", "4 加权求和") if ZH else tuple("1234")
    for title, (name, value) in zip(titles, forward.items(), strict=True):
        show(f"{title} {name}", value)
        np.testing.assert_allclose(value.data, expected[name], rtol=1e-12, err_msg=name)

    inputs = {"V": V, "A": weights, "scaled_scores": scaled, "S": scores, "Q": Q, "K": K}
    upstream = np.array(expected["upstream"])
    gradients = minigrad.grad(context, list(inputs.values()), upstream)
    for name, gradient in zip(inputs, gradients, strict=True):
        show(f"∂L/∂{name}", gradient)
        np.testing.assert_allclose(gradient.data, expected["grad"][name], atol=1e-13, err_msg=name)


print("缩放：1/√d_k" if ZH else "With the scale 1/√d_k")
attend("scaled", 1 / math.sqrt(CAT_EATS_FISH["d_k"]))
print("\n不缩放" if ZH else "\nWithout the scale")
attend("unscaled", 1.0)
print("\n全部与课程一致。" if ZH else "\nEvery number agrees with the lesson.")
