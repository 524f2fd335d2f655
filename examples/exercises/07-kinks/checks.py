"""What is looked at in exercise 7."""

import numpy as np

from minigrad import Tensor, primitive
from minigrad.coursework import (
    Check,
    Exercise,
    Failure,
    Text,
    as_the_reference,
    misshapen,
    op_checks,
)

SHAPES = [(7,), (3, 5), (4, 4), (2, 3, 5)]


def of(name, checks):
    """The checks of one of the three functions, with its name on them."""
    return [
        c._replace(
            name=f"{name}-{c.name}", title=Text(f"{name}: {c.title.en}", f"{name}：{c.title.zh}")
        )
        for c in checks
    ]


def cases_of_relu(rng):
    """Different prime sides and a square, large entries and tiny ones; the kink is met never."""
    made = [(size * rng.normal(size=s),) for s, size in zip(SHAPES, (1, 1e4, 1, 30), strict=True)]
    return [*made, (1e-6 * rng.permutation(np.linspace(-2.9, 3.3, 11)),)]


def squares_of_max(rng):
    """Squares and a cube, where a wrong axis does not show in the shape.

    A square has as many maxima as its side is long, a cube has more.
    """
    sides = {0: 5, 1: 3, -1: 5}  # so that no number is the side of all
    made = [(rng.normal(size=(n, n)), {"axis": axis}) for axis, n in sides.items()]
    return [*made, (rng.normal(size=(3, 3, 3)), {"axis": 1})]


def cases_of_max(rng):
    """Different prime sides, any axis, and the default; there are no ties."""
    axes = [((7,), 0), ((5, 2), 0), ((2, 3, 5), 1), ((2, 3, 5), -3)]
    made = [(rng.normal(size=shape), {"axis": axis}) for shape, axis in axes]
    return [*made, (rng.normal(size=(3, 5)),), (rng.normal(size=(5, 2, 3)),)]


def cases_of_clip(rng):
    """Entries below, between and above the bounds in every call, some of them close to a bound."""
    made = []
    bounds = [(-0.5, 1.5), (-1.0, 0.0), (0.0, 1.2), (-2.0, -0.4)]
    for shape, (low, high) in zip(SHAPES, bounds, strict=True):
        close = [bound + step for bound in (low, high) for step in (-1e-6, 1e-6)]
        others = np.linspace(-2.9, 3.3, int(np.prod(shape)) - len(close))
        x = rng.permutation(np.concatenate([close, others])).reshape(shape)
        made.append((x, low, high))
    return made


def max_checks():
    """The layers of max, and its gradients in squares before those along any axis."""
    layers = op_checks("max_over", ["max_gradient"], cases_of_max)
    in_squares = op_checks("max_over", ["max_gradient"], squares_of_max)
    [square] = [c for c in in_squares if c.gradients]
    title = Text(
        "where all axes are equally long, the gradient goes to the right entries",
        "各轴等长时，梯度传到了正确的元素",
    )
    [first, second, *others] = layers
    return [first, second, square._replace(name="square", title=title), *others]


def slopes(forward, rule, kinks, **options):
    """An observation of the gradient that a rule gives at kinks, of a random upstream.

    With it comes the forward at each kink, just left and just right of it.
    """
    step = 2.0**-10
    sides = {f"{forward}(x − h)": -step, f"{forward}(x)": 0.0, f"{forward}(x + h)": step}

    def observe(module, rng):
        function = primitive(getattr(module, rule), example=cases_of_relu)(getattr(module, forward))
        at = np.array(kinks)
        x = Tensor(at, requires_grad=True)
        out = function(x, **options)
        g = rng.uniform(0.5, 2.0, at.size) * rng.choice([-1.0, 1.0], at.size)
        out.backward(g)
        near = {key: function(Tensor(at + d), **options).numpy() for key, d in sides.items()}
        return {**near, "∂L/∂x": x.grad, "#g": g}

    def judge(observed, right):
        values = {key: right[key] for key in sides}
        if bad := as_the_reference(observed, values) or misshapen(observed, right):
            return bad
        slope = observed["∂L/∂x"].astype(float) / right["#g"]
        before, here, after = values.values()
        both = (here - before) / step, (after - here) / step
        lowest, highest = np.minimum(*both) + 0.0, np.maximum(*both) + 0.0  # no −0
        for at, s, low, high in zip(kinks, slope, lowest, highest, strict=True):
            if not low - 1e-9 <= s <= high + 1e-9:
                key = f"{forward}, x = {at:g}"
                en = f"{key}: the slope is {s:.6g}, and must lie between {low:.6g} and {high:.6g}"
                zh = f"{key}：斜率为 {s:.6g}，应在 {low:.6g} 与 {high:.6g} 之间"
                return Failure("∂L/∂x", Text(en, zh))
        return None

    title = Text("at a kink, a slope between those on both sides", "折点处的斜率介于两侧的斜率之间")
    return Check("kinks", title, observe, judge)


