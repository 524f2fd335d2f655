"""What is looked at in exercise 10."""

import numpy as np

from minigrad import Tensor, grad
from minigrad.coursework import (
    Check,
    Exercise,
    Failure,
    Text,
    as_the_reference,
    attempt,
    op_checks,
    unchanged,
)
from minigrad.primitive import Primitive, function_of

RULES = ["query_gradient", "key_gradient", "value_gradient"]


def note_one(found, key, module, call):
    """One value, or its error."""
    attempt(found, [key], module, lambda: [call()])


def arrays(rng, n_query, n_key, d_k, d_v, batch=()):
    """A query, a key and a value."""
    sizes = (n_query, d_k), (n_key, d_k), (n_key, d_v)
    return tuple(rng.normal(size=batch + size) for size in sizes)


def cases(rng):
    """Different sides; a square, where a forgotten transpose runs; scales, 0 too; batch axes."""
    return [
        arrays(rng, 3, 5, 2, 7),
        (*arrays(rng, 4, 4, 4, 4), {"scale": None}),
        (*arrays(rng, 5, 2, 7, 3), {"scale": 0.7}),
        (*arrays(rng, 5, 3, 7, 4, (2,)), {"scale": -1.3}),
        (*arrays(rng, 5, 4, 7, 6, (2, 3)), {"scale": None}),
        (*arrays(rng, 3, 2, 5, 4), {"scale": 0.0}),
    ]


def calls(rng):
    """The cases again, each with its name and its options."""
    for number, case in enumerate(cases(rng), 1):
        options = case[3] if len(case) > 3 else {}
        told = ", ".join(str(x.shape) for x in case[:3])
        told += "".join(f", {name}={value}" for name, value in options.items())
        yield f"[{number}] attention({told})", case[:3], options


def op_of(module):
    """The student's op."""
    rules = [getattr(module, name) for name in RULES]
    return Primitive(module.attention, rules, example=cases)


def scores(module, rng):
    """The scaled scores of all calls, and the inputs after them."""
    found = {}
    for key, (query, keys, _), options in calls(rng):
        note_one(
            found,
            f"{key}: S",
            module,
            lambda q=query, k=keys, o=options: module.scaled_scores(q, k, **o),
        )
        found |= {f"{key}: query": query, f"{key}: key": keys}
    return found


def judge_scores(observed, right):
    """S, and then that query and key are as they were."""
    bad = as_the_reference(observed, {key: x for key, x in right.items() if key.endswith(": S")})
    bad = bad or as_the_reference(observed, right)
    call, _, name = bad.key.rpartition(": ") if bad else ("", "", "")
    if name not in ("query", "key"):
        return bad
    en = f"{call}: scaled_scores changes {name} in place: write a new array"
    return Failure(bad.key, Text(en, f"{call}：scaled_scores 就地修改了 {name}：请写到新数组里"))


def values(module, rng):
    """The outputs of all calls."""
    found = {}
    for key, inputs, options in calls(rng):
        note_one(
            found, f"{key}: out", module, lambda x=inputs, o=options: module.attention(*x, **o)
        )
    return found


def context(found, key, inputs, options):
    """Numbers that can be forgotten."""
    query, keys, value = inputs
    scale = options.get("scale")
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    sizes = {
        "d_k": query.shape[-1],
        "d_v": value.shape[-1],
        "L": query.shape[-2],
        "S": keys.shape[-2],
    }
    found[f"#constants {key}"] = {"scale": scale, "scale²": scale**2, **sizes}


def at_scores(module, rng):
    """∂L/∂S of all calls."""
    found = {}
    for name, inputs, options in calls(rng):
        key = f"{name}: ∂L/∂S"
        g = rng.normal(size=(*inputs[0].shape[:-1], inputs[2].shape[-1]))

        def call(g, inputs=inputs, options=options):
            return module.scaled_scores_gradient(g, *inputs, scale=options.get("scale"))

        note_one(found, key, module, lambda g=g, call=call: call(g))
        h = rng.normal(size=g.shape)
        note_one(found, f"#other {key}", module, lambda h=h, call=call: call(h))
        note_one(found, f"#ones {key}", module, lambda g=g, call=call: call(np.ones_like(g)))
        context(found, key, inputs, options)
    return found


def lent(module, rng):
    """What scaled_scores_gradient was given, after the call."""
    found = {}
    for name, inputs, options in calls(rng):
        g = rng.normal(size=(*inputs[0].shape[:-1], inputs[2].shape[-1]))

        def call(g=g, inputs=inputs, options=options):
            module.scaled_scores_gradient(g, *inputs, scale=options.get("scale"))
            return g, *inputs

        keys = [f"{name}: {given}" for given in ("g", "query", "key", "value")]
        attempt(found, keys, module, call)
    return found


