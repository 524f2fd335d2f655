"""What is looked at in exercise 3."""

from functools import partial

import numpy as np

from minigrad.coursework import Check, Exercise, Failure, Text, as_the_reference, attempt, unchanged
from minigrad.coursework.values import difference

ONE = [  # the broadcast shape, and the shape before; one axis was added or stretched
    ((3, 5), (5,)),
    ((3, 5), (1, 5)),
    ((3, 5), (3, 1)),
    ((2, 3, 5), (3, 5)),
    ((2, 3, 5), (2, 1, 5)),
    ((4, 4), (4,)),
    ((4, 4), (1, 4)),
    ((4, 4), (4, 1)),
    ((1, 5), (5,)),
]
NONE = [((7,), (7,)), ((3, 5), (3, 5)), ((1, 3), (1, 3)), ((), ())]
SEVERAL = [
    ((2, 3, 5), (5,)),
    ((2, 3, 5), (3, 1)),
    ((2, 3, 5), (2, 1, 1)),
    ((2, 3, 5), (1, 3, 1)),
    ((2, 3, 5, 7), (3, 1, 7)),
    ((3, 5), (1, 1)),
    ((4, 4, 4), (4, 1)),
    ((2, 3, 2, 2, 3), (1, 1, 2, 1, 1)),
    ((2, 3, 2, 3, 5), (5,)),
]
SCALAR = [((7,), ()), ((1,), ()), ((3, 5), ()), ((2, 3, 5), ())]
PAIRS = [  # the shapes of a and b
    ((3, 5), (3, 5)),
    ((4, 4), (4,)),
    ((3, 5), (5,)),
    ((3, 1), (2, 3, 5)),
    ((3, 1), (1, 5)),
    ((2, 1, 5), (3, 1)),
    ((4, 1), (4, 4)),
    ((1, 5), (5,)),
    ((3, 5), ()),
    ((), (7,)),
]


def there(module, rng):
    """Whether both functions are."""
    names = ("unbroadcast", "multiply_gradients")
    return {name: float(callable(getattr(module, name, None))) for name in names}


def undone(shapes):
    """What unbroadcast makes of random gradients, shape by shape, whether or not one raises."""

    def observe(module, rng):
        found = {}
        for large, small in shapes:
            g, other = (np.asarray(rng.normal(size=large)) for _ in range(2))
            key = f"{large} → {small}: ∂L/∂x"
            for name, given in ((key, g), (f"#other {key}", other)):
                attempt(
                    found, [name], module, lambda x=given, to=small: [module.unbroadcast(x, to)]
                )
            copies = g.size // max(1, int(np.prod(small)))
            found[f"#constants {key}"] = {"n": copies}
        return found

    return observe


def untouched(module, rng):
    """The gradients that came in, as they are afterwards."""
    found = {}
    for large, small in (*ONE, *NONE, *SEVERAL, *SCALAR):
        g = rng.normal(size=large)
        module.unbroadcast(g, small)
        found[f"unbroadcast(gradient, {small}), gradient {large}"] = g
    return found


def judge_untouched(observed, right):
    """Nothing may be written into what came in."""
    for key in right:
        if observed[key] != 1:
            en = f"{key}: the gradient is changed: work on a copy, or make a new array"
            zh = f"{key}：传入的梯度被改动了，请在副本上计算，或新建数组"
            return Failure(key, Text(en, zh))
    return None


def balance(module, rng):
    """Σ gradient ⊙ (the broadcast x) against Σ unbroadcast(gradient) ⊙ x."""
    found = {}
    for large, small in (*ONE, *SEVERAL, *SCALAR):
        g, x = rng.normal(size=large), rng.normal(size=small)
        back = np.asarray(module.unbroadcast(g, small), float)
        name = f"{large} → {small}: Σ g ⊙ broadcast(x)"
        found[name] = (g * np.broadcast_to(x, large)).sum()
        found[f"#size {name}"] = np.abs(g * np.broadcast_to(x, large)).sum()
        found[f"{large} → {small}: Σ unbroadcast(g) ⊙ x"] = (back * x).sum()
    return found


def judge_balance(observed, right):
    """Both sums are the change of the loss if x grows by x, so they are equal."""
    for name in [name for name in right if name[0] != "#" and name.endswith("broadcast(x)")]:
        key = f"{name.partition(':')[0]}: Σ unbroadcast(g) ⊙ x"
        forward, back = float(right[name]), float(observed[key])
        if not abs(forward - back) <= 1e-6 * float(right[f"#size {name}"]):
            en = f"{key} is {back:.6g} and must be {forward:.6g}"
            return Failure(key, Text(en, f"{key}：得到 {back:.6g}，应为 {forward:.6g}"))
    return None


