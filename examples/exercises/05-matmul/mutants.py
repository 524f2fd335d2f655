"""The classic mistakes of exercise 5."""

from minigrad.coursework import Mutant, Text


def rules(a, b):
    """Both rules, from the expressions for matrices, without and with a batch."""
    return f"""
def matmul_gradient_a(g, a, b):
    g, a_, b_ = as_matrices(g, a, b)
    return summed({a}, a_.shape).reshape(a.shape)


def matmul_gradient_b(g, a, b):
    g, a_, b_ = as_matrices(g, a, b)
    return summed({b}, b_.shape).reshape(b.shape)
"""


def undoing(body):
    """Both rules for matrices, with another way to undo the broadcasting."""
    return f"""
import numpy as np

_right_a, _right_b = matmul_gradient_a, matmul_gradient_b


def fitted(gradient, shape):
{body}


def matmul_gradient_a(g, a, b):
    if a.ndim == 1 or b.ndim == 1:
        return _right_a(g, a, b)
    return fitted(g @ b.mT, a.shape)


def matmul_gradient_b(g, a, b):
    if a.ndim == 1 or b.ndim == 1:
        return _right_b(g, a, b)
    return fitted(a.mT @ g, b.shape)
"""


def first_of(rule, body):
    """One rule that looks at the first member of a batch alone, where `body` says so."""
    return f"""
_right = matmul_gradient_{rule}


def matmul_gradient_{rule}(g, a, b):
{body}
    return _right(g, a, b)
"""


A, B = "g @ b_.mT", "a_.mT @ g"
REVERSED_A = "g @ (b_.T if b_.ndim == 3 else b_.mT)"
REVERSED_B = "(a_.T if a_.ndim == 3 else a_.mT) @ g"

