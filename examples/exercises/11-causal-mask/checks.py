"""What is looked at in exercise 11."""

import numpy as np

from minigrad import Tensor, grad
from minigrad.coursework import Check, Exercise, Failure, Text, as_the_reference, attempt

SIZES = [(3, 5), (4, 4), (5, 3), (1, 3), (2, 1), (9, 13)]


def returned(module, scores, value, mask):
    """The output and the weights, as they come."""
    made = module.masked_attention(scores, value, mask)
    if not isinstance(made, (tuple, list)):
        raise TypeError(f"masked_attention → (out, weights), and not {type(made).__name__}")
    if len(made) != 2:
        raise TypeError(f"masked_attention → (out, weights), and not {len(made)} results")
    return made


def attend(module, scores, value, mask):
    """The same as tensors: an array has values too, and only the gradients tell it apart."""
    made = returned(module, scores, value, mask)
    return [Tensor(x) if isinstance(x, np.ndarray) else x for x in made]


def masks(module, rng):
    """Masks for lengths that are equal and that are not."""
    found = {}
    for n_query, n_key in SIZES:
        key = f"causal_mask({n_query}, {n_key})"
        attempt(found, [key], module, lambda q=n_query, k=n_key: [module.causal_mask(q, k)])
        kind = getattr(found[key], "dtype", np.dtype(object)).kind
        found[f"{key}.dtype"] = "?biuf".find(kind)  # 1 for bool
    return found


PLACES = {
    -1: ("an earlier position", "之前的位置"),
    0: ("its own position", "自己的位置"),
    1: ("a later position", "之后的位置"),
}


def judge_masks(observed, right):
    """Query i may attend to the keys 0 … i."""
    for key, wanted in right.items():
        value = observed[key]
        if key.endswith(".dtype"):
            continue
        bad = as_the_reference({key: value, **observed}, {key: wanted})
        if not isinstance(value, np.ndarray) or value.shape != wanted.shape:
            return bad
        if value.dtype != bool:
            en = f"{key}: its dtype is {value.dtype} in place of bool"
            return Failure(key, Text(en, f"{key}：dtype 是 {value.dtype}，应为 bool"))
        for i, j in np.argwhere(value != wanted)[:1]:
            lets, zh = ("lets", "让") if value[i, j] else ("does not let", "不让")
            sees = "看到" if value[i, j] else "看"
            place, where = PLACES[np.sign(j - i)]
            return Failure(
                key,
                Text(
                    f"{key}: your mask {lets} query {i} attend to key {j}, {place}",
                    f"{key}：你的掩码{zh}查询 {i} {sees}键 {j}（{where}）",
                ),
            )
    return None


def dependency(module, rng):
    """The outputs, and those after each key's scores and value were changed in turn."""
    found = {}
    for n_query, n_key in SIZES[:3]:
        name = f"L = {n_query}, S = {n_key}"
        scores, value = rng.normal(size=(n_query, n_key)), rng.normal(size=(n_key, 2))
        mask = np.tri(n_query, n_key, dtype=bool)

        def call(scores=scores, value=value, mask=mask):
            before, weights = (
                x.numpy() for x in attend(module, Tensor(scores), Tensor(value), mask)
            )
            after = []
            for j in range(mask.shape[1]):
                other, moved = scores.copy(), value.copy()
                other[:, j] += 2.0
                moved[j] += 1.0
                after.append(attend(module, Tensor(other), Tensor(moved), mask)[0].numpy())
            return np.array(after), before, weights

        attempt(found, [f"{name}: {what}" for what in (MOVES, "out", "weights")], module, call)
    return found


MOVES = "∂out[i]/∂[j] ≠ 0"


def derive_dependency(observed, right):
    """Which output changed with which position."""
    found = dict(observed)
    for key in [key for key in right if key.endswith(MOVES)]:
        after, before = observed.get(key), observed.get(key.replace(MOVES, "out"))
        arrays = isinstance(after, np.ndarray) and isinstance(before, np.ndarray)
        if arrays and after.ndim == 3 and after.shape[1:] == before.shape:
            moved = ~(np.abs(after - before).max(axis=-1) <= 1e-9)  # NaN counts as moved
            found[key] = moved.T.astype(float)
    return found


