"""What is looked at in exercise 6."""

import numpy as np

from minigrad.coursework import Check, Exercise, Failure, Text, op_checks


def cases(rng):
    """Repeats, negative indices that name the same row as others, two axes, one, none; a square."""
    return [
        (rng.normal(size=(5, 3)), np.array([4, 0, 2])),
        (rng.normal(size=(5, 3)), np.array([4, 0, 4, 4, 2, 0, 4])),
        (rng.normal(size=(7, 2)), np.array([-1, 6, -7, 3, -1])),
        (rng.normal(size=(5, 3)), np.array([[4, 0, 2, 4], [2, 2, 1, 4]])),
        (
            rng.normal(size=(4, 4)),
            np.array([[3, 0, 3, 1], [1, 3, 3, 3], [0, 0, 1, 0], [3, 1, 1, 3]]),
        ),
        (rng.normal(size=7), np.array([2, 5, 2, -5, 2])),
        (rng.normal(size=(3, 2, 5)), np.array([1, 1, -3])),
        (rng.normal(size=(5, 3)), np.array(2)),
        (rng.normal(size=(5, 3)), np.array([], int)),
    ]


def constants(weight, indices):
    """Numbers that may have slipped in."""
    return {"the number of indices": float(np.size(indices))}


def on_a_table(module, rng):
    """What becomes of the gradient in total, in rows that nobody takes, and in another order."""
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
        found[f"{name}: Σ ∂L/∂weight − Σ g"] = made.sum(axis=0) - g.sum(axis=0)
        found[f"{name}: ∂L/∂weight[-2:]"] = made[-2:]
        found[f"{name}: ∂L/∂weight(g, indices) − ∂L/∂weight(g[order], indices[order])"] = (
            made - other
        )
    return found


def judge_table(observed, right):
    """All of this is 0: nothing is lost, nothing appears from nowhere, the order is the same."""
    for name in right:
        value = np.asarray(observed[name], float)
        if not np.abs(value).max() < 1e-9:
            largest = f"{np.abs(value).max():.6g}"
            rows = Text(", as nobody takes these rows", "，因为没有取到这些行")
            why = rows if name.endswith("[-2:]") else Text("", "")
            en = f"{name} must be 0{why.en}; its largest entry is {largest}"
            zh = f"{name} 应为 0{why.zh}；实际上绝对值最大的元素为 {largest}"
            return Failure(name, Text(en, zh))
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


EXERCISE = Exercise(
    title=Text("Indexing: an embedding", "下标与嵌入"),
    checks=[
        *op_checks("embedding", ["embedding_gradient"], cases, constants=constants),
        Check(
            "table",
            Text("nothing is lost, rows that nobody takes get 0", "梯度没有丢失，没取到的行为 0"),
            on_a_table,
            judge_table,
        ),
    ],
    worked=worked,
)