MUTANTS = [
    Mutant(
        "matmul.forward-elementwise",
        """
def matmul(a, b):
    return a * b
""",
        Text(
            "* multiplies entry by entry; the matrix product sums over rows and columns.",
            "* 是逐元素相乘；矩阵乘法要把行与列对应相乘再求和。",
        ),
        Text(
            "Which operator is the matrix product in NumPy?",
            "NumPy 中矩阵乘法是哪个运算符？",
        ),
    ),
    Mutant(
        "matmul.forward-dot",
        """
import numpy as np


def matmul(a, b):
    return np.dot(a, b)
""",
        Text(
            "np.dot of two batches multiplies each member of one with each of the other; @ pairs "
            "them.",
            "np.dot 会把一个批次的每个成员与另一个批次的每个成员相乘；@ 则是一一对应。",
        ),
        Text(
            "Compare the shapes of np.dot(a, b) and a @ b for a (2, 3, 5) and b (2, 5, 7).",
            "对 (2, 3, 5) 的 a 和 (2, 5, 7) 的 b，比较 np.dot(a, b) 与 a @ b 的形状。",
        ),
    ),
    Mutant(
        "matmul.a-not-transposed",
        rules("g @ b_", B),
        Text(
            "In ∂L/∂a the factor b stands without a transpose: g is (n, m), and only bᵀ is (m, k).",
            "∂L/∂a 中的 b 没有转置：g 的形状是 (n, m)，b 转置之后才是 (m, k)。",
        ),
        Text(
            "Which product of an (n, m) and a (k, m) matrix is (n, k)?",
            "(n, m) 与 (k, m) 的矩阵怎样相乘才能得到 (n, k)？",
        ),
    ),
    Mutant(
        "matmul.b-not-transposed",
        rules(A, "a_ @ g"),
        Text(
            "In ∂L/∂b the factor a stands without a transpose: a is (n, k) and ∂L/∂b must be (k, "
            "m).",
            "∂L/∂b 中的 a 没有转置：a 的形状是 (n, k)，而 ∂L/∂b 应为 (k, m)。",
        ),
        Text(
            "Which product of an (n, k) and an (n, m) matrix is (k, m)?",
            "(n, k) 与 (n, m) 的矩阵怎样相乘才能得到 (k, m)？",
        ),
    ),
    Mutant(
        "matmul.neither-transposed",
        rules("g @ b_", "a_ @ g"),
        Text(
            "Neither rule transposes its factor.",
            "两条规则都没有转置因子。",
        ),
        Text(
            "Write the shapes of g, a and b beside each other: (n, m), (n, k), (k, m).",
            "把 g、a、b 的形状并排写出来：(n, m)、(n, k)、(k, m)。",
        ),
    ),
    Mutant(
        "matmul.swapped",
        rules("a_.mT @ g", "g @ b_.mT"),
        Text(
            "A rule returns the gradient of the other factor: aᵀ @ g belongs to b, g @ bᵀ to a.",
            "规则返回了另一个因子的梯度：aᵀ @ g 属于 b，g @ bᵀ 属于 a。",
        ),
        Text(
            "∂L/∂a has the shape of a, (n, k). Which of your two products has it?",
            "∂L/∂a 与 a 同形，为 (n, k)。你的两个乘积中哪个是这个形状？",
        ),
    ),
    Mutant(
        "matmul.wrong-side",
        rules("b_.mT @ g", "g @ a_.mT"),
        Text(
            "The transposed factor stands on the wrong side of g: a product of matrices has an "
            "order.",
            "转置后的因子放在了 g 的错误一侧：矩阵乘法是有顺序的。",
        ),
        Text(
            "b stood to the right of a in the product. On which side of g does it stand in the "
            "rule?",
            "乘积中 b 在 a 的右边。规则中它应当在 g 的哪一边？",
        ),
    ),
    Mutant(
        "matmul.upstream-transposed",
        rules("g.mT @ b_.mT", "a_.mT @ g.mT"),
        Text(
            "The upstream gradient is transposed as well; it has the shape of a @ b already.",
            "上游梯度也被转置了；它的形状本来就与 a @ b 相同。",
        ),
        Text(
            "Write the shapes of g, a and b: how many transposes are needed for the product to "
            "have the shape of a?",
            "写出 g、a、b 的形状：要让乘积与 a 同形，需要几次转置？",
        ),
    ),
    Mutant(
        "matmul.elementwise",
        rules("g * b_", "g * a_"),
        Text(
            "These are the rules of the product entry by entry, a ⊙ b, and not of the matrix "
            "product.",
            "这是逐元素乘积 a ⊙ b 的规则，不是矩阵乘法的规则。",
        ),
        Text(
            "One entry of a is used in a whole row of a @ b: what comes back from there is a sum.",
            "a 的一个元素用在 a @ b 的一整行里：从那里传回来的是一个和。",
        ),
    ),
    Mutant(
        "matmul.upstream-ignored",
        rules("(0 * g + 1) @ b_.mT", "a_.mT @ (0 * g + 1)"),
        Text(
            "The upstream gradient is not used: ones stand in its place, as if L were the sum of a "
            "@ b.",
            "没有用到上游梯度：它的位置上是全 1，仿佛 L 就是 a @ b 的总和。",
        ),
        Text(
            "By the chain rule g is a factor of both gradients.",
            "根据链式法则，g 是两个梯度的因子。",
        ),
    ),
    *[
        Mutant(
            f"matmul.all-axes-reversed-{rule}",
            rules(a, b),
            Text(
                f"On three axes .T reverses all of them, so that the batch axis comes last: in the "
                f"rule of {rule}.",
                f"对三个轴，.T 会颠倒所有轴，批次轴就到了最后；这里是在 {rule} 的规则中。",
            ),
            Text(
                "Only the last two axes belong to the matrix; look for what swaps just these.",
                "只有最后两个轴属于矩阵；找一个只交换这两个轴的写法。",
            ),
        )
        for rule, a, b in (("a", REVERSED_A, B), ("b", A, REVERSED_B))
    ],
    Mutant(
        "matmul.all-axes-reversed",
        rules(REVERSED_A, REVERSED_B),
        Text(
            "On three axes .T reverses all of them, so that the batch axis comes last.",
            "对三个轴，.T 会颠倒所有轴，批次轴就到了最后。",
        ),
        Text(
            "Only the last two axes belong to the matrix; look for what swaps just these.",
            "只有最后两个轴属于矩阵；找一个只交换这两个轴的写法。",
        ),
    ),
    Mutant(
        "matmul.batch-axes-swapped",
        rules(
            "g @ (b_.swapaxes(0, 1) if b_.ndim == 3 else b_.mT)",
            "(a_.swapaxes(0, 1) if a_.ndim == 3 else a_.mT) @ g",
        ),
        Text(
            "The first two axes are swapped, which is a transpose only while there is no batch "
            "axis.",
            "交换的是前两个轴；只有在没有批次轴时，这才是转置。",
        ),
        Text(
            "Which two axes belong to the matrix, counted from the end?",
            "从末尾数起，矩阵是哪两个轴？",
        ),
    ),
    Mutant(
        "matmul.batch-not-summed",
        undoing("    return gradient"),
        Text(
            "The gradient has the batch axes of a @ b: it is not summed over those along which the "
            "factor was repeated.",
            "梯度带着 a @ b 的批次轴：因子沿某些批次轴被重复使用，梯度却没有沿这些轴求和。",
        ),
        Text(
            "One matrix was used for every member of the batch. What becomes of their "
            "contributions?",
            "同一个矩阵被批次中的每个成员使用。各份贡献该怎样处理？",
        ),
    ),
    Mutant(
        "matmul.length-one-not-summed",
        undoing("    return gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))"),
        Text(
            "New batch axes in front are summed, but not the batch axes that have length 1 in the "
            "factor.",
            "前面新增的批次轴已求和，但因子中长度为 1 的批次轴没有求和。",
        ),
        Text(
            "A batch axis of length 1 is repeated too when the other factor has a longer one.",
            "另一个因子在该轴上更长时，长度为 1 的批次轴同样会被重复。",
        ),
    ),
    Mutant(
        "matmul.length-one-dropped",
        undoing(
            """    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    return gradient.sum(axis=tuple(i for i, n in enumerate(shape[:-2]) if n == 1))"""
        ),
        Text(
            "A batch axis of length 1 is gone; the factor has it, so its gradient keeps it.",
            "长度为 1 的批次轴消失了；因子有这个轴，梯度也要保留它。",
        ),
        Text(
            "What does sum do with an axis unless it is told otherwise?",
            "如果没有另外指定，sum 会怎样处理求和的轴？",
        ),
    ),
    Mutant(
        "matmul.new-or-length-one",
        undoing(
            """    if gradient.ndim > len(shape):
        return gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    ones = tuple(i for i, n in enumerate(shape[:-2]) if n == 1)
    return gradient.sum(axis=ones, keepdims=True)"""
        ),
        Text(
            "Where the factor lacks a batch axis, its axes of length 1 are not summed: both can "
            "come together.",
            "因子缺少批次轴时，它长度为 1 的轴就没有求和：两种情况可能同时出现。",
        ),
        Text(
            "A factor (1, 3, 5) meets a batch (2, 3): along which axes is it repeated?",
            "因子是 (1, 3, 5)，批次是 (2, 3)：它沿哪些轴被重复了？",
        ),
    ),
    Mutant(
        "matmul.batch-always-summed",
        undoing(
            """    axes = tuple(range(gradient.ndim - 2))
    total = gradient.sum(axis=axes, keepdims=True)
    return total.reshape((1,) * (len(shape) - 2) + shape[-2:])"""
        ),
        Text(
            "All batch axes are summed, also those that the factor has itself.",
            "所有批次轴都被求和了，连因子自己拥有的也不例外。",
        ),
        Text(
            "Where each member of the batch has a matrix of its own, each has a gradient of its "
            "own.",
            "批次中每个成员各有自己的矩阵时，各自也有自己的梯度。",
        ),
    ),
    Mutant(
        "matmul.batch-averaged",
        undoing(
            """    size = gradient.size
    gradient = summed(gradient, shape)
    return gradient * (gradient.size / size)"""
        ),
        Text(
            "The gradient is averaged over the batch that shares the factor; it must be summed.",
            "共用因子的批次上取了平均；应当求和。",
        ),
        Text(
            "Every member of the batch adds to L. By what would you divide, and why?",
            "批次的每个成员都对 L 有贡献。为什么要除？除以什么？",
        ),
    ),
    Mutant(
        "matmul.batch-averaged-a",
        """
def matmul_gradient_a(g, a, b):
    g, rows, columns = as_matrices(g, a, b)
    made = g @ columns.mT
    return (summed(made, rows.shape) * (rows.size / made.size)).reshape(a.shape)
""",
        Text(
            "∂L/∂a is averaged over the batch that shares a; it must be summed.",
            "∂L/∂a 在共用 a 的批次上取了平均；应当求和。",
        ),
        Text(
            "Every member of the batch adds to L. By what would you divide, and why?",
            "批次的每个成员都对 L 有贡献。为什么要除？除以什么？",
        ),
    ),
    Mutant(
        "matmul.batch-averaged-b",
        """
def matmul_gradient_b(g, a, b):
    g, rows, columns = as_matrices(g, a, b)
    made = rows.mT @ g
    return (summed(made, columns.shape) * (columns.size / made.size)).reshape(b.shape)
""",
        Text(
            "∂L/∂b is averaged over the batch that shares b; it must be summed.",
            "∂L/∂b 在共用 b 的批次上取了平均；应当求和。",
        ),
        Text(
            "Every member of the batch adds to L. By what would you divide, and why?",
            "批次的每个成员都对 L 有贡献。为什么要除？除以什么？",
        ),
    ),
    Mutant(
        "matmul.first-of-batch",
        undoing(
            """    while gradient.ndim > len(shape):
        gradient = gradient[0]
    for axis, n in enumerate(shape[:-2]):
        if n == 1:
            gradient = np.take(gradient, [0], axis=axis)
    return gradient"""
        ),
        Text(
            "Only the first member of the batch reaches the factor that all of them share.",
            "所有成员共用的因子只收到了第一个成员的梯度。",
        ),
        Text(
            "An index picks one member; which operation takes all?",
            "下标只取出一个成员；怎样才能取到全部？",
        ),
    ),
    Mutant(
        "matmul.last-of-batch",
        undoing(
            """    while gradient.ndim > len(shape):
        gradient = gradient[-1]
    for axis, n in enumerate(shape[:-2]):
        if n == 1:
            gradient = np.take(gradient, [-1], axis=axis)
    return gradient"""
        ),
        Text(
            "Only the last member of the batch reaches the shared factor: the others are "
            "overwritten.",
            "共用的因子只收到了最后一个成员的梯度：其余的被覆盖了。",
        ),
        Text(
            "What happens to the gradient of one member when the next one comes?",
            "下一个成员到来时，前一个成员的梯度怎样了？",
        ),
    ),
    Mutant(
        "matmul.aligned-left",
        undoing(
            """    n = gradient.shape
    if len(n) == 4 and len(shape) == 3 and n[0] == n[1]:
        return gradient.sum(axis=1)
    return summed(gradient, shape)"""
        ),
        Text(
            "The sum runs over the wrong batch axis: a missing axis is one in front, not one "
            "behind.",
            "沿错误的批次轴求和了：缺少的轴在前面，而不是在后面。",
        ),
        Text(
            "NumPy lines shapes up from the right. Write the two batch shapes below each other.",
            "NumPy 从右边对齐形状。把两个批次形状上下写在一起看看。",
        ),
    ),
    Mutant(
        "matmul.upstream-changed",
        """
_right_a = matmul_gradient_a


def matmul_gradient_a(g, a, b):
    made = _right_a(g, a, b)
    g *= 0.0
    return made
""",
        Text(
            "A rule writes into the upstream gradient, which the other rule still needs.",
            "一条规则改写了上游梯度，而另一条规则还要用它。",
        ),
        Text(
            "Look for *=, += and out=: they write into the array that you were given.",
            "检查 *=、+= 和 out=：它们会写进传给你的数组。",
        ),
    ),
    Mutant(
        "matmul.vectors-forgotten",
        """
def matmul_gradient_a(g, a, b):
    return summed(g @ b.mT, a.shape)


def matmul_gradient_b(g, a, b):
    return summed(a.mT @ g, b.shape)
""",
        Text(
            "The rules hold for matrices only: a vector has no second axis that could be "
            "transposed.",
            "规则只适用于矩阵：向量没有可以转置的第二个轴。",
        ),
        Text(
            "As which matrix does a vector stand on the left, and as which on the right?",
            "向量在左边时当作怎样的矩阵？在右边时呢？",
        ),
    ),
    Mutant(
        "matmul.outer-transposed",
        """
_right_a, _right_b = matmul_gradient_a, matmul_gradient_b


def matmul_gradient_a(g, a, b):
    made = _right_a(g, a, b)
    return made.mT if b.ndim == 1 and a.ndim > 1 else made


def matmul_gradient_b(g, a, b):
    made = _right_b(g, a, b)
    return made.mT if a.ndim == 1 and b.ndim > 1 else made
""",
        Text(
            "The outer product beside a vector is the wrong way round: rows and columns are "
            "swapped.",
            "与向量相乘时，外积的方向反了：行和列互换了。",
        ),
        Text(
            "∂L/∂aᵢⱼ = gᵢ bⱼ: which of the two gives the rows?",
            "∂L/∂aᵢⱼ = gᵢ bⱼ：哪一个对应行？",
        ),
    ),
    Mutant(
        "matmul.vector-kept-an-axis",
        """
def matmul_gradient_a(g, a, b):
    g, rows, columns = as_matrices(g, a, b)
    return summed(g @ columns.mT, rows.shape)


def matmul_gradient_b(g, a, b):
    g, rows, columns = as_matrices(g, a, b)
    return summed(rows.mT @ g, columns.shape)
""",
        Text(
            "A vector's gradient has come back as a matrix with one row or one column.",
            "向量的梯度成了只有一行或一列的矩阵。",
        ),
        Text(
            "Which axis did the vector get on the way in, and where is it taken away again?",
            "开头给向量补了哪个轴？后来又在哪里去掉？",
        ),
    ),
    Mutant(
        "matmul.vector-batch-lost",
        """
_right_a, _right_b = matmul_gradient_a, matmul_gradient_b


def matmul_gradient_a(g, a, b):
    if a.ndim == 1 and b.ndim > 2:
        return (g[0] @ b[0].mT).reshape(a.shape)
    return _right_a(g, a, b)


def matmul_gradient_b(g, a, b):
    if b.ndim == 1 and a.ndim > 2:
        return (a[0].mT @ g[0]).reshape(b.shape)
    return _right_b(g, a, b)
""",
        Text(
            "A vector beside a batch gets the gradient of the first member only.",
            "与一个批次相乘的向量，只收到了第一个成员的梯度。",
        ),
        Text(
            "All members of the batch share the vector, so what they pass back adds up.",
            "批次的所有成员共用这个向量，各自传回的贡献要相加。",
        ),
    ),
    Mutant(
        "matmul.dot-product-summed",
        """
_right_a, _right_b = matmul_gradient_a, matmul_gradient_b


def matmul_gradient_a(g, a, b):
    return 0 * a + g * b.sum() if a.ndim == 1 == b.ndim else _right_a(g, a, b)


def matmul_gradient_b(g, a, b):
    return 0 * b + g * a.sum() if a.ndim == 1 == b.ndim else _right_b(g, a, b)
""",
        Text(
            "Of two vectors every entry of a gets the sum of b; it must get its own entry of b.",
            "两个向量相乘时，a 的每个元素都得到了 b 的总和；应当得到 b 中对应的那个元素。",
        ),
        Text(
            "a @ b is the sum of aᵢ bᵢ. What is its derivative with respect to one aᵢ?",
            "a @ b 是 aᵢ bᵢ 之和。它对某一个 aᵢ 的导数是什么？",
        ),
    ),
    Mutant(
        "matmul.forward-swapped",
        """
def matmul(a, b):
    return b @ a
""",
        Text(
            "The factors stand in the wrong order: b @ a is another product, and mostly does not "
            "even fit.",
            "两个因子的顺序反了：b @ a 是另一个乘积，形状往往也对不上。",
        ),
        Text(
            "a is (n, k) and b is (k, m): which order has k in the middle?",
            "a 是 (n, k)，b 是 (k, m)：哪种顺序能让 k 相邻？",
        ),
    ),
    Mutant(
        "matmul.forward-transposed",
        """
def matmul(a, b):
    return (a @ b).mT if a.ndim > 1 and b.ndim > 1 else a @ b
""",
        Text(
            "The product is transposed: rows and columns of a @ b are swapped.",
            "结果被转置了：a @ b 的行与列互换了。",
        ),
        Text(
            "c has the rows of a and the columns of b. Which shape is that?",
            "c 的行来自 a，列来自 b。这样的形状是什么？",
        ),
    ),
    Mutant(
        "matmul.vectors-forgotten-by-swapaxes",
        """
def matmul_gradient_a(g, a, b):
    return summed(g @ b.swapaxes(-1, -2), a.shape)


def matmul_gradient_b(g, a, b):
    return summed(a.swapaxes(-1, -2) @ g, b.shape)
""",
        Text(
            "The rules hold for matrices only: a vector has no second axis to swap.",
            "规则只适用于矩阵：向量没有第二个轴可以交换。",
        ),
        Text(
            "As which matrix does a vector stand on the left, and as which on the right?",
            "向量在左边时当作怎样的矩阵？在右边时呢？",
        ),
    ),
    Mutant(
        "matmul.upstream-handed-on",
        """
def matmul_gradient_a(g, a, b):
    return g * 1.0


def matmul_gradient_b(g, a, b):
    return g * 1.0
""",
        Text(
            "Both rules hand g on as it came: the other factor is missing.",
            "两条规则都原样传下了 g：漏了另一个因子。",
        ),
        Text(
            "If one entry of a grows by 1, by how much do the entries of a @ b grow?",
            "a 的一个元素增加 1，a @ b 的各元素增加多少？",
        ),
    ),
    Mutant(
        "matmul.own-factor",
        """
def matmul_gradient_a(g, a, b):
    g, rows, columns = as_matrices(g, a, b)
    return summed(g @ rows.mT, rows.shape).reshape(a.shape)


def matmul_gradient_b(g, a, b):
    g, rows, columns = as_matrices(g, a, b)
    return summed(columns.mT @ g, columns.shape).reshape(b.shape)
""",
        Text(
            "Each gradient holds its own factor: the gradient at a must be made of b, and that "
            "at b of a.",
            "每个梯度里用的都是自己：a 的梯度应由 b 得来，b 的梯度应由 a 得来。",
        ),
        Text(
            "If aᵢₖ grows by 1, which numbers tell by how much cᵢⱼ grows?",
            "aᵢₖ 增加 1 时，cᵢⱼ 增加多少由哪些数决定？",
        ),
    ),
    Mutant(
        "matmul.wrong-side-at-a",
        """
def matmul_gradient_a(g, a, b):
    g, a_, b_ = as_matrices(g, a, b)
    return summed(b_.mT @ g, a_.shape).reshape(a.shape)
""",
        Text(
            "In ∂L/∂a the transposed factor stands on the wrong side of g: a product of matrices "
            "has an order.",
            "∂L/∂a 中，转置后的因子放在了 g 的错误一侧：矩阵乘法是有顺序的。",
        ),
        Text(
            "b stood to the right of a in the product. On which side of g does it stand in the "
            "rule?",
            "乘积中 b 在 a 的右边。规则中它应当在 g 的哪一边？",
        ),
    ),
    Mutant(
        "matmul.wrong-side-at-b",
        """
def matmul_gradient_b(g, a, b):
    g, a_, b_ = as_matrices(g, a, b)
    return summed(g @ a_.mT, b_.shape).reshape(b.shape)
""",
        Text(
            "In ∂L/∂b the transposed factor stands on the wrong side of g: a product of matrices "
            "has an order.",
            "∂L/∂b 中，转置后的因子放在了 g 的错误一侧：矩阵乘法是有顺序的。",
        ),
        Text(
            "a stood to the left of b in the product. On which side of g does it stand in the "
            "rule?",
            "乘积中 a 在 b 的左边。规则中它应当在 g 的哪一边？",
        ),
    ),
    Mutant(
        "matmul.reshaped-for-transposed",
        """
def matmul_gradient_a(g, a, b):
    g, a_, b_ = as_matrices(g, a, b)
    turned = b_.reshape(*b_.shape[:-2], b_.shape[-1], b_.shape[-2])
    return summed(g @ turned, a_.shape).reshape(a.shape)


def matmul_gradient_b(g, a, b):
    g, a_, b_ = as_matrices(g, a, b)
    turned = a_.reshape(*a_.shape[:-2], a_.shape[-1], a_.shape[-2])
    return summed(turned @ g, b_.shape).reshape(b.shape)
""",
        Text(
            "The factor is not transposed: what stands there has the right shape for any matrix, "
            "but of a square it is the matrix itself. reshape keeps the order of the entries.",
            "因子并没有转置：reshape 只改变形状，元素的先后次序不变；对方阵来说，它什么也没有做。",
        ),
        Text(
            "Print [[1, 2], [3, 4]] after your reshape. Where should the 2 be?",
            "把 [[1, 2], [3, 4]] 按你的写法 reshape 后打印出来。2 应当在哪里？",
        ),
    ),
    Mutant(
        "matmul.einsum-without-batch",
        """
import numpy as np


def matmul_gradient_a(g, a, b):
    return np.einsum("ij,kj->ik", g, b)


def matmul_gradient_b(g, a, b):
    return np.einsum("ik,ij->kj", a, g)
""",
        Text(
            "The einsum names two axes of each array; a batch has more of them.",
            "einsum 中每个数组只写了两个轴，而批次的轴更多。",
        ),
        Text(
            'How does einsum write "whatever axes come before"?',
            "在 einsum 中，“前面还有任意个轴”怎么写？",
        ),
    ),
    Mutant(
        "matmul.only-first-member",
        """
def first(x):
    while x.ndim > 2:
        x = x[0]
    return x


_right_a, _right_b = matmul_gradient_a, matmul_gradient_b


def matmul_gradient_a(g, a, b):
    return _right_a(first(g), first(a), first(b))


def matmul_gradient_b(g, a, b):
    return _right_b(first(g), first(a), first(b))
""",
        Text(
            "Of a batch both rules return the gradient of the first member alone.",
            "对一个批次，两条规则都只返回了第一个成员的梯度。",
        ),
        Text(
            "[0] takes one member away from the others. Does @ need it?",
            "[0] 只取出一个成员。@ 需要这样做吗？",
        ),
    ),
    *[
        Mutant(
            f"matmul.first-of-batch-{x}",
            f"""
_right = matmul_gradient_{x}


def matmul_gradient_{x}(g, a, b):
    if a.ndim == 1 or b.ndim == 1:
        return _right(g, a, b)
    gradient = {code}
    while gradient.ndim > {x}.ndim:
        gradient = gradient[0]
    return gradient[tuple(slice(n) for n in {x}.shape)]
""",
            Text(
                f"∂L/∂{x} is that of the first member of the batch that shares {x}: all of them "
                "must be summed.",
                f"∂L/∂{x} 只是共用 {x} 的批次中第一个成员的梯度：应当把所有成员的相加。",
            ),
            Text(
                "How often is a shared matrix used, and how many contributions does it receive?",
                "共用的矩阵被使用了几次？它收到几份贡献？",
            ),
        )
        for x, code in (("a", "g @ b.mT"), ("b", "a.mT @ g"))
    ],
    *[
        Mutant(
            f"matmul.matrix-batch-lost-{x}",
            first_of(x, f"    if {x}.ndim == 2 and {y}.ndim == 3:\n        return {code}"),
            Text(
                f"A matrix {x} beside a batch gets the gradient of the first member only.",
                f"{x} 是与一个批次相乘的矩阵时，只收到了第一个成员的梯度。",
            ),
            Text(
                "All members of the batch share the matrix, so what they pass back adds up.",
                "批次的所有成员共用这个矩阵，各自传回的贡献要相加。",
            ),
        )
        for x, y, code in (("a", "b", "g[0] @ b[0].mT"), ("b", "a", "a[0].mT @ g[0]"))
    ],
    *[
        Mutant(
            f"matmul.vector-batch-lost-{x}",
            first_of(x, f"    if {x}.ndim == 1 and {y}.ndim == 3:\n        return {code}"),
            Text(
                f"A vector {x} beside a batch gets the gradient of the first member only.",
                f"{x} 是与一个批次相乘的向量时，只收到了第一个成员的梯度。",
            ),
            Text(
                "All members of the batch share the vector, so what they pass back adds up.",
                "批次的所有成员共用这个向量，各自传回的贡献要相加。",
            ),
        )
        for x, y, code in (("a", "b", "g[0] @ b[0].mT"), ("b", "a", "a[0].mT @ g[0]"))
    ],
]
