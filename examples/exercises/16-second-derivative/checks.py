"""What is looked at in exercise 16.

A rule that was recorded is differentiated again, and the result held against differences of what
the rule gives on arrays: differences need no reference, and the rule is right by then.
"""

import numpy as np

from minigrad import Tensor, grad, primitive
from minigrad.check.registry import cases_of
from minigrad.coursework import (
    Check,
    Exercise,
    Failure,
    Text,
    as_the_reference,
    misshapen,
    op_checks,
)

RULES = {"tanh": "tanh_gradient", "logsumexp": "logsumexp_gradient"}


def tanh_cases(rng):
    """A matrix, a square, a vector."""
    return [(rng.normal(size=shape),) for shape in ((3, 5), (4, 4), (7,))]


def logsumexp_cases(rng):
    """The last axis, a square, another axis, three axes, and entries of 1000 and of −1000.

    Where entries of a row are far apart, only the largest is safe to take off: in the rows below
    the smallest is not, nor the mean, nor the one at some place, and in each case other rows show.
    The last row is an ordinary one, so that the second derivative is not 0 everywhere.
    """
    far = np.array([[[1000.0, -1000.0]], [[-1000.0, 0.0]], [[0.0, -1000.0]]])
    within = np.array(
        [[0.0, 1000, -1000], [1000, 0, -1000], [500, 900, 0], [-1000, 0, 1000], [0, 0, 0]]
    )
    return [
        (rng.normal(size=(3, 5)),),
        (rng.normal(size=(4, 4)),),
        (rng.normal(size=(5, 2)), {"axis": 0}),
        (rng.normal(size=(2, 7, 3)), {"axis": 1}),
        (rng.normal(size=(2, 3)) + 1000.0,),
        (rng.normal(size=(3, 5, 2)) + far, {"axis": -2}),
        (rng.normal(size=(1, 5, 3)) + within,),
    ]


CASES = {"tanh": tanh_cases, "logsumexp": logsumexp_cases}


def second(name):
    """How a check of the second derivative observes an op."""

    def observe(module, rng):
        op = primitive(getattr(module, RULES[name]), example=CASES[name])(getattr(module, name))
        found = {}
        for number, case in enumerate(cases_of(op.primitive, rng), 1):
            (x,) = case.arrays()
            g = rng.normal(size=case(x).shape)
            v = rng.normal(size=x.shape)
            call = f"[{number}] {name}({x.shape})"
            found |= _second(case, call, x, g, v)
        return found

    return observe


def _second(case, call, x, g, v):
    point, upstream = Tensor(x, requires_grad=True), Tensor(g, requires_grad=True)
    (slope,) = grad(case(point), point, upstream, create_graph=True)
    at_x = at_g = None
    if slope.requires_grad:
        at_x, at_g = grad(slope, [point, upstream], v, allow_unused=True)
    return {
        f"{call}: ∂L/∂x.requires_grad": float(slope.requires_grad),
        f"{call}: ∂(v·∂L/∂x)/∂g": np.zeros(g.shape) if at_g is None else at_g.numpy(),
        f"{call}: ∂(v·∂L/∂x)/∂x": np.zeros(x.shape) if at_x is None else at_x.numpy(),
        f"#differences {call}: ∂(v·∂L/∂x)/∂x": _differences(case, x, g, v),
    }


def _slope(case, x, g):
    """∂L/∂x by the rule, on arrays."""
    point = Tensor(x, requires_grad=True)
    return grad(case(point), point, g)[0].numpy()


def _differences(case, x, g, v):
    """The Hessian of g · out times v: central differences of the gradient, of two steps."""
    coarse, fine = (
        (_slope(case, x + h * v, g) - _slope(case, x - h * v, g)) / (2 * h) for h in (2e-3, 1e-3)
    )
    return fine + (fine - coarse) / 3  # the error that goes with h² is taken out


