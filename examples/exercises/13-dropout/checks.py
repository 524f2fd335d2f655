"""What is looked at in exercise 13."""

import numpy as np

from minigrad import Tensor, grad, primitive
from minigrad.coursework import (
    Check,
    Exercise,
    Failure,
    Text,
    as_the_reference,
    identical,
    op_checks,
)


def call(rng, shape, p, **options):
    """An x of a shape, in which no entry is 0, and a seed."""
    x = rng.choice([-1.0, 1.0], shape) * (0.5 + rng.random(shape))
    return (x, {"p": p, "seed": int(rng.integers(1000)), **options})


def cases(rng):
    """Different prime sides, a square, three axes, one axis, p = 0, seed 0, and evaluation.

    In training, training=True is said twice and left out thrice.
    """
    return [
        call(rng, (7, 11), 0.3, training=True),
        call(rng, (8, 8), 0.9),
        call(rng, (3, 5, 7), 0.1, training=True),
        call(rng, (13,), 0.45, seed=0),
        call(rng, (5, 7), 0.4, training=False),
        call(rng, (3, 11), 0.0),
    ]


def constants(x, p, seed, training=True):
    """The probabilities of dropping and of keeping."""
    return {"p": p, "(1 − p)": 1 - p} if training else {}


def op_of(module):
    """Dropout in the engine."""
    return primitive(module.dropout_gradient, example=cases)(module.dropout)


def draws(module, rng):
    """Masks of four generators, of which the last was used before."""
    seed = int(rng.integers(1000))
    one, again, other = (np.random.default_rng(s) for s in (seed, seed, seed + 1))
    found = {}
    for name, drawn in {"first": one, "again": again, "other": other, "next": one}.items():
        mask = module.keep_mask((7, 11), 0.3, drawn)  # which the next check looks at, too
        found[name] = COPY(mask) if isinstance(mask, np.ndarray) else mask
    return found


COPY = np.ndarray.copy  # not that of a class of the student's


def derive_draws(observed, right):
    """Whether masks come from the generator that is passed, and from nowhere else."""
    first, again, other, later = (observed[name] for name in ("first", "again", "other", "next"))
    if not isinstance(first, np.ndarray):  # no mask: the next check tells
        return dict.fromkeys(DRAWS, 1.0)
    true = identical(first, again), not identical(first, other), not identical(first, later)
    return dict(zip(DRAWS, map(float, true), strict=True))


SAME_RESULT = (
    "the same seed drops the same entries",
    "the same seed gives the same result",
)
SAME_GRADIENT = (
    "the rule gives 0 at the same entries when it is asked again",
    "the rule gives the same gradient when it is asked again",
)
DRAWS = (
    "two generators with the same seed give the same mask",
    "two generators with different seeds give different masks",
    "one generator gives a new mask the next time",
)


def judge_draws(observed, right):
    """All must be true."""
    for name in right:
        if not np.all(observed[name] == 1.0):
            return Failure(name, Text(f"not so: {name}", f"不成立：{MEANING.get(name, name)}"))
    return None


MEANING = {
    "two generators with the same seed give the same mask": "种子相同的两个生成器给出相同的掩码",
    "two generators with different seeds give different masks": (
        "种子不同的两个生成器给出不同的掩码"
    ),
    "one generator gives a new mask the next time": "同一个生成器第二次给出新的掩码",
    SAME_RESULT[0]: "种子相同，丢弃的元素就相同",
    SAME_RESULT[1]: "种子相同，结果就相同",
    SAME_GRADIENT[0]: "再次调用规则，梯度为 0 的仍是相同的元素",
    SAME_GRADIENT[1]: "再次调用规则，得到相同的梯度",
}


def masks(module, rng):
    """Masks of several shapes."""
    found = {}
    for shape, p in (((7, 11), 0.3), ((8, 8), 0.9), ((13,), 0.45), ((3, 5, 7), 0.1)):
        seed = int(rng.integers(1000))
        drawn = module.keep_mask(shape, p, np.random.default_rng(seed))
        found[f"keep_mask({shape}, {p}, default_rng({seed}))"] = drawn
    return found


def judge_masks(observed, right):
    """The right ones, and of booleans."""
    bad = as_the_reference(observed, right)
    for key in right if bad is None else ():
        if observed[key].dtype != bool:
            en = f"{key}: its dtype is {observed[key].dtype} in place of bool"
            return Failure(key, Text(en, f"{key}：dtype 是 {observed[key].dtype}，应为 bool"))
    return bad


def repeatable(module, rng):
    """Results of one seed."""
    x, options = call(rng, (7, 11), 0.3, training=True)
    found = {}
    for name in ("once", "again"):
        made = module.dropout(x.copy(), **options)
        found[name] = COPY(made) if isinstance(made, np.ndarray) else made
    return found


def repeatable_gradient(module, rng):
    """And gradients."""
    x, options = call(rng, (7, 11), 0.3, training=True)
    leaf, g = Tensor(x, requires_grad=True), rng.normal(size=x.shape)
    try:
        out = op_of(module)(leaf, **options)
        one, two = (grad(out, [leaf], g, retain_graph=True)[0].numpy() for _ in range(2))
    except (TypeError, ValueError):  # whether it is a gradient at all is asked later
        one = two = np.zeros(0)
    return {"once": one, "again": two}