def factors_untouched(module, rng):
    """What g, a and b hold after the call; the next check tells of an error."""
    found = {}
    for first, second in PAIRS:
        a, b = (np.asarray(rng.normal(size=shape)) for shape in (first, second))
        g = np.asarray(rng.normal(size=np.broadcast_shapes(first, second)))
        call = f"{first} * {second}"
        keys = [f"#{call}: ∂L/∂{name}" for name in "ab"]
        attempt(found, keys, module, partial(module.multiply_gradients, g, a, b))
        found |= {f"{call}: {name}": x for name, x in (("g", g), ("a", a), ("b", b))}
    return found


def judge_factors_untouched(observed, right):
    """All three must hold what they held before."""
    for key in [key for key in right if key[0] != "#"]:
        if key not in observed or difference(observed[key], right[key]):
            call, _, name = key.partition(": ")
            en = f"{call}: multiply_gradients changes {name}: make a new array"
            return Failure(key, Text(en, f"{call}：multiply_gradients 改动了 {name}，请新建数组"))
    return None


def products(module, rng):
    """Both gradients of a * b, pair by pair."""
    found = {}
    for first, second in PAIRS:
        a, b = (np.asarray(rng.normal(size=shape)) for shape in (first, second))
        g, other = rng.normal(size=(2, *np.broadcast_shapes(first, second)))
        keys = [f"{first} * {second}: ∂L/∂{name}" for name in "ab"]
        for mark, u in (("", g), ("#other ", other), ("#ones ", np.ones_like(g))):
            call = partial(module.multiply_gradients, u, a, b)
            attempt(found, [mark + key for key in keys], module, call)
    return found


def pair(module, rng):
    """How many gradients come back; −1 for what is no tuple."""
    a, b = rng.normal(size=(2, 3, 5))
    made = module.multiply_gradients(np.ones((3, 5)), a, b)
    count = len(made) if isinstance(made, (tuple, list)) else -1
    return {"len(multiply_gradients(g, a, b))": float(count)}


def judge_pair(observed, right):
    """A tuple of two."""
    bad = as_the_reference(observed, right)
    if bad is None:
        return None
    en = "multiply_gradients must return a tuple of two arrays, (∂L/∂a, ∂L/∂b)"
    return Failure(bad.key, Text(en, "multiply_gradients 应返回两个数组组成的元组 (∂L/∂a, ∂L/∂b)"))


def worked(solution, language):
    """A column that was added to a matrix of three columns, in numbers."""
    b, g = np.array([[10.0], [20.0]]), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    back = solution.unbroadcast(g, b.shape)
    told = {
        Text(f"b of shape {b.shape}:", f"b，形状为 {b.shape}："): b,
        Text(f"broadcast to {g.shape}:", f"广播为 {g.shape}："): np.broadcast_to(b, g.shape),
        Text("gradient of the copies:", "各份拷贝的梯度："): g,
        Text(f"∂L/∂b, of shape {back.shape}:", f"∂L/∂b，形状为 {back.shape}："): back,
    }
    lines = [f"{name.of(language)}\n{x}" for name, x in told.items()]
    note = Text(
        "10 was used three times, with gradients 1, 2 and 3: together 6.",
        "10 被用了三次，梯度分别是 1、2、3：合计 6。",
    )
    return "\n".join([*lines, note.of(language)])


EXERCISE = Exercise(
    title=Text("Undo broadcasting", "撤销广播"),
    checks=[
        Check("signature", Text("the functions are there", "函数齐全"), there),
        Check(
            "one",
            Text("one axis: its copies are summed", "一个轴：各份拷贝的梯度相加"),
            undone(ONE),
            gradients=True,
        ),
        Check(
            "none",
            Text("equal shapes: nothing is summed", "形状相同：不求和"),
            undone(NONE),
            gradients=True,
        ),
        Check(
            "several",
            Text(
                "several axes, leading ones and ones of length 1",
                "多个轴：前面新增的，和长度为 1 的",
            ),
            undone(SEVERAL),
            gradients=True,
        ),
        Check(
            "scalar",
            Text("a number, of shape ()", "一个数，形状为 ()"),
            undone(SCALAR),
            gradients=True,
        ),
        Check(
            "untouched",
            Text("nothing is changed in place", "没有就地修改"),
            untouched,
            judge_untouched,
            derive=unchanged,
        ),
        Check(
            "balance",
            Text("unbroadcast is the mirror image of broadcasting", "unbroadcast 与广播互为镜像"),
            balance,
            judge_balance,
        ),
        Check("pair", Text("a * b has two gradients", "a * b 有两个梯度"), pair, judge_pair),
        Check(
            "factors-untouched",
            Text("multiply_gradients changes nothing in place", "multiply_gradients 没有就地修改"),
            factors_untouched,
            judge_factors_untouched,
            coarse=True,
        ),
        Check(
            "products",
            Text("both gradients of a * b", "a * b 的两个梯度"),
            products,
            gradients=True,
        ),
    ],
    worked=worked,
)