def judge_dependency(observed, right):
    """Reference-free: output i depends on the positions 0 … i, and on no other."""
    for key in right:
        value = observed[key]
        if not key.endswith("≠ 0") or key.startswith("#"):
            continue
        if not isinstance(value, np.ndarray):
            return as_the_reference(observed, {key: right[key]})
        out = key.replace(MOVES, "out")
        if isinstance(observed[out], np.ndarray) and not np.isfinite(observed[out]).all():
            return Failure(out, Text(f"{out} has NaN or ∞ in it", f"{out} 中有 NaN 或 ∞"))
        for i, j in np.argwhere(value != np.tri(*value.shape))[:1]:
            name = key.partition(": ")[0]
            if value[i, j]:
                en = f"{name}: output {i} changes with position {j}, which it may not see"
                return Failure(
                    key, Text(en, f"{name}：输出 {i} 随位置 {j} 变化，而它不该看到该位置")
                )
            en = f"{name}: output {i} does not change with position {j}, which it may see"
            return Failure(key, Text(en, f"{name}：输出 {i} 不随位置 {j} 变化，而它可以看到该位置"))
    return None


def cases(rng):
    """Scores, values and masks: causal, any mask, batch axes, very large or small scores."""
    free = rng.random((3, 11)) < 0.5
    free[:, 2] = True
    made = [
        (
            "causal_mask(5, 3)",
            rng.normal(size=(5, 3)),
            rng.normal(size=(3, 2)),
            np.tri(5, 3, dtype=bool),
        ),
        (
            "causal_mask(4, 4)",
            rng.normal(size=(4, 4)),
            rng.normal(size=(4, 4)),
            np.tri(4, 4, dtype=bool),
        ),
        ("rng.random((3, 11)) < 0.5", rng.normal(size=(3, 11)), rng.normal(size=(11, 7)), free),
        (
            "(2, 3, 5), causal_mask(3, 5)",
            rng.normal(size=(2, 3, 5)),
            rng.normal(size=(2, 5, 4)),
            np.tri(3, 5, dtype=bool),
        ),
        (
            "(2, 3, 4, 5), causal_mask(4, 5)",
            rng.normal(size=(2, 3, 4, 5)),
            rng.normal(size=(2, 3, 5, 7)),
            np.tri(4, 5, dtype=bool),
        ),
    ]
    scores, mask = rng.normal(size=(3, 5)), np.tri(3, 5, dtype=bool)
    value = rng.normal(size=(5, 2))
    made.append(("scores[~mask] = 10⁶", np.where(mask, scores, 1e6), value, mask))
    moved = scores + np.array([[-1e6], [1e6], [0.0]])
    made.append(("scores + [[−10⁶], [10⁶], [0]]", moved, value, mask))
    return made


def values(module, rng):
    """Outputs and weights of all cases."""
    found = {}
    for name, scores, value, mask in cases(rng):
        keys = [f"{name}: out", f"{name}: weights"]
        attempt(
            found,
            keys,
            module,
            lambda s=scores, v=value, m=mask: attend(module, Tensor(s), Tensor(v), m),
        )
    return found


def gradients_of(module, rng, made):
    """∂L/∂scores and ∂L/∂value of cases, and the gradient that comes through the weights."""
    found = {}
    for name, scores, value, mask in made:
        shape = (*scores.shape[:-1], value.shape[-1])
        g = rng.normal(size=shape)

        def call(g, scores=scores, value=value, mask=mask):
            leaves = [Tensor(x, requires_grad=True) for x in (scores, value)]
            out = returned(module, *leaves, mask)[0]
            return grad(out, leaves, g, allow_unused=True)

        def through_weights(g, scores=scores, value=value, mask=mask):
            leaf = Tensor(scores, requires_grad=True)
            weights = returned(module, leaf, Tensor(value), mask)[1]
            return grad(weights, [leaf], g, allow_unused=True)

        keys = [f"{name}: ∂L/∂scores", f"{name}: ∂L/∂value"]
        attempt(found, keys, module, lambda g=g, call=call: call(g))
        h = rng.normal(size=g.shape)
        attempt(found, [f"#other {key}" for key in keys], module, lambda h=h, call=call: call(h))
        for key in keys:
            found[f"#constants {key}"] = {"S": scores.shape[-1], "L": scores.shape[-2]}
        key = f"{name}: ∂(Σ h ⊙ weights)/∂scores"
        h = rng.normal(size=scores.shape)
        attempt(found, [key], module, lambda h=h, call=through_weights: call(h))
        found[f"#masked {keys[0]}"] = found[f"#masked {key}"] = ~mask
    return found


