"""The classic mistakes of exercise 8."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    # ------------------------------------------------------------------------------- the gradient
    Mutant(
        "softmax.diagonal",
        """
def softmax_gradient(g, out, *, axis):
    return g * out * (1 - out)
""",
        Text(
            "This is only the diagonal of the Jacobian, p (1 − p): every weight also depends on "
            "the other scores, since they share a sum.",
            "这只是雅可比矩阵的对角线 p (1 − p)：各权重共用一个和，所以也依赖其他分数。",
        ),
        Text(
            "Differentiate pᵢ with respect to xⱼ for i ≠ j, and sum over all i.",
            "对 i ≠ j 求 pᵢ 关于 xⱼ 的导数，再对所有 i 求和。",
        ),
    ),
    Mutant(
        "softmax.jacobian-diagonal-alone",
        """
def softmax_gradient(g, out, *, axis):
    return out * (1 - out)
""",
        Text(
            "This is p (1 − p), without the upstream gradient and without the other weights.",
            "这是 p (1 − p)：既没有乘上游梯度，也没有考虑其他权重。",
        ),
        Text(
            "The chain rule sums gᵢ ∂pᵢ/∂xⱼ over i; where does g come in?",
            "链式法则要对 i 求 gᵢ ∂pᵢ/∂xⱼ 之和；g 出现在哪里？",
        ),
    ),
    Mutant(
        "softmax.sum-taken-as-constant",
        """
def softmax_gradient(g, out, *, axis):
    return g * out
""",
        Text(
            "This is g ⊙ p: the sum in the denominator was taken as a constant, but every score "
            "is in it.",
            "这是 g ⊙ p：分母中的和被当成了常数，但每个分数都在其中。",
        ),
        Text(
            "Differentiate exp(xᵢ) / s by the quotient rule, with s = Σ exp(x).",
            "令 s = Σ exp(x)，用商的求导法则对 exp(xᵢ) / s 求导。",
        ),
    ),
    Mutant(
        "softmax.plus",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g + (g * out).sum(axis=axis, keepdims=True))
""",
        Text(
            "Σ g ⊙ p is added where it must be subtracted: a larger score takes weight away from "
            "the others.",
            "Σ g ⊙ p 应当减去，而不是加上：一个分数变大，其他权重就变小。",
        ),
        Text("Which sign does ∂pᵢ/∂xⱼ have for i ≠ j?", "i ≠ j 时 ∂pᵢ/∂xⱼ 是什么符号？"),
    ),
    Mutant(
        "softmax.sign",
        """
def softmax_gradient(g, out, *, axis):
    return out * ((g * out).sum(axis=axis, keepdims=True) - g)
""",
        Text(
            "The gradient has the opposite sign: g and Σ g ⊙ p stand in the wrong order, or there "
            "is a minus sign too many.",
            "梯度的符号反了：g 与 Σ g ⊙ p 的前后顺序颠倒了，或者多了一个负号。",
        ),
        Text(
            "A weight grows with its own score: is ∂pᵢ/∂xᵢ positive in your formula?",
            "权重随自己的分数增大而增大：在你的公式里 ∂pᵢ/∂xᵢ 是正的吗？",
        ),
    ),
    Mutant(
        "softmax.plain-mean",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g - g.mean(axis=axis, keepdims=True))
""",
        Text(
            "The plain mean of g is subtracted; it must be the mean weighted by p, Σ g ⊙ p.",
            "减去的是 g 的普通平均；应当减去以 p 为权重的平均，即 Σ g ⊙ p。",
        ),
        Text(
            "Sum gᵢ pᵢ pⱼ over i: which factor depends on i, and which can stand outside?",
            "对 i 求 gᵢ pᵢ pⱼ 之和：哪个因子与 i 有关，哪个可以提到外面？",
        ),
    ),
    Mutant(
        "softmax.mean-for-sum",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g - (g * out).mean(axis=axis, keepdims=True))
""",
        Text(
            "The inner term is the mean of g ⊙ p in place of the sum, so it is n times too small.",
            "内层那一项取了 g ⊙ p 的平均而不是和，因此只有正确值的 1/n。",
        ),
        Text(
            "The weights p already sum to 1; is there anything left to divide by?",
            "权重 p 之和已经是 1，还需要再除以什么吗？",
        ),
    ),
    Mutant(
        "softmax.sum-of-g",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g - g.sum(axis=axis, keepdims=True))
