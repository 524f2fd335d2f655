"""What is looked at in exercise 9."""

from contextlib import suppress

import numpy as np

from minigrad import Tensor, grad, primitive
from minigrad.coursework import (
    Check,
    Exercise,
    Failure,
    Text,
    misshapen,
    op_checks,
    unchanged,
)

CLOSE = 1e-6
"""What is as close as this is also the same to the diagnosis."""


def call(rng, shape, *, ignored=0, **options):
    """Logits of a shape with targets, of which the first ones that are drawn do not count."""
    *rows, classes = shape
    index = options.get("ignore_index", -100)
    if 0 <= index < classes:  # so that exactly as many do not count as should
        others = [c for c in range(classes) if c != index]
        targets = rng.choice(others, rows)
    else:
        targets = rng.integers(0, classes, rows)
    targets.ravel()[rng.permutation(targets.size)[:ignored]] = index
    made = 2 * rng.normal(size=shape), targets
    return (*made, options) if options else made


def cases(rng):
    """Different prime sides, a square, the three reductions, ignored targets, any axes of rows."""
    return [
        call(rng, (5, 3)),
        call(rng, (4, 4), reduction="mean"),
        call(rng, (7, 3), reduction="sum"),
        call(rng, (5, 2), reduction="none"),
        call(rng, (2, 3, 5), reduction="mean"),
        call(rng, (11, 3), ignored=4, reduction="mean"),
        call(rng, (7, 5), ignored=2, ignore_index=0, reduction="mean"),
        call(rng, (7, 2), ignored=3, ignore_index=-1, reduction="sum"),
        call(rng, (2, 3, 5), ignored=2, ignore_index=4, reduction="none"),
        call(rng, (2, 3, 5), reduction="sum"),
        call(rng, (2, 3, 5), ignored=2, reduction="mean"),
        call(rng, (5,), reduction="none"),
        call(rng, (5,), reduction="mean"),
        call(rng, (5,), ignored=1, reduction="none"),
    ]


def constants(logits, targets, ignore_index=-100, reduction="mean"):
    """N targets that count, and C classes."""
    counted = np.count_nonzero(targets != ignore_index)
    return {"N": counted, "C": logits.shape[-1]}


def backward(module, g, logits, targets, **options):
    """∂L/∂logits in the engine."""
    rules = (module.cross_entropy_gradient, None)
    leaf = Tensor(logits, requires_grad=True)
    out = primitive(*rules, example=cases)(module.cross_entropy)(leaf, targets, **options)
    return grad(out, [leaf], g)[0].numpy()


def targets_kept(module, rng):
    """The targets as they are after the forward, and after the rule."""
    logits, targets, options = call(rng, (5, 3), ignored=2, reduction="none")
    forward, both = targets.copy(), targets.copy()
    module.cross_entropy(logits, forward, **options)
    with suppress(TypeError, ValueError, IndexError):  # whether the rule works is asked later
        backward(module, rng.normal(size=5), logits, both, **options)
    return {"cross_entropy: targets": forward, "cross_entropy_gradient: targets": both}


def derive_kept(observed, right):
    """Which of them are as they were; the rule is to blame only where the forward is not."""
    forward, both = unchanged(observed, right).items()
    return dict([forward, both if forward[1] else (both[0], 1.0)])


def judge_kept(observed, right):
    """All must be as they were."""
    for name in right:
        if not np.all(observed[name] == 1.0):
            en = f"{name} are changed in place; write into a new array"
            return Failure(name, Text(en, f"{name} 被就地修改了，请写到新数组里"))
    return None


APART = "loss(x), x of shape (2, 3, 5) with rows 2000 apart"


def rows_apart(rng):
    """Rows of logits that are far from each other, with two axes, and their targets."""
    shifts = np.array([[0.0, 2000.0, -2000.0], [-2000.0, 0.0, 0.0]])
    return rng.normal(size=(2, 3, 5)) + shifts[..., None], rng.integers(0, 5, (2, 3))


def far(module, rng):
    """Losses where exp overflows, or where a weight is too small to be told from 0."""

    def loss(*row, target):
        return module.cross_entropy(np.array([row]), np.array([target]))

    apart = np.array([[0.0, 1.0], [-2000.0, -2001.0]]) + rng.normal(size=(2, 1))
    losses = module.cross_entropy(apart, np.array([0, 1]), reduction="none")
    sure = np.array([[800.0, 0, -800], [0, 800, -800], [-800, 0, 800], [0, 1, 3]])
    easy = module.cross_entropy(sure, np.array([0, 1, 2, 0]), reduction="none")
    # Differences, so that whatever number someone adds to a weight of 0 is seen in the same way.
    lower = loss(0.0, -1600.0, target=1) - loss(0.0, -800.0, target=1)
    higher = loss(1600.0, 0.0, target=1) - loss(800.0, 0.0, target=1)
    low = np.linspace(-1300.0, -800.0, 6)
    wide = np.stack([0 * low, low], axis=-1).reshape(2, 3, 2)
    once, twice = (
        module.cross_entropy(x, np.ones((2, 3), int), reduction="none") for x in (wide, 2 * wide)
    )
    logits, targets = rows_apart(rng)
    return {
        "loss([0, −1600], 1) − loss([0, −800], 1)": lower,
        "loss([1600, 0], 1) − loss([800, 0], 1)": higher,
        "loss([[800, 0, −800], [0, 800, −800], [−800, 0, 800], [0, 1, 3]], [0, 1, 2, 0])": easy,
        "loss([[a, a + 1], [b − 2000, b − 2001]], [0, 1])": losses,
        "loss(2 x) − loss(x), x of shape (2, 3, 2)": twice - once,
        APART: module.cross_entropy(logits, targets, reduction="none"),
    }


