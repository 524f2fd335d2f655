"""With and without 1/√d_k in lock step: where, on the way back, the typical row starves.
有无 1/√d_k，齐步对比：返回途中，典型的一行在哪里失去梯度。

Two logs of one head side by side, for random numbers at d_k = 1024 and for a head of a trained
encoder. The median row shows it; the norm of the whole can hide it, since a few rows carry that.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import minigrad
from attention import scaled_dot_product_attention
from minigrad import BackwardSteps, Tensor
from viz import step_page

LANGUAGE = "zh" if (zh := "zh" in sys.argv) else "en"
LABELS = ("不缩放", "缩放") if zh else ("unscaled", "scaled")
HEADS = np.load(Path(__file__).parent / "data" / "minilm_qkv.npz", allow_pickle=False)


def log(arrays: list[Any], scale: float | None) -> BackwardSteps:
    """The backward pass of one head, from a random upstream gradient."""
    Q, K, V = (Tensor(x, requires_grad=True, name=n) for x, n in zip(arrays, "QKV", strict=True))
    with minigrad.trace():
        context, _ = scaled_dot_product_attention(Q, K, V, scale=scale)
    upstream = np.random.default_rng(1).normal(size=context.shape)
    return minigrad.step_backward(context, upstream, check=True)


def walk(title: str, arrays: list[Any], page: str) -> None:
    """Go through both logs, show what is left of the median row and of the whole, write a page."""
    unscaled, scaled = log(arrays, 1.0), log(arrays, None)
    print(f"\n{title}\n{unscaled.transcript(LANGUAGE)}\n")
    print(f"{LABELS[0]} / {LABELS[1]}:  " + ("中位行    整体" if zh else "median row  whole"))
    left = {}
    for one, other in zip(unscaled, scaled, strict=True):
        if one.kind in ("enter", "done"):
            row = one.gradient.typical_row / other.gradient.typical_row
            left[one.node.label] = row, one.norm / other.norm
            print(f"  ∂L/∂{one.node.label:10}" + "{:12.2g}{:10.2g}".format(*left[one.node.label]))
    assert left["weights"] == (1, 1), "up to the softmax nothing differs"
    assert left["scaled"][0] < 0.01, "the typical row starves in the softmax"
    assert 0.5 < left["V"][1] < 3, "what reaches V in all does not shrink"
    step_page(unscaled, page, compare=scaled, labels=LABELS, language=LANGUAGE)


rng = np.random.default_rng(0)
numbers = [rng.normal(size=shape) for shape in ((32, 1024), (8, 1024), (8, 16))]
walk("随机数，d_k = 1024" if zh else "Random, d_k = 1024", numbers, "10_random.html")
head = [HEADS[name][1, 1].astype(np.float64) for name in "QKV"]
walk("真实的头 [1, 1]" if zh else "A real head, [1, 1]", head, "10_real_head.html")
print("\n死在 softmax；V 总量不减。" if zh else "\nIt dies in the softmax; V, as a whole, lives.")
print("请打开" if zh else "Open", "10_random.html, 10_real_head.html")