""",
        Text(
            "The inner sum is Σ g: the weights p are missing in it.",
            "内层的和是 Σ g：其中漏乘了权重 p。",
        ),
        Text(
            "Write out Σ gᵢ ∂pᵢ/∂xⱼ for three weights before you shorten it.",
            "先对三个权重把 Σ gᵢ ∂pᵢ/∂xⱼ 完整写出来，再化简。",
        ),
    ),
    Mutant(
        "softmax.sum-of-p",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g - out.sum(axis=axis, keepdims=True))
""",
        Text(
            "The inner sum is Σ p, which is always 1: the upstream gradient is missing in it.",
            "内层的和是 Σ p，它总是 1：其中漏乘了上游梯度。",
        ),
        Text(
            "If g is 0, the gradient must be 0. Is it, in your formula?",
            "g 为 0 时梯度必须为 0。你的公式是这样吗？",
        ),
    ),
    Mutant(
        "softmax.outer-weight-missing",
        """
def softmax_gradient(g, out, *, axis):
    return g - (g * out).sum(axis=axis, keepdims=True)
""",
        Text(
            "This is g − Σ g ⊙ p; the factor p in front of it is missing, so even a weight of 0 "
            "gets a gradient.",
            "这是 g − Σ g ⊙ p，前面漏乘了 p，于是连权重为 0 的位置也有梯度。",
        ),
        Text(
            "Both parts of ∂pᵢ/∂xⱼ, for i = j and for i ≠ j, have a factor in common.",
            "i = j 与 i ≠ j 两种情形的 ∂pᵢ/∂xⱼ 有一个公因子。",
        ),
    ),
    Mutant(
        "softmax.outer-weight-on-one-term",
        """
def softmax_gradient(g, out, *, axis):
    return out * g - (g * out).sum(axis=axis, keepdims=True)
""",
        Text(
            "The factor p stands at g alone; Σ g ⊙ p needs it too. Brackets are missing.",
            "因子 p 只乘到了 g 上，Σ g ⊙ p 也要乘它：漏了括号。",
        ),
        Text(
            "Add up a row of your gradient: it must be 0.",
            "把你的梯度按行相加：结果应为 0。",
        ),
    ),
    Mutant(
        "softmax.weight-twice",
        """
def softmax_gradient(g, out, *, axis):
    return out * out * (g - (g * out).sum(axis=axis, keepdims=True))
""",
        Text(
            "The factor p in front is there twice.",
            "前面的因子 p 乘了两次。",
        ),
        Text(
            "Count the factors p in ∂pᵢ/∂xⱼ = pᵢ (1 − pᵢ) and −pᵢ pⱼ.",
            "数一数 ∂pᵢ/∂xⱼ 即 pᵢ (1 − pᵢ) 和 −pᵢ pⱼ 中各有几个 p。",
        ),
    ),
    Mutant(
        "softmax.backward-last-axis",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g - (g * out).sum(axis=-1, keepdims=True))
""",
        Text(
            "The rule always sums over the last axis; it must be the axis of the forward pass.",
            "规则总是沿最后一个轴求和；应当沿前向计算所用的轴。",
        ),
        Text("What is the parameter axis of the rule for?", "规则的参数 axis 是做什么用的？"),
    ),
    Mutant(
        "softmax.backward-first-axis",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g - (g * out).sum(axis=0, keepdims=True))
""",
        Text(
            "The rule sums over the first axis, across softmaxes that have nothing to do with "
            "each other.",
            "规则沿第一个轴求和，把互不相干的几个 softmax 加到了一起。",
        ),
        Text(
            "Which entries of x share a denominator? Only those belong in the sum.",
            "x 的哪些元素共用一个分母？只有它们该加在一起。",
        ),
    ),
    Mutant(
        "softmax.backward-all-axes",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g - (g * out).sum())
""",
        Text(
            "The rule sums g ⊙ p over the whole array; every row has a sum of its own.",
            "规则对整个数组求 g ⊙ p 之和；而每一行各有自己的和。",
        ),
        Text(
            "Which entries share a softmax, and of what shape is the array of all sums?",
            "哪些元素属于同一个 softmax？由所有和组成的数组是什么形状？",
        ),
    ),
    Mutant(
        "softmax.zero",
        """
def softmax_gradient(g, out, *, axis):
    return np.zeros_like(out)
""",
        Text(
            "∂L/∂x is 0 everywhere. That holds only if the upstream is the same for all weights, "
            "since their sum is always 1.",
            "∂L/∂x 处处为 0。只有上游梯度对所有权重都相同时才会这样，因为权重之和总是 1。",
        ),
        Text(
            "Weigh ∂pᵢ/∂xⱼ by gᵢ before you sum over i.",
            "对 i 求和之前，先把 ∂pᵢ/∂xⱼ 乘以 gᵢ。",
        ),
    ),
    Mutant(
        "softmax.softmax-again",
        """
