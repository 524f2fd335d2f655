"""What is looked at in exercise 12."""

import numpy as np

from minigrad import Tensor, grad, primitive
from minigrad.coursework import Check, Exercise, Failure, Text, as_the_reference, op_checks
from minigrad.coursework.exercise import misshapen

CLOSE = 1e-5
"""Of sums of a few numbers around 1: float32 may pass, and what passes needs no name."""


def call(rng, shape, scale=1.0, **options):
    """An x of a shape, with a γ and a β that no row can be without."""
    x = scale * (0.5 + 1.5 * rng.normal(size=shape))
    arrays = (x, 1 + rng.normal(size=shape[-1]), rng.normal(size=shape[-1]))
    return (*arrays, options) if options else arrays


def cases(rng):
    """Different prime sides, a square, three and four axes, one axis, other eps, none given."""
    return [
        call(rng, (3, 5), eps=1e-5),
        call(rng, (4, 4), eps=1e-5),
        call(rng, (2, 3, 7), scale=0.01),  # so small that its eps shows
        call(rng, (5, 2, 2, 3), eps=0.1),
        call(rng, (5,), scale=0.01, eps=0.0),
    ]


def constants(x, gamma, beta, eps=1e-5):
    """The n numbers of each of the N rows."""
    return {"n": x.shape[-1], "N": x.size // x.shape[-1]}


def backward(module, g, *arrays, **options):
    """The three gradients in the engine."""
    rules = (module.gradient_x, module.gradient_gamma, module.gradient_beta)
    leaves = [Tensor(array, requires_grad=True) for array in arrays]
    out = primitive(*rules, example=cases)(module.layer_norm)(*leaves, **options)
    return [made.numpy() for made in grad(out, leaves, g)]


def rows(module, rng):
    """What layer norm is there for, and what the gradient must do in return."""
    x, gamma, *_ = call(rng, (3, 7))
    g, one, zero = rng.normal(size=x.shape), np.ones(7), np.zeros(7)
    eps = 1e-12  # so small that the variance is 1 to all digits that are looked at
    plain = module.layer_norm(x, one, zero, eps=eps)
    gradient, *_ = backward(module, g, x, gamma, zero, eps=eps)
    return {
        "x̂": plain,
        "x̂(3 x + 7)": module.layer_norm(3 * x + 7, one, zero, eps=eps),
        "∂L/∂x": gradient,
        "#x̂": (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True),
    }


def judge_rows(observed, right):
    """Mean 0, variance 1, no change by 3 x + 7, and so no gradient in these two directions."""
    names = list(right)[:3]
    for name in names:
        value = observed.get(name)
        if not isinstance(value, np.ndarray) or value.shape != right[name].shape:
            return as_the_reference({name: value}, {name: right[name]})
    unit, moved, gradient = (np.asarray(observed[name], float) for name in names)
    direction = right["#x̂"]
    found = [
        (
            unit.mean(axis=-1),
            "with γ = 1 and β = 0 the mean of each row",
            "γ = 1、β = 0 时每行的平均值",
        ),
        (unit.var(axis=-1) - 1, "then the variance, less 1", "此时每行的方差减 1"),
        (unit - moved, "the change of x̂ if x becomes 3 x + 7", "x 变为 3 x + 7 时 x̂ 的变化"),
        (gradient.sum(axis=-1), "Σ ∂L/∂x of each row", "每行的 Σ ∂L/∂x"),
        ((gradient * direction).sum(axis=-1), "Σ x̂ ⊙ ∂L/∂x of each row", "每行的 Σ x̂ ⊙ ∂L/∂x"),
    ]
    for value, en, zh in found:
        if not np.abs(value).max() < CLOSE:
            return Failure("rows", Text(f"{en} must be 0: {value}", f"{zh}应为 0，实为 {value}"))
    return None


def far_from_zero(rng):
    """Rows that are small numbers plus 2²⁴, exactly."""
    spread = np.array([[-4.0, -2.0, 0.0, 2.0, 4.0]] * 3)  # so wide that no lost digit makes NaN
    small = rng.permuted(spread, axis=1) + rng.integers(-500, 500, (3, 5)) / 1024
    return small, small + 2.0**24


def offset(module, rng):
    """Rows near 0 and the same far from it."""
    found = {}
    for name, x in zip(("x", "x + 2²⁴"), far_from_zero(rng), strict=True):
        found[f"x̂({name})"] = module.layer_norm(x, np.ones(5), np.zeros(5))
    return found


def offset_gradient(module, rng):
    """And their gradients."""
    found = {}
    g, one = rng.normal(size=(3, 5)), np.ones(5)
    for name, x in zip(("x", "x + 2²⁴"), far_from_zero(rng), strict=True):
        at_x, at_gamma, _ = backward(module, g, x, one, 0 * one)
        found |= {f"∂L/∂x({name})": at_x, f"∂L/∂γ({name})": at_gamma}
    return found


def derive_offset(observed, right):
    """Whether both are equal, to what rounding leaves; NaN where that cannot be asked."""
    near = [name for name in right if name.endswith("(x)")]
    far = [name.replace("(x)", "(x + 2²⁴)") for name in near]
    agree = float("nan")
    if not misshapen(observed, right) and all(np.isfinite(observed[name]).all() for name in right):
        pairs = [(observed[one], observed[other]) for one, other in zip(near, far, strict=True)]
        agree = float(all(np.abs(a - b).max() < CLOSE for a, b in pairs))
    claims = [f"{other} = {one}" for one, other in zip(near, far, strict=True)]
    return {f"#{name}": x for name, x in observed.items()} | {", ".join(claims): agree}


def judge_offset(observed, right):
    """Finite numbers, and it must not matter how far from 0 the rows are."""
    for name in right:
        value = observed.get(name)
        if name.startswith("#"):
            name = name.removeprefix("#")
            if bad := misshapen({name: value}, {name: right[f"#{name}"]}):
                return bad
            if not np.isfinite(value).all():
                return Failure(name, Text(f"{name} has NaN or ∞ in it", f"{name} 中有 NaN 或 ∞"))
        elif not np.all(value == 1.0):
            en = f"not so: {name}; digits are lost where numbers are far from 0"
            return Failure(name, Text(en, f"不成立：{name}；数值离 0 很远时丢失了有效数字"))
    return None


def worked(solution, language):
    """One row in numbers."""
    x, g, gamma = np.array([1.0, 1, 5, 5]), np.array([1.0, 0, 0, 0]), np.array([2.0, 1, 1, 1])
    unit, sigma = solution.normalized(x, 0.0)
    h = g * gamma
    d = solution.gradient_x(g, x, gamma, eps=0.0)
    lines = [f"x = {x}, γ = {gamma}, g = {g}, eps = 0"]
    lines += [f"μ = {x.mean()}, σ = {sigma[0]}, x̂ = {unit}", f"h = g ⊙ γ = {h}"]
    lines += [f"mean h = {h.mean()}, mean h ⊙ x̂ = {(h * unit).mean()}"]
    lines += [f"∂L/∂x = (h − mean h − x̂ mean(h ⊙ x̂)) / σ = {d}"]
    note = Text(
        "The sum is 0, and so is the sum of x̂ ⊙ ∂L/∂x.",
        "各元素之和为 0，x̂ ⊙ ∂L/∂x 之和也为 0。",
    )
    return "\n".join([*lines, note.of(language)])


EXERCISE = Exercise(
    title=Text("Layer norm", "层归一化"),
    checks=[
        *op_checks(
            "layer_norm",
            ["gradient_x", "gradient_gamma", "gradient_beta"],
            cases,
            constants=constants,
        ),
        Check(
            "rows",
            Text(
                "rows have mean 0 and variance 1; Σ ∂L/∂x and Σ x̂ ⊙ ∂L/∂x are 0",
                "每行均值为 0、方差为 1；Σ ∂L/∂x 与 Σ x̂ ⊙ ∂L/∂x 为 0",
            ),
            rows,
            judge_rows,
        ),
        Check(
            "offset",
            Text("rows far from 0 keep their digits", "离 0 很远的行不丢失有效数字"),
            offset,
            judge_offset,
            derive=derive_offset,
        ),
        Check(
            "offset-gradient",
            Text("and so do their gradients", "它们的梯度也一样"),
            offset_gradient,
            judge_offset,
            derive=derive_offset,
        ),
    ],
    worked=worked,
)