TIES = np.array(
    [
        [2.0, 2.0, 1.0, 0.0],
        [3.0, 0.0, 1.0, 3.0],
        [1.0, 1.0, 1.0, 1.0],
        [0.0, 5.0, 4.0, 5.0],
        [1.0, 1.0 + 1e-7, 0.0, 0.5],  # nearly a tie is none
    ]
)


def ties(module, rng):
    """The gradient where entries tie, along any axis."""
    found = {}
    three = np.stack([TIES.T, TIES.T[:, ::-1]])
    for axis, x in ((1, TIES), (0, TIES.T.copy()), (-1, TIES[::-1].copy()), (1, three)):
        function = primitive(module.max_gradient, example=cases_of_max)(module.max_over)
        leaf = Tensor(x, requires_grad=True)
        out = function(leaf, axis=axis)
        g = rng.uniform(0.5, 2.0, out.shape) * rng.choice([-1.0, 1.0], out.shape)
        out.backward(g)
        name = f"x {x.shape}, axis={axis}: ∂L/∂x"
        found[name] = leaf.grad
        found[f"#g {name}"] = np.expand_dims(g, axis)
        found[f"#largest {name}"] = (x == x.max(axis=axis, keepdims=True)).astype(float)
    return found


def judge_ties(observed, right):
    """Where there is a tie, every fair share is right: the parts are ≥ 0 and add up to 1."""
    if bad := misshapen(observed, right):
        return bad
    for key in [key for key in right if not key.startswith("#")]:
        g, largest = right[f"#g {key}"], right[f"#largest {key}"]
        parts = observed[key].astype(float) / g
        total = parts.sum(axis=g.shape.index(1))
        if not (parts[largest == 0] == 0).all():
            en, zh = (
                "an entry that is not the largest gets a gradient",
                "不是最大的元素也得到了梯度",
            )
        elif not (parts >= 0).all() or not np.abs(total - 1).max() <= 1e-9:
            sums = ", ".join(f"{x:.6g}" for x in total.ravel())
            en = f"the parts of a tie must have g's sign and add up to g; the sums / g are {sums}"
            zh = f"并列各元素所得的份额应与 g 同号且合计为 g；各组合计与 g 之比为 {sums}"
        else:
            continue
        return Failure(key, Text(f"{key}: {en}", f"{key}：{zh}"))
    return None


def worked(solution, language):
    """Three numbers through each function, one of them at a kink or in a tie."""
    x, g = np.array([-1.0, 0.0, 2.0]), np.array([5.0, 6.0, 7.0])
    back = solution.relu_gradient(g, x)
    lines = [f"relu: x = {x}, g = {g}, ∂L/∂x = {back}"]
    x, g = np.array([4.0, 1.0, 4.0]), np.array(6.0)
    back = solution.max_gradient(g, x, solution.max_over(x), axis=-1)
    lines += [f"max:  x = {x}, g = {g}, ∂L/∂x = {back}"]
    x, g = np.array([-3.0, 0.5, 9.0]), np.array([5.0, 6.0, 7.0])
    back = solution.clip_gradient(g, x, low=0.0, high=1.0)
    lines += [f"clip to [0, 1]: x = {x}, g = {g}, ∂L/∂x = {back}"]
    note = Text(
        "What was chosen passes its gradient on, what was not gets 0; a tie shares.",
        "被选中的把梯度传下去，没被选中的得 0；并列的元素分享梯度。",
    )
    return "\n".join([*lines, note.of(language)])


EXERCISE = Exercise(
    title=Text("Kinks and ties: relu, max, clip", "折点与并列：relu、max、clip"),
    checks=[
        *of("relu", op_checks("relu", ["relu_gradient"], cases_of_relu)),
        *of("relu", [slopes("relu", "relu_gradient", [0.0, -0.0, 0.0])]),
        *of("max", max_checks()),
        Check(
            "max-ties",
            Text("max: ties share the gradient", "max：并列者分享梯度"),
            ties,
            judge_ties,
        ),
        *of("clip", op_checks("clip", ["clip_gradient"], cases_of_clip)),
        *of("clip", [slopes("clip", "clip_gradient", [-0.5, 1.5], low=-0.5, high=1.5)]),
    ],
    worked=worked,
)