def softmax_gradient(g, out, *, axis):
    p = softmax(out, axis)
    return p * (g - (g * p).sum(axis=axis, keepdims=True))
""",
        Text(
            "The rule takes the softmax of out, but out already is the softmax of x.",
            "规则又对 out 取了一次 softmax，而 out 已经是 x 的 softmax。",
        ),
        Text(
            "What has become of x by the time it is called out?",
            "x 变成 out 之前，经过了什么？",
        ),
    ),
    Mutant(
        "softmax.rule-of-log-softmax",
        """
def softmax_gradient(g, out, *, axis):
    return g - out * g.sum(axis=axis, keepdims=True)
""",
        Text(
            "g − p Σ g is the gradient of log softmax, not of softmax.",
            "g − p Σ g 是 log softmax 的梯度，不是 softmax 的梯度。",
        ),
        Text(
            "∂ log pᵢ/∂xⱼ and ∂pᵢ/∂xⱼ differ by a factor; which one?",
            "∂ log pᵢ/∂xⱼ 与 ∂pᵢ/∂xⱼ 相差一个因子，是哪个？",
        ),
    ),
    Mutant(
        "softmax.writes-into-g",
        """
def softmax_gradient(g, out, *, axis):
    g -= (g * out).sum(axis=axis, keepdims=True)
    return out * g
""",
        Text(
            "The rule writes into g: other rules get the same array as their upstream.",
            "规则就地修改了 g：其他规则的上游梯度可能是同一个数组。",
        ),
        Text(
            "Which of your operations write into an array that is there already? Those with -=, "
            "*= or out= do.",
            "你的哪些运算会写进已有的数组？-=、*= 和 out= 都会。",
        ),
    ),
    Mutant(
        "softmax.writes-into-out",
        """
def softmax_gradient(g, out, *, axis):
    inner = g - (g * out).sum(axis=axis, keepdims=True)
    out *= inner
    return out
""",
        Text(
            "The rule writes into out: the next backward pass finds wrong weights there.",
            "规则就地修改了 out：下一次反向传播时，里面的权重就不对了。",
        ),
        Text(
            "Which of your operations write into an array that is there already? Those with -=, "
            "*= or out= do.",
            "你的哪些运算会写进已有的数组？-=、*= 和 out= 都会。",
        ),
    ),
    # -------------------------------------------------------------------------------- the forward
    Mutant(
        "softmax.overflow",
        """
