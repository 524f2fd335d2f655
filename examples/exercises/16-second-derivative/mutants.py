"""The classic mistakes of exercise 16.

The rules are those of the reference with an array in the place of a tensor, here and there; on
arrays they are all right, until the last ones, which are wrong in the first derivative already.
"""

from minigrad.coursework import Mutant, Text

TANH = "def tanh_gradient(g, out):"
LOGSUMEXP = "def logsumexp_gradient(g, x, out, *, axis):"

MUTANTS = [
    Mutant(
        "second.arrays-only",
        f"""
{TANH}
    g, out = np.asarray(g), np.asarray(out)
    return g * (1 - out * out)


{LOGSUMEXP}
    g, x, out = np.asarray(g), np.asarray(x), np.asarray(out)
    return np.expand_dims(g, axis) * np.exp(x - np.expand_dims(out, axis))
""",
        Text(
            "The rule works on arrays only: it makes arrays of the tensors it is given "
            "(np.asarray, "
            "np.zeros and filling in, .data), so nothing of it is recorded.",
            "规则只能用于数组：它把张量变成了数组（np.asarray、np.zeros 后逐个填入、.data），"
            "因此什么也没有记录下来。",
        ),
        Text(
            "Which line of the rule turns a tensor into an array?",
            "规则的哪一行把张量变成了数组？",
        ),
    ),
    Mutant(
        "second.output-constant",
        f"""
{TANH}
    out = np.asarray(out)
    return g * (1 - out * out)


{LOGSUMEXP}
    return np.expand_dims(g, axis) * np.exp(x - np.expand_dims(np.asarray(out), axis))
""",
        Text(
            "The output is treated as a constant: out depends on x, and its part of the second "
            "derivative is missing.",
            "输出被当成了常数：out 依赖于 x，二阶导数中少了它的那一部分。",
        ),
        Text(
            "Where does out stop being a tensor in your rule?",
            "在你的规则里，out 从哪里开始不再是张量？",
        ),
    ),
    Mutant(
        "second.upstream-constant",
        f"""
{TANH}
    return np.asarray(g) * (1 - out * out)


{LOGSUMEXP}
    return np.expand_dims(np.asarray(g), axis) * np.exp(x - np.expand_dims(out, axis))
""",
        Text(
            "The upstream gradient is treated as a constant: it is a tensor too, and depends on "
            "whatever comes after this op.",
            "上游梯度被当成了常数：它也是张量，依赖于这个运算之后的计算。",
        ),
        Text(
            "Where does g stop being a tensor in your rule?",
            "在你的规则里，g 从哪里开始不再是张量？",
        ),
    ),
    Mutant(
        "second.input-constant",
        f"""
{LOGSUMEXP}
    return np.expand_dims(g, axis) * np.exp(np.asarray(x) - np.expand_dims(out, axis))
""",
        Text(
            "x is treated as a constant and only out is differentiated: the second derivative "
            "lacks "
            "the part that comes from x itself.",
            "x 被当成了常数，只对 out 求了导：二阶导数少了来自 x 本身的部分。",
        ),
        Text(
            "Where does x stop being a tensor in your rule?",
            "在你的规则里，x 从哪里开始不再是张量？",
        ),
    ),
    Mutant(
        "second.weights-constant",
        f"""
{LOGSUMEXP}
    weights = np.exp(np.asarray(x) - np.expand_dims(np.asarray(out), axis))
    return np.expand_dims(g, axis) * weights
""",
        Text(
            "The softmax weights are an array, made in the forward or from arrays: when x changes, "
            "the "
            "recorded rule does not see that they change too.",
            "softmax 权重是数组，来自前向或由数组算出：x 变化时，记录下来的规则看不到权重也在变。",
        ),
        Text(
            "From which of the rule's own parameters can the weights be computed?",
            "权重可以由规则自己的哪些参数算出？",
        ),
    ),
    Mutant(
        "second.no-such-function",
        """
def tanh_gradient(g, x):
    return g / np.cosh(x) ** 2
""",
        Text(
            "1 / cosh² is right for arrays, but the engine has no cosh, so it cannot be "
            "differentiated "
            "again.",
            "1 / cosh² 对数组是对的，但引擎里没有 cosh，无法再次求导。",
        ),
        Text(
            "The result of tanh is there already: what is 1 / cosh² in terms of it?",
            "tanh 的结果已经有了：1 / cosh² 用它怎样表示？",
        ),
    ),
    Mutant(
        "second.in-place",
        f"""
{TANH}
    g *= 1 - out * out
    return g


{LOGSUMEXP}
    weights = np.exp(x - np.expand_dims(out, axis)) * np.expand_dims(g, axis)
    g *= 0
    return weights
""",
        Text(
            "The rule writes into the upstream gradient, which others still need.",
            "规则改写了上游梯度，而别处还要用它。",
        ),
        Text(
            "Which of x *= y and x = x * y changes the array itself?",
            "x *= y 与 x = x * y，哪个会改变数组本身？",
        ),
    ),
    Mutant(
        "second.input-for-output",
        """
def tanh_gradient(g, x):
    return g * (1 - x * x)
""",
        Text(
            "1 − x² has the input where the output belongs: the derivative of tanh is 1 − "
            "tanh(x)².",
            "1 − x² 用的是输入，而应当用输出：tanh 的导数是 1 − tanh(x)²。",
        ),
        Text(
            "What must the parameter be called so that the rule gets the result and not the input?",
            "参数叫什么名字，规则得到的才是前向的结果而不是输入？",
        ),
    ),
    Mutant(
        "second.square-missing",
        f"""
{TANH}
    return g * (1 - out)
""",
        Text(
            "The derivative of tanh is 1 − out², and here stands 1 − out.",
            "tanh 的导数是 1 − out²，这里写成了 1 − out。",
        ),
        Text(
            "At a large negative x the curve is flat. Is 1 − out 0 there?",
            "x 是很大的负数时曲线是平的。那里 1 − out 等于 0 吗？",
        ),
    ),
    Mutant(
        "second.sigmoid",
        f"""
{TANH}
    return g * out * (1 - out)
""",
        Text(
            "out (1 − out) is the derivative of the sigmoid, not of tanh.",
            "out (1 − out) 是 sigmoid 的导数，不是 tanh 的。",
        ),
        Text(
            "At x = 0 the slope of tanh is 1. What does the rule give there?",
            "x = 0 处 tanh 的斜率是 1。规则在那里给出多少？",
        ),
    ),
    Mutant(
        "second.not-normalised",
        f"""
{LOGSUMEXP}
    top = x.max(axis=axis, keepdims=True)
    return np.expand_dims(g, axis) * np.exp(x - top)
""",
        Text(
            "The weights are not divided by their sum: the logarithm's derivative 1 / Σ is "
            "missing.",
            "权重没有除以总和：缺少对数的导数 1 / Σ。",
        ),
        Text(
            "The gradient of logsumexp along the axis sums to g; check one row.",
            "logsumexp 的梯度沿该轴之和等于 g；拿一行验算一下。",
        ),
    ),
    Mutant(
        "second.one-sum-for-all",
        f"""
{LOGSUMEXP}
    weights = np.exp(x - x.max())
    return np.expand_dims(g, axis) * weights / weights.sum()
""",
        Text(
            "The weights are divided by the sum of all entries; each row has a sum of its own.",
            "权重除以了所有元素的总和；每一行各有自己的和。",
        ),
        Text(
            "Which entries of x share a sum?",
            "x 的哪些元素共用一个和？",
        ),
    ),
    Mutant(
        "second.weights-missing",
        f"""
{LOGSUMEXP}
    return np.expand_dims(g, axis) + 0 * x
""",
        Text(
            "Every entry gets the whole of g, as if the op were a plain sum: the softmax weights "
            "are "
            "missing.",
            "每个元素都得到了完整的 g，仿佛这只是求和：缺少 softmax 权重。",
        ),
        Text(
            "By how much does log Σ exp(x) grow when one small entry grows?",
            "一个很小的元素增大时，log Σ exp(x) 会增加多少？",
        ),
    ),
    Mutant(
        "second.overflow",
        f"""
{LOGSUMEXP}
    weights = np.exp(x)
    return np.expand_dims(g, axis) * weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "exp(x) overflows for large entries, and ∞ / ∞ is NaN.",
            "元素很大时 exp(x) 会溢出，而 ∞ / ∞ 是 NaN。",
        ),
        Text(
            "Which of the parameters of the rule can be subtracted from x so that no exponent is "
            "above 0?",
            "从 x 中减去规则的哪个参数，指数就都不超过 0？",
        ),
    ),
    Mutant(
        "second.forward-overflow",
        """
def logsumexp(x, axis=-1):
    return np.log(np.exp(x).sum(axis=axis))
""",
        Text(
            "The forward overflows for large entries: exp(1000) is ∞.",
            "元素很大时前向会溢出：exp(1000) 是 ∞。",
        ),
        Text(
            "Which constant can be taken off all entries before the exponential, and how is that "
            "undone?",
            "取指数之前，所有元素可以减去哪个常数？之后又该怎样补回来？",
        ),
    ),
    Mutant(
        "second.one-maximum-for-all",
        """
def logsumexp(x, axis=-1):
    return np.log(np.exp(x - x.max()).sum(axis=axis)) + x.max()
""",
        Text(
            "The largest entry of the whole array is taken off: of a row far below it every exp is "
            "0, and log 0 is −∞.",
            "减去的是整个数组的最大元素：远低于它的那一行，exp 全部变为 0，而 log 0 是 −∞。",
        ),
        Text(
            "Along which axis must the largest entry be taken, so that at least one exponent of "
            "every row is 0?",
            "沿哪个轴取最大的元素，才能让每一行至少有一个指数为 0？",
        ),
    ),
    Mutant(
        "second.smallest-taken-off",
        """
def logsumexp(x, axis=-1):
    low = x.min(axis=axis, keepdims=True)
    return np.log(np.exp(x - low).sum(axis=axis)) + low.squeeze(axis)
""",
        Text(
            "Where the entries of a row are far apart, exp overflows, as when the smallest entry "
            "is taken off: the largest exponents are above 0.",
            "一行元素相差很大时 exp 会溢出，就像减去的是最小的元素那样：最大的指数大于 0。",
        ),
        Text(
            "Which entry must be taken off a row so that no exponent is above 0?",
            "一行减去哪个元素，指数就都不超过 0？",
        ),
    ),
    Mutant(
        "second.mean-taken-off",
        """
def logsumexp(x, axis=-1):
    mean = x.mean(axis=axis, keepdims=True)
    return np.log(np.exp(x - mean).sum(axis=axis)) + mean.squeeze(axis)
""",
        Text(
            "Where the entries of a row are far apart, exp overflows, as when the mean is taken "
            "off: the largest exponents are above 0.",
            "一行元素相差很大时 exp 会溢出，就像减去的是平均值那样：最大的指数大于 0。",
        ),
        Text(
            "Which entry must be taken off a row so that no exponent is above 0?",
            "一行减去哪个元素，指数就都不超过 0？",
        ),
    ),
    Mutant(
        "second.shift-not-undone",
        """
def logsumexp(x, axis=-1):
    return np.log(np.exp(x - x.max(axis=axis, keepdims=True)).sum(axis=axis))
""",
        Text(
            "The largest entry was taken off before the exponential and not added after the "
            "logarithm.",
            "取指数之前减去了最大的元素，取对数之后却没有加回来。",
        ),
        Text(
            "Of a single entry, log Σ exp(x) is that entry.",
            "只有一个元素时，log Σ exp(x) 就是它本身。",
        ),
    ),
    Mutant(
        "second.tanh-on-arrays",
        """
def tanh_gradient(g, out):
    g, out = np.asarray(g), np.asarray(out)
    return g * (1 - out * out)
""",
        Text(
            "tanh_gradient works on arrays only: it makes arrays of the tensors it is given, so "
            "nothing of it is recorded.",
            "tanh_gradient 只能用于数组：它把得到的张量变成了数组，因此什么也没有记录下来。",
        ),
        Text(
            "Which line of the rule turns a tensor into an array?",
            "规则的哪一行把张量变成了数组？",
        ),
    ),
    Mutant(
        "second.tanh-output-constant",
        """
def tanh_gradient(g, out):
    out = np.asarray(out)
    return g * (1 - out * out)
""",
        Text(
            "In tanh_gradient the result is treated as a constant: tanh(x) depends on x, and its "
            "part of the second derivative is missing.",
            "tanh_gradient 把前向的结果当成了常数：tanh(x) 依赖于 x，二阶导数中少了它的那一部分。",
        ),
        Text(
            "Where does the value of tanh stop being a tensor in your rule?",
            "在你的规则里，tanh 的值从哪里开始不再是张量？",
        ),
    ),
    Mutant(
        "second.tanh-upstream-constant",
        """
def tanh_gradient(g, out):
    return np.asarray(g) * (1 - out * out)
""",
        Text(
            "In tanh_gradient the upstream gradient is treated as a constant: it is a tensor "
            "too, and depends on whatever comes after this op.",
            "tanh_gradient 把上游梯度当成了常数：它也是张量，依赖于这个运算之后的计算。",
        ),
        Text(
            "Where does g stop being a tensor in your rule?",
            "在你的规则里，g 从哪里开始不再是张量？",
        ),
    ),
    Mutant(
        "second.logsumexp-on-arrays",
        """
def logsumexp_gradient(g, x, out, *, axis):
    g, x, out = np.asarray(g), np.asarray(x), np.asarray(out)
    return np.expand_dims(g, axis) * np.exp(x - np.expand_dims(out, axis))
""",
        Text(
            "logsumexp_gradient works on arrays only: it makes arrays of the tensors it is "
            "given, so nothing of it is recorded.",
            "logsumexp_gradient 只能用于数组：它把得到的张量变成了数组，因此什么也没有记录下来。",
        ),
        Text(
            "Which line of the rule turns a tensor into an array?",
            "规则的哪一行把张量变成了数组？",
        ),
    ),
    Mutant(
        "second.logsumexp-output-constant",
        """
def logsumexp_gradient(g, x, out, *, axis):
    return np.expand_dims(g, axis) * np.exp(x - np.expand_dims(np.asarray(out), axis))
""",
        Text(
            "In logsumexp_gradient the logarithm of the sum is treated as a constant: it depends "
            "on all of x, and its part of the second derivative is missing.",
            "logsumexp_gradient 把和的对数当成了常数：它依赖于整行 x，二阶导数中少了它的那一部分。",
        ),
        Text(
            "Where does out stop being a tensor in your rule?",
            "在你的规则里，out 从哪里开始不再是张量？",
        ),
    ),
    Mutant(
        "second.logsumexp-upstream-constant",
        """
def logsumexp_gradient(g, x, out, *, axis):
    return np.expand_dims(np.asarray(g), axis) * np.exp(x - np.expand_dims(out, axis))
""",
        Text(
            "In logsumexp_gradient the upstream gradient is treated as a constant: it is a "
            "tensor too, and depends on whatever comes after this op.",
            "logsumexp_gradient 把上游梯度当成了常数：它也是张量，依赖于这个运算之后的计算。",
        ),
        Text(
            "Where does g stop being a tensor in your rule?",
            "在你的规则里，g 从哪里开始不再是张量？",
        ),
    ),
    Mutant(
        "second.logarithm-missing",
        """
def logsumexp(x, axis=-1):
    return np.exp(x).sum(axis=axis)
""",
        Text(
            "The logarithm is missing: this is Σ exp(x).",
            "漏了对数：这是 Σ exp(x)。",
        ),
        Text(
            "Of a single entry, log Σ exp(x) is that entry. What is yours?",
            "只有一个元素时，log Σ exp(x) 就是它本身。你的结果是什么？",
        ),
    ),
    Mutant(
        "second.exponential-missing",
        """
def logsumexp(x, axis=-1):
    return np.log(x.sum(axis=axis))
""",
        Text(
            "The exponential is missing: this is log Σ x, and of a negative sum it is NaN.",
            "漏了指数：这是 log Σ x，和为负时就是 NaN。",
        ),
        Text(
            "In which order does the name tell the three steps?",
            "名字 logsumexp 说明了三步的顺序，分别是什么？",
        ),
    ),
    Mutant(
        "second.mean-for-sum",
        """
def logsumexp(x, axis=-1):
    top = x.max(axis=axis, keepdims=True)
    return np.log(np.exp(x - top).mean(axis=axis)) + top.squeeze(axis)
""",
        Text(
            "The exponentials are averaged and not summed: the result is log n too small.",
            "对各个指数取了平均而不是求和：结果小了 log n。",
        ),
        Text(
            "What is log Σ exp(x) of two zeros?",
            "两个 0 的 log Σ exp(x) 是多少？",
        ),
    ),
    Mutant(
        "second.axis-kept",
        """
def logsumexp(x, axis=-1):
    top = x.max(axis=axis, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
""",
        Text(
            "The axis is still there, with length 1: the result has no such axis.",
            "那个轴还在，长度为 1：结果中不应有它。",
        ),
        Text(
            "What is the shape of out if x is (n, m)?",
            "x 的形状是 (n, m) 时，out 是什么形状？",
        ),
    ),
    Mutant(
        "second.axis-not-put-back",
        """
def logsumexp_gradient(g, x, out, *, axis):
    return g * np.exp(x - out)
""",
        Text(
            "g and out lack the axis: they do not line up with x, or line up with the wrong axis.",
            "g 和 out 少了那个轴：与 x 对不上，或者对到了另一个轴。",
        ),
        Text(
            "Of what shape must out be, so that each row of x meets its own?",
            "out 应当是什么形状，才能让 x 的每一行对上自己的那个？",
        ),
    ),
    Mutant(
        "second.axis-put-last",
        """
def logsumexp_gradient(g, x, out, *, axis):
    return g[..., None] * np.exp(x - out[..., None])
""",
        Text(
            "g and out get their axis back at the end, whichever was summed.",
            "不论沿哪个轴求和，都把 g 和 out 的轴补在了最后。",
        ),
        Text(
            "What is the parameter axis of the rule for?",
            "规则的参数 axis 是做什么用的？",
        ),
    ),
    Mutant(
        "second.exponent-turned",
        """
def logsumexp_gradient(g, x, out, *, axis):
    return np.expand_dims(g, axis) * np.exp(np.expand_dims(out, axis) - x)
""",
        Text(
            "This is exp(out − x), which is 1 / p: the two stand in the wrong order.",
            "这是 exp(out − x)，即 1 / p：两者的顺序反了。",
        ),
        Text(
            "Can a weight be larger than 1?",
            "权重会大于 1 吗？",
        ),
    ),
]
