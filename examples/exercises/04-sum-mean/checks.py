"""What is looked at in exercise 4."""

import math

import numpy as np

from minigrad import Tensor, primitive
from minigrad.coursework import Check, Exercise, Failure, Text, op_checks

# From the simplest to the hardest: shapes of x, and options. A square tells the axes apart where
# shapes cannot.
ALL = [((7,), {}), ((3, 5), {}), ((4, 4), {}), ((2, 3, 5), {"axis": None})]
SQUARE = [((4, 4), {"axis": 0}), ((4, 4), {"axis": 1}), ((3, 3, 3), {"axis": 1})]
ONE = [
    ((5,), {"axis": 0}),
    ((3, 5), {"axis": 1}),
    *[((2, 3, 5), {"axis": a}) for a in range(3)],
    ((2, 3, 5, 7), {"axis": 3}),
]
NEGATIVE = [
    ((4, 4), {"axis": -1}),
    ((4, 4), {"axis": -2}),
    ((3, 3, 3), {"axis": -2}),
    ((2, 3, 5), {"axis": -1}),
    ((2, 3, 5), {"axis": -3}),
]
KEPT = [
    ((4, 4), {"axis": 1, "keepdims": True}),
    ((2, 3, 5), {"axis": 0, "keepdims": True}),
    ((2, 3, 5), {"axis": -1, "keepdims": True}),
    ((3, 5), {"keepdims": True}),
]
SEVERAL = [
    ((2, 3, 5), {"axis": (0, 2)}),
    ((2, 3, 5), {"axis": (2, 0)}),
    ((2, 3, 5), {"axis": (-1, 1)}),
    ((4, 4, 4), {"axis": (0, 2)}),
    ((2, 3, 5), {"axis": (-3, 1), "keepdims": True}),
    ((2, 3, 5, 7), {"axis": (3, 0, -2)}),
]
ANY = [ALL[1], SQUARE[1], ONE[3], ((2, 3, 5), {"axis": -2}), KEPT[1], SEVERAL[1], SEVERAL[4]]

STEPS = [
    ("all", ALL, Text("all axes", "所有的轴")),
    ("square", SQUARE, Text("one axis of a square: the right one", "方阵的一个轴：方向要对")),
    ("one", ONE, Text("one axis of different lengths", "一个轴，各轴长度不同")),
    ("negative", NEGATIVE, Text("an axis counted from the end", "从末尾数起的轴")),
    ("kept", KEPT, Text("keepdims=True", "keepdims=True")),
    ("several", SEVERAL, Text("several axes in any order", "多个轴，次序任意")),
]


def calls(shapes):
    """The example with these shapes and options."""
    return lambda rng: [
        (rng.normal(size=shape), options) if options else (rng.normal(size=shape),)
        for shape, options in shapes
    ]


def constants(x, axis=None, keepdims=False):
    """Numbers that a rule may forget or use once too often."""
    n = x.size // max(1, np.sum(x, axis=axis).size)
    return {"n": n, "the size of x": x.size}


def checks_of(op):
    """The layers of checks of one op; its gradients one kind of axis at a time."""
    functions = f"{op}_over", [f"{op}_gradient"]
    layers = {c.name: c for c in op_checks(*functions, calls(ANY))}
    del layers["gradients"]
    every = [case for _, shapes, _ in STEPS for case in shapes]
    [values] = [c for c in op_checks(*functions, calls(every)) if c.name == "values"]
    layers["values"] = values
    found = [named(op, layers.pop(name)) for name in ("signature", "values")]
    for name, shapes, title in STEPS:
        several = op_checks(*functions, calls(shapes), constants=constants)
        [gradients] = [c for c in several if c.gradients]
        found.append(named(op, gradients._replace(name=name, title=title)))
    return [*found, *[named(op, c) for c in layers.values()], mirror(op)]


def named(op, check):
    """A check with the name of its op on it."""
    title = Text(f"{op}: {check.title.en}", f"{op}：{check.title.zh}")
    return check._replace(name=f"{op}-{check.name}", title=title)


def mirror(op):
    """Both are linear, so Σ g ⊙ out and Σ ∂L/∂x ⊙ x are the same number."""

    def observe(module, rng):
        rule, forward = getattr(module, f"{op}_gradient"), getattr(module, f"{op}_over")
        function = primitive(rule, example=calls(ANY))(forward)
        found = {}
        for shape, options in ANY:
            x = Tensor(rng.normal(size=shape), requires_grad=True)
            out = function(x, **options)
            g = rng.normal(size=out.shape)
            out.backward(g)
            given = "".join(f", {name}={value}" for name, value in options.items())
            told = f"{op}_over({shape}{given})"
            found[f"{told}: Σ g ⊙ out"] = float((g * out.numpy()).sum())
            found[f"#size {told}: Σ g ⊙ out"] = float(np.abs(g * out.numpy()).sum())
            found[f"{told}: Σ ∂L/∂x ⊙ x"] = float((x.grad * x.numpy()).sum())
        return found

    def judge(observed, right):
        sums = [key for key in right if key[0] != "#"]
        for name, key in zip(sums[::2], sums[1::2], strict=True):
            size = float(right[f"#size {name}"])
            forward, back = float(right[name]), float(observed[key])
            if not abs(forward - back) <= 1e-6 * size:
                en = f"{key} is {back:.6g} and must be {forward:.6g}"
                return Failure(key, Text(en, f"{key}：得到 {back:.6g}，应为 {forward:.6g}"))
        return None

    title = Text("Σ ∂L/∂x ⊙ x equals Σ g ⊙ out", "Σ ∂L/∂x ⊙ x 等于 Σ g ⊙ out")
    return named(op, Check("mirror", title, observe, judge))


def worked(solution, language):
    """Two rows, and what each function sends back to them."""
    x, g = np.array([[1.0, 2.0, 6.0], [3.0, 4.0, 5.0]]), np.array([3.0, 6.0])
    options = {"axis": 1, "keepdims": False}
    lines = ["x =", f"{x}", f"g = {g}, axis = 1"]
    for name in ("sum", "mean"):
        out = getattr(solution, f"{name}_over")(x, axis=1)
        back = getattr(solution, f"{name}_gradient")(g, x.shape, **options)
        lines += [f"{name}: out = {out}, ∂L/∂x =", f"{back}"]
    n = math.prod(x.shape) // g.size
    note = Text(
        f"Each row gets its own entry of g; in a mean each of the {n} entries gets 1/{n} of it.",
        f"每一行得到 g 中属于自己的那个元素；求平均时 {n} 个元素各得其 1/{n}。",
    )
    return "\n".join([*lines, note.of(language)])


EXERCISE = Exercise(
    title=Text("Sum and mean over axes", "沿轴求和与求平均"),
    checks=[*checks_of("sum"), *checks_of("mean")],
    worked=worked,
)