def softmax(x, axis=-1):
    weights = np.exp(x)
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "exp overflows for large scores, and ∞ / ∞ is NaN: no maximum is subtracted before "
            "exp.",
            "分数很大时 exp 会溢出，而 ∞ / ∞ 是 NaN：取 exp 之前没有减去最大值。",
        ),
        Text(
            "A constant may be subtracted from a row without changing its weights; which one "
            "makes all exponents at most 0?",
            "一行减去同一个常数，权重不变；减去哪个常数可以让所有指数都不超过 0？",
        ),
    ),
    Mutant(
        "softmax.one-maximum-for-all",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max())
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "One maximum is subtracted from the whole array: in a row far below it all weights "
            "become 0, and 0 / 0 is NaN.",
            "整个数组减去了同一个最大值：远低于它的那一行，exp 全部变为 0，而 0 / 0 是 NaN。",
        ),
        Text(
            "Along which axis must the maximum be taken, so that at least one exponent of every "
            "row is 0?",
            "沿哪个轴取最大值，才能让每一行至少有一个指数为 0？",
        ),
    ),
    Mutant(
        "softmax.minimum-subtracted",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.min(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "The minimum is subtracted, so no exponent is below 0, and large ones still overflow.",
            "减去的是最小值，于是指数都不小于 0，较大的仍会溢出。",
        ),
        Text(
            "For which arguments can exp not overflow?",
            "自变量满足什么条件时，exp 不会溢出？",
        ),
    ),
    Mutant(
        "softmax.forward-last-axis",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
""",
        Text(
            "softmax ignores its axis, and always takes the last one.",
            "softmax 忽略了 axis，总是沿最后一个轴计算。",
        ),
        Text(
            "What is the parameter axis for?",
            "参数 axis 是做什么用的？",
        ),
    ),
    Mutant(
        "softmax.forward-all-axes",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max())
    return weights / weights.sum()
""",
        Text(
            "All weights of the array together sum to 1; those of each row must.",
            "整个数组的权重之和为 1；应当是每一行的权重之和为 1。",
        ),
        Text(
            "Which entries share a denominator, and of what shape is the array of all "
            "denominators?",
            "哪些元素共用一个分母？由所有分母组成的数组是什么形状？",
        ),
    ),
    Mutant(
        "softmax.not-normalised",
        """
def softmax(x, axis=-1):
    return np.exp(x - x.max(axis=axis, keepdims=True))
""",
        Text(
            "The weights are not divided by their sum: the largest of each row is always 1.",
            "权重没有除以它们的和：每行最大的权重总是 1。",
        ),
        Text(
            "What must a row of weights sum to?",
            "一行权重之和应当是多少？",
        ),
    ),
    Mutant(
        "softmax.divided-by-mean",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.mean(axis=axis, keepdims=True)
""",
        Text(
            "The weights are divided by their mean, so a row sums to n in place of 1.",
            "权重除以的是平均值，于是一行之和为 n 而不是 1。",
        ),
        Text("What must a row of weights sum to?", "一行权重之和应当是多少？"),
    ),
    Mutant(
        "softmax.no-exponential",
        """
def softmax(x, axis=-1):
    return x / x.sum(axis=axis, keepdims=True)
""",
        Text(
            "The scores themselves are divided by their sum; exp is missing, so weights can be "
            "negative.",
            "直接把分数除以它们的和，漏了 exp，于是权重可能为负。",
        ),
        Text("Which function makes every score positive?", "哪个函数能把任何分数变成正数？"),
    ),
    Mutant(
        "softmax.base-2",
        """
def softmax(x, axis=-1):
    weights = np.exp2(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "The weights are powers of 2 in place of e.",
            "权重是 2 的幂，应当是 e 的幂。",
        ),
        Text(
            "What is the base of your exponential?",
            "你的指数函数，底数是几？",
        ),
    ),
    Mutant(
        "softmax.writes-into-x",
        """
def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    weights = np.exp(x)
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "softmax writes into x: whoever called it has other scores afterwards.",
            "softmax 就地修改了 x：调用者手里的分数被改掉了。",
        ),
        Text(
            "Which of your operations write into an array that is there already? Those with -=, "
            "*= or out= do.",
            "你的哪些运算会写进已有的数组？-=、*= 和 out= 都会。",
        ),
    ),
    Mutant(
        "softmax.off-diagonal-sign",
        """
def softmax_gradient(g, out, *, axis):
    others = (g * out).sum(axis=axis, keepdims=True) - g * out
    return g * out * (1 - out) + out * others
""",
        Text(
            "For i ≠ j the sign of ∂pᵢ/∂xⱼ is wrong: a larger score takes weight away from the "
            "others.",
            "i ≠ j 时 ∂pᵢ/∂xⱼ 的符号错了：一个分数变大，其他权重就变小。",
        ),
        Text(
            "The weights sum to 1. If one of them grows, what do the others do?",
            "权重之和为 1。其中一个变大时，其余的会怎样？",
        ),
    ),
    Mutant(
        "softmax.off-diagonal-alone",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g * out - (g * out).sum(axis=axis, keepdims=True))
""",
        Text(
            "Only the terms with i ≠ j are there: what a score does to its own weight is missing.",
            "只有 i ≠ j 的各项：漏了分数对自己那个权重的影响。",
        ),
        Text(
            "What is ∂pᵢ/∂xⱼ where i = j?",
            "i = j 时 ∂pᵢ/∂xⱼ 是什么？",
        ),
    ),
    Mutant(
        "softmax.diagonal-in-both",
        """
def softmax_gradient(g, out, *, axis):
    return g * out * (1 - out) - out * (g * out).sum(axis=axis, keepdims=True)
""",
        Text(
            "The term with i = j counts twice: it is in p (1 − p), and once more in the sum over "
            "all i.",
            "i = j 的那一项算了两次：p (1 − p) 里有它，对所有 i 的求和里又有它。",
        ),
        Text(
            "Your first part is the case i = j. Which i are left for the sum?",
            "第一部分已经是 i = j 的情形。求和里应当只剩下哪些 i？",
        ),
    ),
    Mutant(
        "softmax.upstream-handed-on",
        """
def softmax_gradient(g, out, *, axis):
    return g * 1.0
""",
        Text(
            "The rule hands g on as it came: the derivative of the softmax is missing.",
            "规则原样传下了 g：漏了 softmax 的导数。",
        ),
        Text(
            "How much does each weight change when one score grows?",
            "一个分数变大时，各个权重分别变化多少？",
        ),
    ),
    Mutant(
        "softmax.backward-without-keepdims",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g - (g * out).sum(axis=axis))