def same_again(claims):
    """What is derived from both: whether they are 0 at the same entries, and equal."""

    def derive(observed, right):
        both = [observed.get(name) for name in ("once", "again")]
        if not all(isinstance(x, np.ndarray) and x.dtype.kind in "biuf" for x in both):
            return dict.fromkeys(claims, 1.0)  # no numbers: a later check tells
        same = identical(*[np.array(x == 0) for x in both]), identical(*both)
        return dict(zip(claims, map(float, same), strict=True))

    return derive


def if_repeatable(check):
    """The check, where masks follow from seeds; gradients of others cannot be compared."""

    def observe(module, rng):
        drawn = derive_draws(draws(module, np.random.default_rng(0)), {})
        once, again = repeatable_gradient(module, np.random.default_rng(0)).values()
        if not (all(drawn.values()) and identical(once, again)):
            raise ValueError("the mask does not follow from the seed")
        return check.observe(module, rng)

    return check._replace(observe=observe)


def two_in_a_row(module, rng):
    """Two dropouts in one graph, each with a mask of its own."""
    (x, options), (y, others) = (call(rng, (7, 11), 0.4) for _ in range(2))
    leaves = [Tensor(x, requires_grad=True), Tensor(y, requires_grad=True)]
    op = op_of(module)
    out = op(leaves[0], **options) * 3.0 + op(leaves[1], **{**others, "seed": options["seed"] + 1})
    made = grad(out, leaves, rng.normal(size=out.shape))
    return {
        f"3 · dropout(x) + dropout(y): ∂L/∂{name}": x.numpy()
        for name, x in zip("xy", made, strict=True)
    }


def expectation(module, rng):
    """Means over many entries, and evaluation."""
    x = Tensor(np.ones((200, 200)), requires_grad=True)
    out = op_of(module)(x, p=0.25, seed=int(rng.integers(1000)))
    (gradient,) = grad(out, [x], np.ones(x.shape))
    plain = rng.normal(size=(5, 7))
    same = module.dropout(plain.copy(), p=0.25, seed=0, training=False)
    return {
        "mean(out ≠ 0)": float((out.numpy() != 0).mean()),
        "x = 1: mean(out)": float(out.numpy().mean()),
        "g = 1: mean(∂L/∂x)": float(gradient.numpy().mean()),
        "training=False: out − x": np.asarray(same, float) - plain,
    }


def judge_expectation(observed, right):
    """To 0.02, which is seven standard deviations and more."""
    for name, wanted in zip(right, (0.75, 1.0, 1.0, 0.0), strict=True):
        far = np.abs(np.asarray(observed[name], float) - wanted).max()
        if not far < (0.02 if wanted else 1e-12):
            en = f"{name} must be {wanted}, p = 0.25; it is off by {far:.3g}"
            return Failure(name, Text(en, f"p = 0.25 时 {name} 应为 {wanted}，相差 {far:.3g}"))
    return None


def worked(solution, language):
    """Four numbers."""
    x, g, seed = np.array([3.0, 6.0, 9.0, 12.0]), np.array([3.0, 3.0, 6.0, 9.0]), 3
    options = {"p": 0.25, "seed": seed, "training": True}
    numbers = np.random.default_rng(seed).random(4)
    lines = [f"x = {x}, g = {g}, p = 0.25, seed = {seed}"]
    lines += [f"rng.random(4) = {numbers.round(4)}"]
    lines += [f"mask = {solution.keep_mask(4, 0.25, np.random.default_rng(seed)).tolist()}"]
    lines += [f"y = x ⊙ mask / 0.75 = {solution.dropout(x, **options)}"]
    lines += [f"∂L/∂x = g ⊙ mask / 0.75 = {solution.dropout_gradient(g, **options)}"]
    note = Text(
        "The same mask twice, and both times the division by 1 − p.",
        "两次用的是同一个掩码，而且两次都除以 1 − p。",
    )
    return "\n".join([*lines, note.of(language)])


of_op = op_checks("dropout", ["dropout_gradient"], cases, constants=constants)

EXERCISE = Exercise(
    title=Text("Dropout", "Dropout（随机失活）"),
    checks=[
        of_op[0],
        Check(
            "draws",
            Text("the mask comes from the generator that is passed", "掩码来自传入的生成器"),
            draws,
            judge_draws,
            derive=derive_draws,
        ),
        Check("masks", Text("the masks are right", "掩码正确"), masks, judge_masks),
        Check(
            "repeatable",
            Text("the seed alone decides what is dropped", "丢弃哪些元素只由种子决定"),
            repeatable,
            judge_draws,
            derive=same_again(SAME_RESULT),
        ),
        Check(
            "repeatable-gradient",
            Text("the rule uses one mask, however often it is asked", "规则每次都用同一个掩码"),
            repeatable_gradient,
            judge_draws,
            derive=same_again(SAME_GRADIENT),
        ),
        *[if_repeatable(check) if check.gradients else check for check in of_op[1:]],
        Check(
            "two-in-a-row",
            Text(
                "two dropouts in one graph keep their masks apart",
                "同一个图中的两次 dropout 各用自己的掩码",
            ),
            two_in_a_row,
        ),
        Check(
            "expectation",
            Text(
                "results and gradients are right on average; evaluation changes nothing",
                "结果和梯度的平均值正确；评估时什么也不变",
            ),
            expectation,
            judge_expectation,
        ),
    ],
    worked=worked,
)