def judge_lent(observed, right):
    """Nothing may be written into."""
    for key in [key for key in right if observed[key] != 1.0]:
        call, _, name = key.rpartition(": ")
        en = f"{call}: scaled_scores_gradient changes {name} in place: write a new array"
        zh = f"{call}：scaled_scores_gradient 就地修改了 {name}：请写到新数组里"
        return Failure(key, Text(en, zh))
    return None


def gradients(module, rng):
    """What the engine gets of the rules, one input after the other."""
    found = {}
    op = op_of(module)
    for name, inputs, options in calls(rng):
        g = rng.normal(size=(*inputs[0].shape[:-1], inputs[2].shape[-1]))
        for place, wanted in enumerate(op.input_names):
            key = f"{name}: ∂L/∂{wanted}"

            def call(g, place=place, inputs=inputs, options=options):
                leaves = [Tensor(x, requires_grad=i == place) for i, x in enumerate(inputs)]
                return grad(function_of(op)(*leaves, **options), [leaves[place]], g)[0]

            note_one(found, key, module, lambda g=g, call=call: call(g))
            h = rng.normal(size=g.shape)
            note_one(found, f"#other {key}", module, lambda h=h, call=call: call(h))
            note_one(found, f"#ones {key}", module, lambda g=g, call=call: call(np.ones_like(g)))
            context(found, key, inputs, options)
    return found


def properties(module, rng):
    """Keys and values change places together; rows of ∂L/∂S; values that are all alike."""
    found = {}
    op = function_of(op_of(module))
    for number, sizes in enumerate([(3, 5, 2, 7), (4, 4, 4, 4), (2, 7, 5, 3)], 1):
        inputs = arrays(rng, *sizes)
        order = rng.permutation(sizes[1])
        g = rng.normal(size=(sizes[0], sizes[3]))
        made = []
        for query, key, value in (inputs, (inputs[0], inputs[1][order], inputs[2][order])):
            leaves = [Tensor(x, requires_grad=True) for x in (query, key, value)]
            out = op(*leaves)
            made.append([x.numpy() for x in (out, *grad(out, leaves, g))])
        (out, d_q, d_k, d_v), (*after, k_after, v_after) = made
        for name, before, now in (
            ("out", out, after[0]),
            ("∂L/∂query", d_q, after[1]),
            ("∂L/∂key", d_k[order], k_after),
            ("∂L/∂value", d_v[order], v_after),
        ):
            found[f"[{number}] key[order], value[order]: {name}"] = now
            found[f"[{number}] key, value: {name}[order]"] = before
        d_s = module.scaled_scores_gradient(g, *inputs, scale=None)
        found[f"[{number}] ∂L/∂S.sum(axis=-1)"] = d_s.sum(axis=-1)
        alike = np.repeat(inputs[2][:1], sizes[1], axis=0)
        d_s = module.scaled_scores_gradient(g, inputs[0], inputs[1], alike, scale=None)
        found[f"[{number}] value[:] = value[0]: ∂L/∂S"] = d_s
    return found


def judge_properties(observed, right):
    """Reference-free."""
    for key, wanted in right.items():
        value = observed.get(key)
        if getattr(value, "shape", None) != wanted.shape or value.dtype.kind != "f":
            return as_the_reference(observed, {key: wanted})
    for key in right:
        value = observed[key]
        if "key[order], value[order]" in key:
            other = key.replace("key[order], value[order]", "key, value") + "[order]"
            if not np.allclose(value, observed[other], rtol=1e-7, atol=1e-9):
                return Failure(
                    key,
                    Text(
                        f"{key}: the order of the keys must not matter, if the values move along",
                        f"{key}：键与值一起换序，结果不应受影响",
                    ),
                )
        elif not key.endswith("[order]") and not np.abs(value).max() < 1e-9:
            return Failure(key, Text(f"{key} must be 0", f"{key} 应为 0"))
    return None


WITH, WITHOUT = "scale = 1/√d_k", "scale = 1"


def lesson(module, rng):
    """100 queries of width 256, with 8 keys each, with the scale and without it."""
    found = {}
    query, key = rng.normal(size=(100, 1, 256)), rng.normal(size=(100, 8, 256))
    value, g = rng.normal(size=(100, 8, 16)), rng.normal(size=(100, 1, 16))
    for name, scale in ((WITH, None), (WITHOUT, 1.0)):
        at_s = module.scaled_scores_gradient(g, query, key, value, scale=scale)
        leaves = [Tensor(x, requires_grad=True) for x in (query, key, value)]
        out = function_of(op_of(module))(*leaves, scale=scale)
        at_q = grad(out, leaves, g)[0].numpy()
        found[f"{name}: std(S)"] = module.scaled_scores(query, key, scale).std()
        found[f"{name}: median |∂L/∂S|"] = np.median(np.linalg.norm(at_s, axis=-1))
        found[f"{name}: rms |∂L/∂Q|"] = (at_q**2).sum(axis=-1).mean() ** 0.5
    return found