""",
        Text(
            "The sum in the rule has lost its axis, so NumPy lines it up with the wrong axis of "
            "g, or with none.",
            "规则中的和丢掉了求和的轴，于是 NumPy 把它与 g 的另一个轴对齐，或者根本对不上。",
        ),
        Text(
            "Of what shape must the sum be, so that each row of g meets its own?",
            "和应当是什么形状，才能让 g 的每一行对上自己的那个和？",
        ),
    ),
    Mutant(
        "softmax.jacobian-of-one-vector",
        """
def softmax_gradient(g, out, *, axis):
    return (np.diag(out) - np.outer(out, out)) @ g
""",
        Text(
            "np.diag and np.outer make the Jacobian of a single vector; here out has several "
            "rows, each with a softmax of its own.",
            "np.diag 和 np.outer 得到的是单个向量的雅可比矩阵；而这里的 out 有多行，每行各是一个 "
            "softmax。",
        ),
        Text(
            "Multiply out the product of this matrix and g on paper: can you do without the "
            "matrix?",
            "在纸上把这个矩阵与 g 的乘积展开：不用矩阵能写出来吗？",
        ),
    ),
    Mutant(
        "softmax.forward-zero",
        """
def softmax(x, axis=-1):
    return np.zeros_like(x)
""",
        Text(
            "All weights are 0.",
            "所有权重都是 0。",
        ),
        Text(
            "np.zeros_like makes a fine place to write into, but what is written there?",
            "np.zeros_like 可以用来存放结果，但里面写入了什么？",
        ),
    ),
    Mutant(
        "softmax.forward-log",
        """
def softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))
""",
        Text(
            "This is the logarithm of the softmax: weights are not negative.",
            "这是 softmax 的对数：权重不会是负数。",
        ),
        Text(
            "Which function undoes a logarithm?",
            "哪个函数与对数互逆？",
        ),
    ),
    Mutant(
        "softmax.forward-first-axis",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=0, keepdims=True))
    return weights / weights.sum(axis=0, keepdims=True)
""",
        Text(
            "softmax ignores its axis, and always takes the first one.",
            "softmax 忽略了 axis，总是沿第一个轴计算。",
        ),
        Text(
            "Along which axis do your weights sum to 1?",
            "你的权重沿哪个轴之和为 1？",
        ),
    ),
    Mutant(
        "softmax.sum-without-keepdims",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis)
""",
        Text(
            "The sum has lost its axis, so NumPy lines it up with the wrong axis of the weights, "
            "or with none.",
            "和丢掉了求和的轴，于是 NumPy 把它与权重的另一个轴对齐，或者根本对不上。",
        ),
        Text(
            "Of what shape must the sums be, so that each row is divided by its own?",
            "和应当是什么形状，才能让每一行除以自己的那个和？",
        ),
    ),
    Mutant(
        "softmax.maximum-without-keepdims",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis))
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "The maximum has lost its axis, so NumPy lines it up with the wrong axis of x, or "
            "with none.",
            "最大值丢掉了求最大值的轴，于是 NumPy 把它与 x 的另一个轴对齐，或者根本对不上。",
        ),
        Text(
            "Of what shape must the maxima be, so that each row meets its own?",
            "最大值应当是什么形状，才能让每一行减去自己的那个最大值？",
        ),
    ),
    Mutant(
        "softmax.neither-with-keepdims",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis))
    return weights / weights.sum(axis=axis)
""",
        Text(
            "Maximum and sum have lost their axis, so NumPy lines them up with the wrong axis, "
            "or with none.",
            "最大值与和都丢掉了所沿的轴，于是 NumPy 把它们与另一个轴对齐，或者根本对不上。",
        ),
        Text(
            "Of what shape must they be, so that each row meets its own maximum and its own sum?",
            "它们应当是什么形状，才能让每一行对上自己的最大值与和？",
        ),
    ),
    Mutant(
        "softmax.transposed",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return (weights / weights.sum(axis=axis, keepdims=True)).T
""",
        Text(
            "The weights are right, but transposed: each must stand where its score does.",
            "权重是对的，但被转置了：每个权重应在它的分数所在的位置。",
        ),
        Text(
            "Of what shape is your result if x is (2, 7, 3)?",
            "x 的形状为 (2, 7, 3) 时，你的结果是什么形状？",
        ),
    ),
    Mutant(
        "softmax.axis-left-last",
        """
def softmax(x, axis=-1):
    x = np.moveaxis(x, axis, -1)
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
""",
        Text(
            "The axis is moved to the end for the softmax, and stays there in the result.",
            "为了计算 softmax，把那个轴移到了最后，结果中却没有移回去。",
        ),
        Text(
            "Of what shape is your result if x is (2, 7, 3) and axis is 1?",
            "x 的形状为 (2, 7, 3)、axis 为 1 时，你的结果是什么形状？",
        ),
    ),
    Mutant(
        "softmax.maximum-last-axis",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "The maximum is always taken along the last axis, and the sum along axis: different "
            "constants are subtracted from scores that share a sum.",
            "最大值总是沿最后一个轴取，而和是沿 axis 求的：共用一个和的分数，减去的常数却不相同。",
        ),
        Text(
            "From which scores must the same constant be subtracted, so that it cancels out?",
            "哪些分数必须减去同一个常数，才能抵消？",
        ),
    ),
    Mutant(
        "softmax.maximum-first-axis",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=0, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "The maximum is always taken along the first axis, and the sum along axis: different "
            "constants are subtracted from scores that share a sum.",
            "最大值总是沿第一个轴取，而和是沿 axis 求的：共用一个和的分数，减去的常数却不相同。",
        ),
        Text(
            "From which scores must the same constant be subtracted, so that it cancels out?",
            "哪些分数必须减去同一个常数，才能抵消？",
        ),
    ),
    Mutant(
        "softmax.sum-last-axis",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
""",
        Text(
            "The maximum is taken along axis, but the sum always along the last one.",
            "最大值是沿 axis 取的，和却总是沿最后一个轴求。",
        ),
        Text("Along which axis do your weights sum to 1?", "你的权重沿哪个轴之和为 1？"),
    ),
    Mutant(
        "softmax.sum-first-axis",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=0, keepdims=True)
