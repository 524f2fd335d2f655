"""What is looked at in exercise 14."""

import numpy as np

from minigrad import Tensor, grad
from minigrad.coursework import Check, Exercise, Failure, Text, as_the_reference, attempt
from minigrad.coursework.values import Raised, difference

NAMES = ["x", "W_Q", "W_K", "W_V", "W_O"]


def passed(call, x, rng):
    """The gradient that comes through a function, or None if nothing was recorded."""
    leaf = Tensor(x, requires_grad=True)
    out = call(leaf)
    g = rng.normal(size=out.shape)
    return grad(out, [leaf], g, allow_unused=True)[0]


def both_ways(module, rng, call, name, x):
    """The value and the gradient of a function of one tensor."""
    found = {}
    attempt(found, [name], module, lambda: [call(Tensor(x))])
    attempt(found, [f"{name}: ∂L/∂x"], module, lambda: [passed(call, x, rng)])
    return found


def split(module, rng):
    """Heads of widths 2 to 6; as many heads as rows; batch axes; one head."""
    found = {}
    for n_heads, shape in (
        (2, (3, 10)),
        (3, (5, 6)),
        (4, (4, 16)),
        (3, (2, 5, 12)),
        (2, (3, 4, 5, 12)),
        (2, (2, 3, 2, 3, 8)),
        (1, (2, 3)),
        (1, (2, 5, 3)),
    ):
        key = f"split_heads({shape}, {n_heads})"

        def call(x, n_heads=n_heads):
            return module.split_heads(x, n_heads)

        found |= both_ways(module, rng, call, key, rng.normal(size=shape))
    return found


def merge(module, rng):
    """The same shapes on the way back."""
    found = {}
    for shape in (
        (2, 3, 5),
        (3, 5, 2),
        (4, 4, 4),
        (2, 3, 5, 4),
        (3, 4, 2, 5, 6),
        (2, 3, 2, 2, 3, 4),
        (1, 2, 3),
        (2, 1, 5, 3),
    ):
        key = f"merge_heads({shape})"
        found |= both_ways(module, rng, module.merge_heads, key, rng.normal(size=shape))
    return found


def cases(rng):
    """Inputs by name: lengths that all differ, a square, batch axes, one head."""
    made = []
    for length, d_model, n_heads, d_k, d_v, batch in (
        (5, 18, 3, 2, 4, ()),
        (4, 16, 4, 4, 4, ()),
        (4, 14, 2, 5, 6, (3,)),
        (5, 32, 4, 6, 7, (2, 3)),
        (5, 6, 1, 3, 2, ()),
        (3, 5, 1, 4, 6, (2,)),
        (3, 8, 2, 4, 4, ()),
        (3, 5, 2, 2, 1, (2, 3, 2)),
    ):
        sizes = [
            (*batch, length, d_model),
            (d_model, n_heads * d_k),
            (d_model, n_heads * d_k),
            (d_model, n_heads * d_v),
            (n_heads * d_v, d_model),
        ]
        x, *matrices = (rng.normal(size=size) for size in sizes)
        inputs = [x, *[W * W.shape[0] ** -0.25 for W in matrices]]
        told = f"x {sizes[0]}, n_heads = {n_heads}, d_k = {d_k}, d_v = {d_v}"
        made.append((told, inputs, n_heads))
    return made