def judge_second(observed, right):
    """Recorded, and what differences of the gradient say."""
    for name in [name for name in right if name.endswith("requires_grad")]:
        if as_the_reference(observed, {name: np.array(1.0)}):
            call = name.partition(":")[0]
            en = f"{call}: the engine gave tensors to the rule, and got an array back"
            zh = f"{call}：引擎交给规则的是张量，得到的却是数组"
            return Failure(name, Text(en, zh))
    for name in [name for name in right if name.endswith("/∂x") and not name.startswith("#")]:
        found, numeric = observed.get(name), observed[f"#differences {name}"]
        if not isinstance(found, np.ndarray) or found.shape != numeric.shape:
            return as_the_reference(observed, {name: numeric})
        if not np.isfinite(found).all():
            return Failure(name, Text(f"{name} has NaN or ∞ in it", f"{name} 中有 NaN 或 ∞"))
        off = np.abs(found - numeric)
        if not off.max() <= 1e-7 * max(1.0, np.abs(numeric).max()):
            index = tuple(int(i) for i in np.unravel_index(int(off.argmax()), off.shape))
            a, b = float(found[index]), float(numeric[index])
            en = f"{name}{list(index)} is {a:.7g}, and by differences of your gradient {b:.7g}"
            zh = f"{name}{list(index)} 为 {a:.7g}，而对你的梯度取差分得到 {b:.7g}"
            return Failure(name, Text(en, zh))
    return as_the_reference(observed, right)


def hessians(module, rng):
    """The Hessian of logsumexp of one row, entry by entry."""
    op = primitive(module.logsumexp_gradient)(module.logsumexp)
    found = {}
    for count in (3, 5):
        x = Tensor(rng.normal(size=count), requires_grad=True)
        (slope,) = grad(op(x), x, np.array(1.0), create_graph=True)
        rows = [grad(slope, x, unit, retain_graph=True)[0].numpy() for unit in np.eye(count)]
        found[f"∂²logsumexp(({count},))/∂x²"] = np.array(rows)
    return found


def judge_hessians(observed, right):
    """Symmetric, rows that sum to 0, and none of it negative in any direction."""
    if bad := misshapen(observed, right):
        return bad
    for name in right:
        h = observed[name].astype(float)
        if not np.isfinite(h).all():
            return as_the_reference({name: h}, {name: right[name]})
        if not np.abs(h - h.T).max() < 1e-9:
            return Failure(name, Text(f"{name} is not symmetric", f"{name} 不对称"))
        if not np.abs(h.sum(axis=1)).max() < 1e-9:
            return Failure(
                name, Text(f"the rows of {name} must sum to 0", f"{name} 的每行之和应为 0")
            )
        if not np.linalg.eigvalsh(h).min() > -1e-9:
            return Failure(
                name, Text(f"{name} is negative in some direction", f"{name} 在某个方向上为负")
            )
    return None


def worked(solution, language):
    """tanh at 0.5, and the Hessian of logsumexp at (0, log 3)."""
    op = primitive(solution.tanh_gradient)(solution.tanh)
    x = Tensor(0.5, requires_grad=True)
    (slope,) = grad(op(x), x, create_graph=True)
    (curvature,) = grad(slope, x)
    h = 1e-4
    up, down = (solution.tanh_gradient(1.0, np.tanh(0.5 + step)) for step in (h, -h))
    lines = [
        f"tanh(0.5) = {float(op(x)):.4f}",
        f"1 − out² = {float(slope):.4f}",
        f"−2 out (1 − out²) = {float(curvature):.4f}",
    ]
    note = Text("by differences of the gradient", "对梯度取差分")
    lines.append(
        f"{note.of(language)}: ({up:.6f} − {down:.6f}) / 0.0002 = {(up - down) / (2 * h):.4f}"
    )
    return "\n".join(lines)


def renamed(name):
    """The checks of one of the two ops, told apart."""
    for check in op_checks(name, [RULES[name]], CASES[name]):
        title = Text(f"{name}: {check.title.en}", f"{name}：{check.title.zh}")
        yield check._replace(name=f"{name}-{check.name}", title=title)


def seconds(name):
    """The check of an op's second derivative."""
    title = Text(f"{name}: the second derivative is right", f"{name}：二阶导数正确")
    return Check(f"{name}-second", title, second(name), judge_second)


EXERCISE = Exercise(
    title=Text("A second derivative", "二阶导数"),
    checks=[
        *renamed("tanh"),
        seconds("tanh"),
        *renamed("logsumexp"),
        seconds("logsumexp"),
        Check(
            "hessian",
            Text(
                "the Hessian of logsumexp is symmetric, its rows sum to 0",
                "logsumexp 的黑塞矩阵对称，每行之和为 0",
            ),
            hessians,
            judge_hessians,
        ),
    ],
    worked=worked,
)