""",
        Text(
            "The maximum is taken along axis, but the sum always along the first one.",
            "最大值是沿 axis 取的，和却总是沿第一个轴求。",
        ),
        Text("Along which axis do your weights sum to 1?", "你的权重沿哪个轴之和为 1？"),
    ),
    Mutant(
        "softmax.mean-subtracted",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.mean(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "The mean is subtracted, so the largest exponents are still positive, and overflow "
            "where scores are far apart.",
            "减去的是平均值，于是较大的指数仍然为正，分数相差很远时还是会溢出。",
        ),
        Text(
            "Which exponent is the largest, and what must be subtracted so that it is 0?",
            "哪个指数最大？减去什么才能让它等于 0？",
        ),
    ),
    Mutant(
        "softmax.clipped",
        """
def softmax(x, axis=-1):
    weights = np.exp(np.clip(x, -500, 500))
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "The scores are clipped: nothing overflows, but all scores beyond the limit get the "
            "same weight.",
            "分数被截断了：虽然不会溢出，但超出界限的分数全都得到同样的权重。",
        ),
        Text(
            "What are the weights of 1000 and 1001 in your function, and what of 0 and 1?",
            "在你的函数里，1000 与 1001 的权重各是多少？0 与 1 的呢？",
        ),
    ),
    Mutant(
        "softmax.clipped-above",
        """
def softmax(x, axis=-1):
    weights = np.exp(np.minimum(x, 500))
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "Large scores are cut off: nothing overflows, but all scores beyond the limit get "
            "the same weight.",
            "大的分数被截掉了：虽然不会溢出，但超出界限的分数全都得到同样的权重。",
        ),
        Text(
            "What are the weights of 1000 and 1001 in your function, and what of 0 and 1?",
            "在你的函数里，1000 与 1001 的权重各是多少？0 与 1 的呢？",
        ),
    ),
    Mutant(
        "softmax.epsilon-for-maximum",
        """
def softmax(x, axis=-1):
    weights = np.exp(x)
    return weights / (weights.sum(axis=axis, keepdims=True) + 1e-9)
""",
        Text(
            "A small number in the denominator does not make it stable: exp still overflows, and "
            "where all exp(x) are 0 the weights are 0 and do not sum to 1.",
            "在分母中加一个小数并不能保证稳定：exp 照样溢出；而 exp(x) 全为 0 时，权重也全为 0，"
            "加起来不等于 1。",
        ),
        Text(
            "If the largest exponent of a row is 0, how small can its sum be?",
            "如果一行中最大的指数是 0，这一行的和最小能是多少？",
        ),
    ),
    Mutant(
        "softmax.epsilon",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / (weights.sum(axis=axis, keepdims=True) + 1e-5)
""",
        Text(
            "A number is added in the denominator: the weights no longer sum to 1.",
            "分母中多加了一个数：权重之和不再是 1。",
        ),
        Text(
            "After the subtraction the largest exp is 1. Can the sum still be 0?",
            "减去之后，最大的 exp 是 1。和还可能为 0 吗？",
        ),
    ),
    Mutant(
        "softmax.nan-replaced",
        """
def softmax(x, axis=-1):
    weights = np.exp(x)
    return np.nan_to_num(weights / weights.sum(axis=axis, keepdims=True))
""",
        Text(
            "NaN is replaced by 0, but it stood where the weights are largest: an overflow has "
            "to be prevented.",
            "NaN 被换成了 0，可那里恰恰是权重最大的地方：应当防止溢出，而不是事后替换。",
        ),
        Text(
            "Which constant can be subtracted from a row so that exp never overflows?",
            "一行减去哪个常数，exp 就不会溢出？",
        ),
    ),
    Mutant(
        "softmax.no-exponential-after-maximum",
        """
def softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted / shifted.sum(axis=axis, keepdims=True)
""",
        Text(
            "The shifted scores themselves are divided by their sum: exp is missing, and the "
            "largest score gets the weight 0.",
            "减去最大值之后，直接把分数除以它们的和：漏了 exp，最大的分数反而得到权重 0。",
        ),
        Text("Which function makes every score positive?", "哪个函数能把任何分数变成正数？"),
    ),
    Mutant(
        "softmax.no-exponential-below",
        """
def softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    return np.exp(shifted) / shifted.sum(axis=axis, keepdims=True)
""",
        Text(
            "The sum below is that of the scores, without exp.",
            "分母是分数之和，漏了 exp。",
        ),
        Text("What must a row of weights sum to?", "一行权重之和应当是多少？"),
    ),
    Mutant(
        "softmax.no-exponential-in-sum",
        """
def softmax(x, axis=-1):
    return np.exp(x - x.max(axis=axis, keepdims=True)) / x.sum(axis=axis, keepdims=True)
""",
        Text(
            "The powers of e are divided by the sum of the scores x; exp is missing in the sum.",
            "exp 的结果除以的是分数 x 之和；求和时漏了 exp。",
        ),
        Text("What must a row of weights sum to?", "一行权重之和应当是多少？"),
    ),
    Mutant(
        "softmax.negative-exponent",
        """
def softmax(x, axis=-1):
    weights = np.exp(x.min(axis=axis, keepdims=True) - x)
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "These are the weights of −x: the smallest score gets the largest weight.",
            "这是 −x 的权重：最小的分数得到了最大的权重。",
        ),
        Text("Which score must get the largest weight?", "哪个分数应当得到最大的权重？"),
    ),
    Mutant(
        "softmax.sigmoid",
        """
def softmax(x, axis=-1):
    return 1 / (1 + np.exp(-x))
""",
        Text(
            "This is the sigmoid of each score by itself; the weights of a row share a sum.",
            "这是对每个分数单独取 sigmoid；而一行中的权重共用一个和。",
        ),
        Text("What must a row of weights sum to?", "一行权重之和应当是多少？"),
    ),
    Mutant(
        "softmax.one-sum-for-all",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum()
""",
        Text(
            "A maximum is subtracted from each row, but the sum is that of the whole array: all "
            "weights together sum to 1, and those of each row must.",
            "每一行减去了自己的最大值，但除以的是整个数组的和：全部权重之和为 1，"
            "而应当是每一行的权重之和为 1。",
        ),
        Text(
            "Which entries share a denominator, and of what shape is the array of all "
            "denominators?",
            "哪些元素共用一个分母？由所有分母组成的数组是什么形状？",
        ),
    ),
    Mutant(
        "softmax.exponential-alone",
        """
def softmax(x, axis=-1):
    return np.exp(x)
""",
        Text(
            "This is exp(x): the weights are not divided by their sum.",
            "这只是 exp(x)：权重没有除以它们的和。",
        ),
        Text("What must a row of weights sum to?", "一行权重之和应当是多少？"),
    ),
    Mutant(
        "softmax.not-normalised-at-all",
        """
def softmax(x, axis=-1):
    return np.exp(x - x.max())
""",
        Text(
            "The weights are not divided by their sum, and one maximum is subtracted from the "
            "whole array.",
            "权重没有除以它们的和，而且整个数组减去了同一个最大值。",
        ),
        Text("What must a row of weights sum to?", "一行权重之和应当是多少？"),
    ),
    Mutant(
        "softmax.forward-axis-one",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
""",
        Text(
            "softmax ignores its axis, and always takes axis 1.",
            "softmax 忽略了 axis，总是沿轴 1 计算。",
        ),
        Text(
            "What is the parameter axis for?",
            "参数 axis 是做什么用的？",
        ),
    ),
    *[
        Mutant(
            f"softmax.default-axis-{axis}",
            f"""
def softmax(x, axis={axis}):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
""",
            Text(
                f"Where the caller does not say axis, softmax goes along axis {axis}; it must go "
                "along the last one.",
                f"调用者没有给出 axis 时，softmax 沿的是轴 {axis}；应当沿最后一个轴。",
            ),
            Text("Which default does the page give axis?", "页面上 axis 的默认值是什么？"),
        )
        for axis in (0, 1)
    ],
    Mutant(
        "softmax.absolute-maximum",
        """
def softmax(x, axis=-1):
    weights = np.exp(x - np.abs(x).max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
""",
        Text(
            "The largest |x| of each row is subtracted: where all scores are far below that, as "
            "when it comes from a large negative one, every exponential is 0, and 0 / 0 is NaN.",
            "每行减去的是最大的 |x|：若分数都远小于它（例如它来自一个很大的负分数），"
            "所有 exp 都为 0，而 0 / 0 是 NaN。",
        ),
        Text(
            "For the scores −1000 and 1, what is subtracted, and what is the largest exponent?",
            "分数为 −1000 和 1 时，减去的是什么？最大的指数是多少？",
        ),
    ),
    Mutant(
        "softmax.backward-axis-one",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g - (g * out).sum(axis=1, keepdims=True))
""",
        Text(
            "The rule always sums over axis 1; it must be the axis of the forward pass.",
            "规则总是沿轴 1 求和；应当沿前向计算所用的轴。",
        ),
        Text("What is the parameter axis of the rule for?", "规则的参数 axis 是做什么用的？"),
    ),
    Mutant(
        "softmax.weight-outside-the-sum",
        """
def softmax_gradient(g, out, *, axis):
    return out * (g - out * g.sum(axis=axis, keepdims=True))
""",
        Text(
            "This is p ⊙ (g − p Σ g): in the sum each gᵢ must be multiplied by its own pᵢ.",
            "这是 p ⊙ (g − p Σ g)：求和时每个 gᵢ 应当乘以各自的 pᵢ。",
        ),
        Text(
            "Sum gᵢ pᵢ pⱼ over i: which factor depends on i, and which can stand outside?",
            "对 i 求 gᵢ pᵢ pⱼ 之和：哪个因子与 i 有关，哪个可以提到外面？",
        ),
    ),
    Mutant(
        "softmax.first-term-missing",
        """
def softmax_gradient(g, out, *, axis):
    return -out * (g * out).sum(axis=axis, keepdims=True)
""",
        Text(
            "This is −p Σ g ⊙ p: the term g ⊙ p is missing.",
            "这是 −p Σ g ⊙ p：漏了 g ⊙ p 这一项。",
        ),
        Text(
            "What is ∂pᵢ/∂xⱼ where i = j?",
            "i = j 时 ∂pᵢ/∂xⱼ 是什么？",
        ),
    ),
    Mutant(
        "softmax.one-minus-weight",
        """
def softmax_gradient(g, out, *, axis):
    return g * (1 - out)
""",
        Text(
            "This is g ⊙ (1 − p): a factor p is missing, and so is what the other weights do.",
            "这是 g ⊙ (1 − p)：漏了因子 p，也没有考虑其他权重。",
        ),
        Text(
            "What are ∂pᵢ/∂xⱼ for i = j and for i ≠ j?",
            "i = j 与 i ≠ j 时，∂pᵢ/∂xⱼ 各是什么？",
        ),
    ),
    Mutant(
        "softmax.no-weights",
        """
def softmax_gradient(g, out, *, axis):
    return g - g.sum(axis=axis, keepdims=True)
""",
        Text(
            "This is g − Σ g: the weights p are missing, in the sum and in front of it.",
            "这是 g − Σ g：求和里、括号外都漏乘了权重 p。",
        ),
        Text(
            "Which factor have both parts of ∂pᵢ/∂xⱼ, for i = j and for i ≠ j, in common?",
            "i = j 与 i ≠ j 两种情形的 ∂pᵢ/∂xⱼ 有什么公因子？",
        ),
    ),
]
