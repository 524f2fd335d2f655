"""猫 吃 鱼 (cat eats fish): attention in four steps, and every gradient on the way back.
猫 吃 鱼：注意力的四个步骤，以及一路返回的每一个梯度。

Works through the numbers of the first lesson, with and without the scale, and compares all of them
with values that another program computed. Where Q, K and V come from is the subject of 03 and 04.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import minigrad
from minigrad import Tensor

LESSON = json.loads((Path(__file__).parent / "data" / "lessons.json").read_text(encoding="utf-8"))
CAT_EATS_FISH = LESSON["cat_eats_fish"]
ZH = "zh" in sys.argv


def show(title: str, rows: Any) -> None:
    """Print a matrix, one line per word, and hold it against the lesson."""
    print(f"\n{title}")
    for token, row in zip(CAT_EATS_FISH["tokens"], np.asarray(rows), strict=True):
        print(f"  {token}  " + "  ".join(f"{value:6.2f}" for value in row))


def attend(kind: str, scale: float) -> None:
    """Walk forward in four steps, then back, and compare with the reference of that kind."""
    expected = CAT_EATS_FISH[kind]
    Q, K, V = (Tensor(CAT_EATS_FISH[name], requires_grad=True, name=name) for name in "QKV")

    with minigrad.trace():  # keep the gradients of every step
        scores = Q @ K.mT
        scaled = scores * scale
        weights = minigrad.softmax(scaled, axis=-1)
        context = weights @ V

    forward = {"scores": scores, "scaled_scores": scaled, "weights": weights, "context": context}
    titles = ("1 打分", "2 缩放", "3 归一化", "4 加权求和") if ZH else tuple("1234")
    for title, (name, value) in zip(titles, forward.items(), strict=True):
        value.name = name
        show(f"{title} {name}", value)
        np.testing.assert_allclose(value.data, expected[name], rtol=1e-12, err_msg=name)

    context.backward(np.array(expected["upstream"]))
    inputs = {"V": V, "A": weights, "scaled_scores": scaled, "S": scores, "Q": Q, "K": K}
    for name, tensor in inputs.items():
        show(f"∂L/∂{name}", tensor.grad)
        np.testing.assert_allclose(tensor.grad, expected["grad"][name], atol=1e-13, err_msg=name)


print("缩放：1/√d_k" if ZH else "With the scale 1/√d_k")
attend("scaled", CAT_EATS_FISH["d_k"] ** -0.5)
print("\n不缩放" if ZH else "\nWithout the scale")
attend("unscaled", 1.0)
print("\n全部与课程一致。" if ZH else "\nEvery number agrees with the lesson.")
