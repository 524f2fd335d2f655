"""What is looked at in exercise 1."""

import inspect
import warnings

import numpy as np

from minigrad import Tensor, primitive
from minigrad.coursework import Check, Exercise, Failure, Text, as_the_reference, op_checks


def of(name, checks):
    """The checks of one of the two functions, with its name on them."""
    return [
        c._replace(
            name=f"{name}-{c.name}", title=Text(f"{name}: {c.title.en}", f"{name}：{c.title.zh}")
        )
        for c in checks
    ]


def cases_of_tanh(rng):
    """Different prime sides, a square, a vector, three axes, none."""
    shapes = (3, 5), (4, 4), (7,), (2, 3, 5), ()
    return [(np.asarray(rng.normal(size=shape)),) for shape in shapes]


def cases_of_power(rng):
    """Whole, fractional and negative exponents; only whole ones with a negative base."""
    return [
        (rng.normal(size=(3, 5)), 3),
        (rng.normal(size=(4, 4)), 2),
        (rng.uniform(0.5, 2.0, (2, 7)), 2.5),
        (rng.uniform(0.5, 2.0, 5) * [1.0, -1.0, 1.0, -1.0, -1.0], -2.0),
        (rng.uniform(0.5, 2.0, (3, 2)) * [-1.0, 1.0], -3),
        (np.asarray(-rng.uniform(0.5, 2.0)), -1),
    ]


def saved(module, rng):
    """What the rule asks for, read off its parameters as the engine does."""
    code = inspect.unwrap(module.tanh_gradient).__code__
    asks = code.co_varnames[1 : code.co_argcount]
    return {f"tanh_gradient(g, {name})": float(name in asks) for name in ("x", "out")}


def judge_saved(observed, right):
    """The saved result is all that is needed."""
    for name, value in right.items():
        if observed[name] != value:
            en = "tanh_gradient must be a function of g and out alone: the result is saved already"
            zh = "tanh_gradient 应只是 g 和 out 的函数：前向的结果已经保存好了"
            return Failure(name, Text(en, zh))
    return None


def large(module, rng):
    """Values, gradients and NumPy's warnings where eˣ would overflow."""
    op = primitive(module.tanh_gradient, example=cases_of_tanh)(module.tanh)
    x = Tensor([-1000.0, -400.0, 0.0, 400.0, 1000.0], requires_grad=True)
    g = rng.normal(size=5)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with np.errstate(over="warn", divide="warn", invalid="warn"):
            out = op(x)
            out.backward(g)
    return {
        "tanh([−1000, −400, 0, 400, 1000])": out.numpy(),
        "tanh([−1000, −400, 0, 400, 1000]): ∂L/∂x": x.grad,
        WARNINGS: float(bool(told)),
    }


WARNINGS = "tanh([−1000, −400, 0, 400, 1000]): warnings"


def judge_large(observed, right):
    """A warning has words of its own."""
    bad = as_the_reference(observed, right)
    if bad is None or bad.key != WARNINGS:
        return bad
    call = WARNINGS.partition(": ")[0]
    en = f"{call}: NumPy warns here, although the values are right"
    return Failure(bad.key, Text(en, f"{call}：值虽然正确，NumPy 却发出了警告"))


def zeros(module, rng):
    """Entries of x that are 0, where a quotient out / x would be 0 / 0."""
    op = primitive(module.power_gradient, example=cases_of_power)(module.power)
    found = {}
    for n in (1, 2, 3):
        x = Tensor([[0.0, -2.0, 1.5], [3.0, 0.0, 0.0]], requires_grad=True)
        out = op(x, n=n)
        out.backward(rng.normal(size=(2, 3)))
        found[f"power([[0, −2, 1.5], [3, 0, 0]], {n})"] = out.numpy()
        found[f"power([[0, −2, 1.5], [3, 0, 0]], {n}): ∂L/∂x"] = x.grad
    return found


def worked(solution, language):
    """One number through each function."""
    x, g = np.array(0.5), np.array(3.0)
    out = solution.tanh(x)
    d = solution.tanh_gradient(g, out)
    lines = [
        f"tanh:  x = {x}, out = {out:.4f}, g = {g}",
        f"       1 − out² = {1 - out * out:.4f}, ∂L/∂x = g (1 − out²) = {d:.4f}",
    ]
    x, g, n = np.array(2.0), np.array(0.5), 3
    d = solution.power_gradient(g, x, n=n)
    lines += [
        f"power: x = {x}, n = {n}, out = {solution.power(x, n)}, g = {g}",
        f"       n xⁿ⁻¹ = {n * x ** (n - 1)}, ∂L/∂x = g n xⁿ⁻¹ = {d}",
    ]
    note = Text(
        "Each line is a slope at one entry, times what came from above.",
        "每一行都是某个元素处的斜率，再乘以上游传来的梯度。",
    )
    return "\n".join([*lines, note.of(language)])


EXERCISE = Exercise(
    title=Text("Local derivatives: tanh and power", "局部导数：tanh 与幂"),
    checks=[
        *of("tanh", op_checks("tanh", ["tanh_gradient"], cases_of_tanh)),
        Check(
            "tanh-saved",
            Text("tanh: the rule uses the saved result", "tanh：规则使用保存下来的结果"),
            saved,
            judge_saved,
        ),
        Check(
            "tanh-large",
            Text("tanh: large x give no warning and no NaN", "tanh：x 很大时没有警告，也没有 NaN"),
            large,
            judge_large,
        ),
        *of(
            "power",
            op_checks("power", ["power_gradient"], cases_of_power, constants=lambda x, n: {"n": n}),
        ),
        Check(
            "power-zeros",
            Text("power: right where x is 0", "power：x 为 0 处也正确"),
            zeros,
        ),
    ],
    worked=worked,
)