def judge_lesson(observed, right):
    """Reference-free: spreads of 1 and √256 = 16; a typical row that dies, a mean that grows."""
    seen = {key: float(observed[key]) for key in right}
    for name, wanted in ((WITH, 1.0), (WITHOUT, 16.0)):
        spread = seen[f"{name}: std(S)"]
        if not 0.8 * wanted < spread < 1.25 * wanted:
            en = f"{name}: the spread of S is {spread:.3g}, and must be about {wanted:g}"
            zh = f"{name}：S 的标准差是 {spread:.3g}，应约为 {wanted:g}"
            return Failure("S", Text(en, zh))
    if not 10 * seen[f"{WITHOUT}: median |∂L/∂S|"] < seen[f"{WITH}: median |∂L/∂S|"]:
        return Failure("∂L/∂S", Text("the median row of ∂L/∂S must die", "∂L/∂S 的中位行应当消失"))
    if not seen[f"{WITHOUT}: rms |∂L/∂Q|"] > seen[f"{WITH}: rms |∂L/∂Q|"]:
        return Failure("∂L/∂Q", Text("the mean of ∂L/∂Q must grow", "∂L/∂Q 的均方根应当变大"))
    return None


def worked(solution, language):
    """One query and two keys in numbers."""
    query, key = np.array([[2.0, 0, 0, 0]]), np.array([[1.0, 0, 0, 0], [0, 1, 0, 0]])
    value, g = np.array([[1.0], [3.0]]), np.array([[1.0]])
    s = solution.scaled_scores(query, key)

    def told(name, *wanted):
        return getattr(solution, name)(g, *wanted, scale=None).round(4).tolist()

    lines = [
        f"S = QKᵀ/√4 = {s.round(4).tolist()}",
        f"weights = {solution.softmax(s).round(4).tolist()}",
        f"out = weights · V = {solution.attention(query, key, value).round(4).tolist()}",
        f"∂L/∂weights = g Vᵀ = {(g @ value.mT).tolist()}",
        f"∂L/∂S = {told('scaled_scores_gradient', query, key, value)}",
        f"∂L/∂Q = ∂L/∂S · K/√4 = {told('query_gradient', query, key, value)}",
        f"∂L/∂K = (∂L/∂S)ᵀ Q/√4 = {told('key_gradient', query, key, value)}",
        f"∂L/∂V = weightsᵀ g = {told('value_gradient', query, key)}",
    ]
    end = Text(
        "The scale stands in front of QKᵀ, so it is in both gradients.",
        "QKᵀ 前有缩放，故两个梯度中都有它。",
    )
    return "\n".join([*lines, end.of(language)])


of_op = {c.name: c for c in op_checks("attention", RULES, lambda rng: cases(rng)[:4])}

EXERCISE = Exercise(
    title=Text("Scaled dot-product attention", "缩放点积注意力"),
    checks=[
        of_op["signature"],
        Check(
            "scores", Text("the scaled scores are right", "缩放后的分数正确"), scores, judge_scores
        ),
        Check("values", Text("the outputs are right", "输出正确"), values),
        Check(
            "at scores",
            Text("∂L/∂S at the input of the softmax is right", "softmax 输入处的 ∂L/∂S 正确"),
            at_scores,
            as_the_reference,
            gradients=True,
        ),
        Check(
            "gradients",
            Text("the gradients of query, key and value are right", "query、key、value 的梯度正确"),
            gradients,
            as_the_reference,
            gradients=True,
        ),
        Check(
            "lent",
            Text("scaled_scores_gradient changes nothing", "scaled_scores_gradient 没有就地修改"),
            lent,
            judge_lent,
            coarse=True,
            derive=unchanged,
        ),
        *[of_op[name] for name in ("untouched", "shapes", "linear", "graph")],
        Check(
            "order",
            Text(
                "the order of keys does not matter; rows of ∂L/∂S sum to 0",
                "键的顺序无关紧要；∂L/∂S 每行之和为 0",
            ),
            properties,
            judge_properties,
        ),
        Check(
            "lesson",
            Text(
                "without the scale the typical row of ∂L/∂S dies, while the mean of ∂L/∂Q grows",
                "去掉缩放后，∂L/∂S 的典型行消失，而 ∂L/∂Q 的均方根变大",
            ),
            lesson,
            judge_lesson,
        ),
    ],
    worked=worked,
)
