"""What is looked at in exercise 8."""

import numpy as np

from minigrad import Tensor, grad, primitive
from minigrad.coursework import Check, Exercise, Failure, Text, misshapen, op_checks

CLOSE = 1e-6
"""Weights are at most 1. What is as close as this is also the same to the diagnosis."""


def cases(rng):
    """Different prime sides, a square, an axis that is not the last, three axes."""
    return [
        (rng.normal(size=(3, 5)),),
        (rng.normal(size=(4, 4)),),
        (rng.normal(size=(2, 3, 5)),),
        (rng.normal(size=(5, 2)), {"axis": 0}),
        (rng.normal(size=(2, 7, 3)), {"axis": 1}),
    ]


def constants(x, axis=-1):
    """The number of weights that share a sum."""
    return {"n": x.shape[axis]}


def backward(module, g, x, **options):
    """∂L/∂x of softmax in the engine."""
    leaf = Tensor(x, requires_grad=True)
    out = primitive(module.softmax_gradient, example=cases)(module.softmax)(leaf, **options)
    return grad(out, [leaf], g)[0].numpy()


HIDDEN = "softmax(x, x[i, j] = −∞)"
AXES = {
    f"softmax({shape} ± 2000, axis={axis})": (shape, axis)
    for shape, axis in (((7,), -1), ((5, 3), 0), ((2, 7, 3), -2), ((3, 5, 2), 1))
}
"""Softmaxes that are 2000 apart from each other."""


def rows(module, rng):
    """Weights and gradients for scores of ordinary size, large, shifted, far apart and hidden."""
    g = rng.normal(size=(3, 5))
    # None of them near 0: clipped at 100 or at 500, 10⁴ · x is the same.
    x = rng.uniform(0.1, 2.0, size=(3, 5)) * rng.choice([-1.0, 1.0], size=(3, 5))
    hidden = x.copy()
    hidden[np.arange(3), rng.integers(0, 5, 3)] = -np.inf
    found = {"#hidden": np.isinf(hidden).astype(float)}
    for name, scores in {
        "x": x,
        "x + 1000": x + 1000,
        "10⁴ · x": 1e4 * x,
        "x + [0, 2000, −2000]ᵀ": x + np.array([[0], [2000], [-2000]]),
        "x, x[i, j] = −∞": hidden,
    }.items():
        found[f"softmax({name})"] = module.softmax(scores.copy())
        found[f"softmax({name}): ∂L/∂x"] = backward(module, g, scores)
    for name, (shape, axis) in AXES.items():
        sides = list(shape)
        sides[axis] = 1
        apart = 2000.0 * (np.arange(np.prod(sides)) % 3 - 1).reshape(sides)
        scores, g = rng.normal(size=shape) + apart, rng.normal(size=shape)
        found[name] = module.softmax(scores.copy(), axis=axis)
        found[f"{name}: ∂L/∂x"] = backward(module, g, scores, axis=axis)
    return found


def judge_rows(observed, right):
    """A constant added to a row changes nothing, so the gradient of a row sums to 0."""
    if bad := misshapen(observed, right):
        return bad
    names = [name for name in right if not name.startswith("#")]
    for name in names:
        total = 0.0 if name.endswith("∂L/∂x") else 1.0
        _, axis = AXES.get(name.removesuffix(": ∂L/∂x"), ((), -1))
        sums = observed[name].astype(float).sum(axis=axis)
        if not np.abs(sums - total).max() < CLOSE:
            told = ", ".join(f"{x:.6g}" for x in sums.ravel())
            en = f"{name}: every row must sum to {total:.0f}; the sums are {told}"
            return Failure(name, Text(en, f"{name}：每行之和应为 {total:.0f}，实为 {told}"))
    same, shifted = (observed[f"softmax({name})"] for name in ("x", "x + 1000"))
    if not np.abs(same - shifted).max() < CLOSE:
        en = "softmax(x + 1000) must be softmax(x)"
        return Failure("softmax(x + 1000)", Text(en, "softmax(x + 1000) 应与 softmax(x) 相同"))
    for name in names:
        if not np.abs(observed[name] - right[name]).max() < CLOSE:
            return Failure(name, Text(f"{name}: wrong in some entries", f"{name}：有的元素不正确"))
    weights = observed[HIDDEN][right["#hidden"] == 1]
    if weights.any():
        en = f"{HIDDEN}: the weight of −∞ must be exactly 0, not {weights.max():.6g}"
        zh = f"{HIDDEN}：−∞ 的权重应恰好为 0，而不是 {weights.max():.6g}"
        return Failure(HIDDEN, Text(en, zh))
    return None


def worked(solution, language):
    """One row in numbers."""
    x, g = np.array([1.0, 2.0, 4.0]), np.array([1.0, 0.0, 0.0])
    p = solution.softmax(x)
    d = solution.softmax_gradient(g, p, axis=-1)
    lines = [f"x = {x}", f"p = softmax(x) = {p.round(4)}", f"g = {g}"]
    lines += [f"Σ g ⊙ p = {(g * p).sum():.4f}", f"∂L/∂x = p ⊙ (g − Σ g ⊙ p) = {d.round(4)}"]
    note = Text(
        "Each entry of g − Σ g ⊙ p is weighted by its own p, and the row sums to 0.",
        "g − Σ g ⊙ p 的每个元素都乘以相应的 p，整行之和为 0。",
    )
    return "\n".join([*lines, note.of(language)])


EXERCISE = Exercise(
    title=Text("Softmax", "Softmax"),
    checks=[
        *op_checks("softmax", ["softmax_gradient"], cases, constants=constants),
        Check(
            "rows",
            Text(
                "rows of weights sum to 1 and of gradients to 0, for scores of any size",
                "无论分数多大，每行权重之和为 1，每行梯度之和为 0",
            ),
            rows,
            judge_rows,
        ),
    ],
    worked=worked,
)
