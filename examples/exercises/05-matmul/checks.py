"""What is looked at in exercise 5."""

import numpy as np

from minigrad.coursework import Check, Exercise, Failure, Text, op_checks

RULES = ["matmul_gradient_a", "matmul_gradient_b"]


def squares(rng):
    """Every product of squares has the right shape, so that only values tell."""
    return [(rng.normal(size=(n, n)), rng.normal(size=(n, n))) for n in (3, 5)]


def cubes(rng):
    """The same for a batch, whichever axes are swapped."""
    return [(rng.normal(size=(n, n, n)), rng.normal(size=(n, n, n))) for n in (2, 3)]


def cases(rng):
    """Different sides: matrices, batches, batch axes that broadcast, a square of them."""
    shapes = [
        ((2, 3), (3, 5)),
        ((2, 3, 5), (2, 5, 7)),
        ((3, 2, 5), (5, 7)),
        ((5, 2), (3, 2, 7)),
        ((5, 2, 3), (1, 3, 7)),
        ((1, 2, 3), (5, 3, 7)),
        ((2, 1, 3, 5), (7, 5, 2)),
        ((3, 1, 2, 5), (3, 5, 7)),
        ((1, 3, 5), (2, 3, 5, 7)),  # an axis that is new, and one of length 1
        ((2, 3, 5, 7), (1, 7, 2)),
        ((1, 1, 2, 3, 5), (2, 3, 1, 5, 2)),  # two of length 1 for a, the last one for b
        ((2, 3, 1, 5, 2), (1, 1, 2, 2, 3)),
    ]
    return [tuple(rng.normal(size=shape) for shape in pair) for pair in shapes]


def vectors(rng):
    """Vectors on either side, on both, and beside a batch."""
    shapes = [((2, 5), (5,)), ((5,), (5, 3)), ((7,), (7,)), ((7, 2, 3), (3,)), ((3,), (7, 3, 2))]
    return [tuple(rng.normal(size=shape) for shape in pair) for pair in shapes]


def deep_vectors(rng):
    """Vectors beside two batch axes."""
    shapes = [((2, 3, 5, 7), (7,)), ((5,), (2, 3, 5, 7))]
    return [tuple(rng.normal(size=shape) for shape in pair) for pair in shapes]


def balance(module, rng):
    """What each factor's gradient and the upstream weigh."""
    found = {}
    for a, b in (*squares(rng), *cubes(rng), *cases(rng), *vectors(rng)):
        g = np.asarray(rng.normal(size=(a @ b).shape))
        name = f"{a.shape} @ {b.shape}"
        found[f"{name}: Σ g ⊙ (a @ b)"] = (g * (a @ b)).sum()
        found[f"#size {name}"] = np.abs(g * (a @ b)).sum()
        found[f"{name}: Σ a ⊙ ∂L/∂a"] = (a * module.matmul_gradient_a(g, a, b)).sum()
        found[f"{name}: Σ b ⊙ ∂L/∂b"] = (b * module.matmul_gradient_b(g, a, b)).sum()
    return found


def judge_balance(observed, right):
    """The product is linear in each factor, so all three sums are the same."""
    for name in [name for name in right if "Σ g" in name]:
        call = name.partition(":")[0]
        size = float(right[f"#size {call}"])
        for factor in ("a", "b"):
            key = f"{call}: Σ {factor} ⊙ ∂L/∂{factor}"
            back, forward = float(observed[key]), float(right[name])
            if not abs(back - forward) <= 1e-6 * size:
                one, other = f"{back:.6g}", f"{forward:.6g}"
                en = f"{key} is {one}, and Σ g ⊙ (a @ b) {other}"
                zh = f"{key} 为 {one}，而 Σ g ⊙ (a @ b) 为 {other}"
                return Failure(key, Text(en, zh))
    return None


def worked(solution, language):
    """Two rows times a matrix, and a batch that shares it."""
    a, b = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]])
    g = np.array([[1.0, 10.0]])
    lines = [f"a = {a.tolist()}, b = {b.tolist()}, a @ b = {(a @ b).tolist()}", f"g = {g.tolist()}"]
    lines += [f"∂L/∂a = g @ bᵀ = {solution.matmul_gradient_a(g, a, b).tolist()}"]
    lines += [f"∂L/∂b = aᵀ @ g = {solution.matmul_gradient_b(g, a, b).tolist()}"]
    batch, two = np.array([a, 10 * a]), np.array([g, g])
    note = Text(
        "a and 10·a share b: their two gradients at b add up,",
        "a 和 10·a 共用 b：两份 b 的梯度相加，",
    )
    lines += [note.of(language), f"∂L/∂b = {solution.matmul_gradient_b(two, batch, b).tolist()}"]
    return "\n".join(lines)


on_matrices = op_checks("matmul", RULES, cases)
on_squares = {check.name: check for check in op_checks("matmul", RULES, squares)}
on_cubes = {check.name: check for check in op_checks("matmul", RULES, cubes)}
on_vectors = {check.name: check for check in op_checks("matmul", RULES, vectors)}
on_deep = {check.name: check for check in op_checks("matmul", RULES, deep_vectors)}

EXERCISE = Exercise(
    title=Text("Matrix product, in batches", "批量矩阵乘法"),
    checks=[
        *on_matrices[:2],
        # First where no shape is in the way: a transpose that is missing shows in the values.
        on_squares["gradients"]._replace(
            name="squares",
            title=Text("the gradients of square matrices are right", "方阵的梯度正确"),
        ),
        on_cubes["gradients"]._replace(
            name="cubes",
            title=Text("the gradients of a batch of squares are right", "批量方阵的梯度正确"),
        ),
        *on_matrices[2:],
        on_vectors["values"]._replace(
            name="vector-values", title=Text("so are products with vectors", "与向量的乘积正确")
        ),
        on_vectors["runs"]._replace(
            name="vector-runs", title=Text("the rules run with vectors", "规则可以用于向量")
        ),
        on_vectors["shapes"]._replace(
            name="vector-shapes", title=Text("a vector's gradient is a vector", "向量的梯度是向量")
        ),
        on_vectors["gradients"]._replace(
            name="vectors", title=Text("and it is right", "向量的梯度正确")
        ),
        on_deep["gradients"]._replace(
            name="vector-batches",
            title=Text("also beside two batch axes", "有两个批次轴时也正确"),
        ),
        on_vectors["untouched"]._replace(
            name="vector-untouched",
            title=Text("nothing beside a vector is changed in place", "有向量时也没有就地修改"),
        ),
        Check(
            "balance",
            Text(
                "Σ a ⊙ ∂L/∂a = Σ b ⊙ ∂L/∂b = Σ g ⊙ (a @ b)",
                "Σ a ⊙ ∂L/∂a = Σ b ⊙ ∂L/∂b = Σ g ⊙ (a @ b)",
            ),
            balance,
            judge_balance,
        ),
    ],
    worked=worked,
)