def gradients(module, rng):
    """Gradients of all cases."""
    return gradients_of(module, rng, cases(rng))


def judge_gradients(observed, right):
    """No NaN, 0 where the mask is False, and elsewhere as the reference gives it."""
    for key in [key.removeprefix("#masked ") for key in right if key.startswith("#masked ")]:
        value, masked = observed.get(key), right[f"#masked {key}"]
        if isinstance(value, np.ndarray) and value.shape == right[key].shape:
            if not np.isfinite(value).all():
                return Failure(key, Text(f"{key} has NaN or ∞ in it", f"{key} 中有 NaN 或 ∞"))
            if np.broadcast_to(masked, value.shape)[value != 0].any():
                en = f"{key} must be 0 where the mask is False"
                return Failure(key, Text(en, f"{key} 在掩码为 False 处应为 0"))
    return as_the_reference(observed, right)


def nothing(module, rng):
    """Queries that may attend to nothing: values and gradients."""
    made = []
    for n_query, n_key in ((3, 5), (4, 4)):
        mask = np.tri(n_query, n_key, -1, dtype=bool)
        scores, value = rng.normal(size=(n_query, n_key)), rng.normal(size=(n_key, 2))
        made.append((f"L = {n_query}, S = {n_key}, mask[0] = False", scores, value, mask))
    mask = np.tri(4, 5, dtype=bool)
    mask[2] = False
    scores, value = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 5, 7))
    made.append(("(2, 3, 4, 5), mask[2] = False", scores, value, mask))
    found = gradients_of(module, rng, made)
    for name, scores, value, mask in made:
        keys = [f"{name}: out", f"{name}: weights"]
        attempt(
            found,
            keys,
            module,
            lambda s=scores, v=value, m=mask: attend(module, Tensor(s), Tensor(v), m),
        )
    return found


def judge_nothing(observed, right):
    """The outputs first, and then the gradients."""
    forward = {key: x for key, x in right.items() if "∂" not in key}
    return as_the_reference(observed, forward) or judge_gradients(observed, right)


def worked(solution, language):
    """Three words in numbers."""
    scores = Tensor(np.array([[1.0, 2.0, 3.0]] * 3), requires_grad=True)
    value = Tensor(np.array([[1.0], [10.0], [100.0]]))
    mask = solution.causal_mask(3, 3)
    out, weights = solution.masked_attention(scores, value, mask)
    d = grad(out, [scores], np.ones((3, 1)))[0].numpy()
    told = {
        Text("scores", "分数"): scores.numpy(),
        Text("mask", "掩码"): mask.astype(int),
        Text("weights", "权重"): weights.numpy(),
        Text("out", "输出"): out.numpy(),
        Text("∂L/∂scores for g = 1", "g = 1 时的 ∂L/∂scores"): d,
    }
    return "\n".join(f"{name.of(language)}\n{x.round(4)}" for name, x in told.items())


EXERCISE = Exercise(
    title=Text("The causal mask", "因果掩码"),
    checks=[
        Check(
            "mask",
            Text("the mask is right, also where L ≠ S", "掩码正确，L ≠ S 时也正确"),
            masks,
            judge_masks,
        ),
        Check(
            "dependency",
            Text("no output depends on a later position", "任何输出都不依赖之后的位置"),
            dependency,
            judge_dependency,
            derive=derive_dependency,
        ),
        Check("values", Text("outputs and weights are right", "输出与权重正确"), values),
        Check(
            "gradients",
            Text("masked scores get a gradient of 0; no NaN", "被遮住的分数梯度为 0，且没有 NaN"),
            gradients,
            judge_gradients,
            gradients=True,
        ),
        Check(
            "nothing",
            Text("a query that may attend to nothing gets 0", "什么都不能看的查询得到 0"),
            nothing,
            judge_nothing,
        ),
    ],
    worked=worked,
)