def one_head(query, key, value):
    """Attention on arrays, for one head."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    up = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return up / up.sum(axis=-1, keepdims=True) @ value


def looped(x, W_Q, W_K, W_V, W_O, n_heads):
    """The same head after head: what was to be computed."""
    heads = []
    for h in range(n_heads):
        own = []
        for W in (W_Q, W_K, W_V):
            width = W.shape[1] // n_heads
            own.append(x @ W[:, h * width : (h + 1) * width])
        heads.append(one_head(*own))
    return np.concatenate(heads, axis=-1) @ W_O


def values(module, rng):
    """The outputs, and those of a loop over the heads."""
    found = {}
    for name, inputs, n_heads in cases(rng):

        def call(inputs=inputs, n_heads=n_heads):
            return [module.multi_head_attention(*[Tensor(x) for x in inputs], n_heads)]

        attempt(found, [f"{name}: out"], module, call)
        found[f"#loop {name}: out"] = looped(*inputs, n_heads)
    return found


def judge_values(observed, right):
    """Reference-free: as the loop over the heads."""
    wanted = {key: right[f"#loop {key}"] for key in right if not key.startswith("#")}
    bad = as_the_reference(observed, wanted)
    if bad is None or isinstance(observed.get(bad.key), Raised):
        return bad
    problem = difference(observed[bad.key], wanted[bad.key])
    en = f"{bad.key} is not that of a loop over the heads: {problem.en}"
    return Failure(bad.key, Text(en, f"{bad.key} 与逐头循环的结果不同：{problem.zh}"))


def gradients(module, rng):
    """Gradients of the input and of all matrices."""
    found = {}
    for name, inputs, n_heads in cases(rng):
        g = rng.normal(size=inputs[0].shape)

        def call(g, inputs=inputs, n_heads=n_heads):
            leaves = [Tensor(x, requires_grad=True) for x in inputs]
            out = module.multi_head_attention(*leaves, n_heads)
            return grad(out, leaves, g, allow_unused=True)

        keys = [f"{name}: ∂L/∂{wanted}" for wanted in NAMES]
        attempt(found, keys, module, lambda g=g, call=call: call(g))
        h = rng.normal(size=g.shape)
        attempt(found, [f"#other {key}" for key in keys], module, lambda h=h, call=call: call(h))
        for key in keys:
            d_k, d_v = (inputs[i].shape[1] // n_heads for i in (1, 3))
            found[f"#constants {key}"] = {"d_k": d_k, "d_v": d_v, "n_heads": n_heads}
    return found


def properties(module, rng):
    """Words or heads in another order; two sentences at once; split and merged."""
    found = {}
    for number, (_, inputs, n_heads) in enumerate(cases(rng)[:2], 1):
        x, W_Q, W_K, W_V, W_O = inputs
        order = rng.permutation(len(x))

        def run(x, *matrices, n_heads=n_heads):
            return module.multi_head_attention(
                *[Tensor(a) for a in (x, *matrices)], n_heads
            ).numpy()

        out = run(*inputs)
        found[f"[{number}] x[order]: out"] = run(x[order], *inputs[1:])
        found[f"[{number}] x[order]: wanted"] = out[order]
        both = run(np.stack([x, x[order]]), *inputs[1:])
        found[f"[{number}] stack([x, x[order]]): out"] = both
        found[f"[{number}] stack([x, x[order]]): wanted"] = np.stack([out, out[order]])
        turned = [
            np.concatenate(np.split(W, n_heads, axis=1)[::-1], axis=1) for W in (W_Q, W_K, W_V)
        ]
        back = np.concatenate(np.split(W_O, n_heads)[::-1])
        found[f"[{number}] W_Q, W_K, W_V, W_O [::-1]: out"] = run(x, *turned, back)
        found[f"[{number}] W_Q, W_K, W_V, W_O [::-1]: wanted"] = out
        again = module.merge_heads(module.split_heads(Tensor(W_Q), n_heads)).numpy()
        found[f"[{number}] merge_heads(split_heads(x, {n_heads})): out"] = again
        found[f"[{number}] merge_heads(split_heads(x, {n_heads})): wanted"] = W_Q
    return found


def judge_properties(observed, right):
    """Reference-free: each is what is expected of it."""
    for key, wanted in right.items():
        value = observed.get(key)
        if not isinstance(value, np.ndarray) or value.shape != wanted.shape:
            return as_the_reference(observed, {key: wanted})
    for key in [key for key in right if key.endswith(": out")]:
        expected = observed[key.removesuffix("out") + "wanted"]
        if problem := difference(observed[key], expected):
            return Failure(key, Text(f"{key}: {problem.en}", f"{key}：{problem.zh}"))
    return None


def worked(solution, language):
    """How two heads share out four columns."""
    x = Tensor([[0.0, 1, 2, 3], [4, 5, 6, 7]])
    heads = solution.split_heads(x, 2)
    told = [
        Text(f"x, two words of width 4\n{x.numpy()}", f"x，两个词，宽度 4\n{x.numpy()}"),
        Text(f"split_heads(x, 2)\n{heads.numpy()}", f"split_heads(x, 2)\n{heads.numpy()}"),
        Text(
            "Head 0 has both words, columns 0 and 1; a reshape to (2, 2, 2) alone would give it "
            "all of word 0.",
            "头 0 得到两个词的第 0、1 列；若只 reshape 成 (2, 2, 2)，它得到的会是整个词 0。",
        ),
    ]
    return "\n".join(text.of(language) for text in told)


EXERCISE = Exercise(
    title=Text("Multi-head attention", "多头注意力"),
    checks=[
        Check(
            "split",
            Text("each head gets its columns of all words", "每个头得到所有词的对应列"),
            split,
            as_the_reference,
        ),
        Check("merge", Text("heads are put side by side again", "各头重新并排拼接"), merge),
        Check(
            "loop",
            Text("the output is that of a loop over the heads", "输出与逐头循环的结果相同"),
            values,
            judge_values,
        ),
        Check(
            "gradients",
            Text("gradients reach the input and all four matrices", "梯度到达输入和四个矩阵"),
            gradients,
            as_the_reference,
            gradients=True,
        ),
        Check(
            "order",
            Text(
                "words, sentences and heads may come in any order",
                "词、句子和头的顺序可以任意交换",
            ),
            properties,
            judge_properties,
        ),
    ],
    worked=worked,
)
