"""What is looked at in exercise 6."""

import numpy as np

from minigrad.coursework import (
    Check,
    Exercise,
    Failure,
    Text,
    as_the_reference,
    misshapen,
    op_checks,
)


def cases(rng):
    """Repeats, negative indices that name the row of others, several axes, one, none; a square."""
    return [
        (rng.normal(size=(5, 3)), np.array([4, 0, 2])),
        (rng.normal(size=(5, 3)), np.array([4, 0, 4, 4, 2, 0, 4])),
        (rng.normal(size=(7, 2)), np.array([-1, 6, -7, 3, -1])),
        (rng.normal(size=(5, 3)), np.array([[4, 0, 2, 4], [2, 2, 1, 4]])),
        (
            rng.normal(size=(4, 4)),
            np.array([[3, 0, 3, 1], [1, 3, 3, 3], [0, 0, 1, 0], [3, 1, 1, 3]]),
        ),
        (rng.normal(size=(7, 3)), np.array([[[5, 0], [5, 5], [2, 0]], [[0, 6], [2, 5], [6, 5]]])),
        (rng.normal(size=7), np.array([2, 5, 2, -5, 2])),
        (rng.normal(size=(3, 2, 5)), np.array([1, 1, -3])),
        (rng.normal(size=(5, 3)), np.array(2)),
        (rng.normal(size=(5, 3)), np.array([], int)),
    ]


GRADIENT, ORDERED = "∂L/∂weight(g, indices)", "∂L/∂weight(g[order], indices[order])"


def constants(weight, indices):
    """Numbers that may have slipped in."""
    return {"the number of indices": float(np.size(indices))}


def indices_kept(module, rng):
    """The indices after either call: the engine hands out copies, so here are the functions."""
    weight, rows = rng.normal(size=(7, 2)), np.array([[-1, 6, 0], [3, -7, -1]])
    forward, backward = rows.copy(), rows.copy()
    module.embedding(weight, forward)
    module.embedding_gradient(rng.normal(size=(2, 3, 2)), (7, 2), indices=backward)
    return {"embedding: indices": forward, "embedding_gradient: indices": backward}


def judge_kept(observed, right):
    """They must be as they were."""
    bad = as_the_reference(observed, right)
    if bad is None:
        return None
    en = f"{bad.key} are changed in place; write into a new array"
    return Failure(bad.key, Text(en, f"{bad.key} 被就地修改了，请写到新数组里"))


def on_a_table(module, rng):
    """The gradient where nobody takes the last two rows, and in another order of the positions."""
    found = {}
    for count, width, length in ((11, 3, 5), (7, 2, 13), (5, 5, 5)):
        indices = rng.integers(-count, count - 2, length)
        indices[indices == -1] = 0  # nobody takes the last two rows
        indices[indices == -2] = 0
        g = rng.normal(size=(length, width))
        order = rng.permutation(length)
        name = f"indices ({length},), weight ({count}, {width})"
        made = module.embedding_gradient(g.copy(), (count, width), indices=indices)
        other = module.embedding_gradient(g[order], (count, width), indices=indices[order])
        found |= {f"{name}: {GRADIENT}": made, f"{name}: {ORDERED}": other, f"#g {name}": g}
    return found


def judge_table(observed, right):
    """All of this is 0: nothing is lost, nothing appears from nowhere, the order is the same."""
    if bad := misshapen(observed, right):
        return bad
    for name in [key.removeprefix("#g ") for key in right if key.startswith("#g ")]:
        made, other = (observed[f"{name}: {what}"].astype(float) for what in (GRADIENT, ORDERED))
        total = right[f"#g {name}"].sum(axis=0)
        untaken = Text(", as nobody takes these rows", "，因为没有取到这些行")
        for what, value, why in (
            ("Σ ∂L/∂weight − Σ g", made.sum(axis=0) - total, Text("", "")),
            ("∂L/∂weight[-2:]", made[-2:], untaken),
            (f"{GRADIENT} − {ORDERED}", made - other, Text("", "")),
        ):
            largest = np.abs(value).max()
            if not largest < 1e-9:
                key = f"{name}: {what}"
                en = f"{key} must be 0{why.en}; its largest entry is {largest:.6g}"
                zh = f"{key} 应为 0{why.zh}；实际上绝对值最大的元素为 {largest:.6g}"
                return Failure(f"{name}: {GRADIENT}", Text(en, zh))
    return None


def worked(solution, language):
    """猫 吃 猫: the row of 猫 is taken twice."""
    indices = np.array([0, 1, 0])
    g = np.array([[1.0, 2.0], [3.0, 4.0], [10.0, 20.0]])
    d = solution.embedding_gradient(g, (3, 2), indices=indices)
    rows = ("猫", "吃", "鱼")
    note = Text("猫 is taken twice, 鱼 not at all", "猫取了两次，鱼一次也没取")
    lines = [
        f"猫 吃 猫: indices = {indices.tolist()}",
        f"g = {g.tolist()}",
        f"∂L/∂weight ({note.of(language)}):",
    ]
    return "\n".join(
        lines + [f"  {word} {row.tolist()}" for word, row in zip(rows, d, strict=True)]
    )


layers = op_checks("embedding", ["embedding_gradient"], cases, constants=constants)

EXERCISE = Exercise(
    title=Text("Indexing: an embedding", "下标与嵌入"),
    checks=[
        *layers[:4],
        Check(
            "indices-kept",
            Text("the indices stay as they are", "下标保持不变"),
            indices_kept,
            judge_kept,
            coarse=True,
        ),
        *layers[4:],
        Check(
            "table",
            Text("nothing is lost, rows that nobody takes get 0", "梯度没有丢失，没取到的行为 0"),
            on_a_table,
            judge_table,
        ),
    ],
    worked=worked,
)