def far_gradients(module, rng):
    """Gradients of the same."""
    found = {}
    for name, logits in {
        "[0, −800]": np.array([[0.0, -800.0]]),
        "[800, 0]": np.array([[800.0, 0.0]]),
        "[[0, 1], [−2000, −2001]]": np.array([[0.0, 1.0], [-2000.0, -2001.0]]),
        "[[0, 800, −800], [−800, 0, 800]]": np.array([[0.0, 800, -800], [-800, 0, 800]]),
    }.items():
        g, targets = rng.normal(size=len(logits)), np.ones(len(logits), int)
        found[f"{name}: ∂L/∂logits"] = backward(module, g, logits, targets, reduction="none")
    logits, targets = rows_apart(rng)
    g = rng.normal(size=targets.shape)
    found[f"{APART}: ∂L/∂logits"] = backward(module, g, logits, targets, reduction="none")
    return found


def none_counts(module, rng):
    """The mean loss where all targets are ignored."""
    return {
        f"loss(logits, {name})": module.cross_entropy(rng.normal(size=(*shape, 5)), targets.copy())
        for name, shape, targets in NOBODY
    }


NOBODY = [
    ("[−100, −100, −100]", (3,), np.full(3, -100)),
    ("−100", (), np.array(-100)),
]


def none_counts_gradient(module, rng):
    """Its gradient."""
    found = {}
    for name, shape, targets in NOBODY:
        logits = rng.normal(size=(*shape, 5))
        made = backward(module, rng.normal(size=()), logits, targets.copy())
        found[f"loss(logits, {name}): ∂L/∂logits"] = made
    return found


def rows(module, rng):
    """What holds of every cross-entropy, whoever wrote it."""
    logits, targets, options = call(rng, (7, 5), ignored=2, reduction="none")
    g = rng.normal(size=7)
    return {
        "losses": module.cross_entropy(logits, targets, **options),
        "losses of logits + 1000": module.cross_entropy(logits + 1000, targets, **options),
        "losses of equal logits": module.cross_entropy(0 * logits, targets, **options),
        "∂L/∂logits": backward(module, g, logits, targets, **options),
        "#counted": (targets != -100).astype(float),
    }


def judge_rows(observed, right):
    """Shift, equal logits, rows that sum to 0, ignored rows."""
    if bad := misshapen(observed, right):
        return bad
    counted = right["#counted"]
    losses, shifted, equal, gradient = (observed[name].astype(float) for name in list(right)[:4])
    found = [
        (
            np.abs(losses - shifted) < CLOSE,
            "the losses of logits + 1000 must be those of the logits",
            "logits 加上 1000，损失不应改变",
        ),
        (
            np.abs(equal - counted * np.log(5)) < CLOSE,
            "five equal logits must have the loss ln 5",
            "五个相等的 logits，损失应为 ln 5",
        ),
        (
            np.abs(gradient.sum(axis=-1)) < CLOSE,
            "each row of ∂L/∂logits must sum to 0",
            "∂L/∂logits 每行之和应为 0",
        ),
        (
            gradient[counted == 0] == 0,
            "∂L/∂logits must be 0 in rows whose target is ignored",
            "目标被忽略的行，∂L/∂logits 应为 0",
        ),
    ]
    for fits, en, zh in found:
        if not np.all(fits):
            return Failure("rows", Text(en, zh))
    return None


def worked(solution, language):
    """Two rows in numbers."""
    logits, targets = np.log([[1.0, 2.0, 5.0], [3.0, 6.0, 1.0]]), np.array([0, 1])
    losses = solution.cross_entropy(logits, targets, reduction="none")
    gradient = solution.cross_entropy_gradient(
        1.0, logits, targets, ignore_index=-100, reduction="mean"
    )
    p = (np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)).round(4)
    lines = [f"p = {p.tolist()}", f"targets = {targets.tolist()}"]
    lines += [f"losses = −ln {p[0, 0]}, −ln {p[1, 1]} = {losses.round(4).tolist()}"]
    lines += [
        f"mean = {losses.mean():.4f}",
        f"∂L/∂logits = (p − one-hot) / 2 = {gradient.round(4).tolist()}",
    ]
    note = Text(
        "Only the entry of the target is negative, and each row sums to 0.",
        "只有目标所在的元素为负，每行之和为 0。",
    )
    return "\n".join([*lines, note.of(language)])


of_op = op_checks("cross_entropy", ["cross_entropy_gradient", None], cases, constants=constants)

EXERCISE = Exercise(
    title=Text("Cross-entropy", "交叉熵"),
    checks=[
        *of_op[:2],
        Check(
            "targets-kept",
            Text("the targets stay as they are", "targets 保持不变"),
            targets_kept,
            judge_kept,
            derive=derive_kept,
        ),
        *of_op[2:],
        Check(
            "far",
            Text("losses are right for logits far apart", "logits 相差很远时，损失也正确"),
            far,
        ),
        Check(
            "far-gradients",
            Text("and so are the gradients", "梯度也正确"),
            far_gradients,
        ),
        Check(
            "none-counts",
            Text("the mean loss is 0 if no target counts", "所有目标都被忽略时，平均损失为 0"),
            none_counts,
        ),
        Check(
            "none-counts-gradient",
            Text("and so is its gradient", "它的梯度也为 0"),
            none_counts_gradient,
        ),
        Check(
            "rows",
            Text(
                "rows of the gradient sum to 0, and only differences of logits matter",
                "梯度每行之和为 0，且只有 logits 之差起作用",
            ),
            rows,
            judge_rows,
        ),
    ],
    worked=worked,
)
