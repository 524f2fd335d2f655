"""The classic mistakes of exercise 12."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    Mutant(
        "layer-norm.statistics-as-constants",
        """
def gradient_x(g, x, gamma, *, eps):
    _, sigma = normalized(x, eps)
    h = g * gamma
    return h / sigma
""",
        Text(
            "∂L/∂x is g γ / σ: mean and variance are taken as constants, but both depend on "
            "every x of the row.",
            "∂L/∂x 是 g γ / σ：均值和方差被当成了常数，而它们都依赖这一行的每个 x。",
        ),
        Text(
            "In how many ways does one x of the row act on L?",
            "一行中的某个 x，通过几条途径影响 L？",
        ),
    ),
    Mutant(
        "layer-norm.mean-as-constant",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - unit * stretch) / sigma
""",
        Text(
            "The way through the mean is missing in ∂L/∂x, so its rows do not sum to 0.",
            "∂L/∂x 中漏了经过均值的那条途径，所以每行之和不为 0。",
        ),
        Text(
            "Add a constant to a row: nothing comes out different. What must the row of ∂L/∂x "
            "sum to?",
            "一行加上同一个常数，输出不变。那么 ∂L/∂x 这一行之和应是多少？",
        ),
    ),
    Mutant(
        "layer-norm.variance-as-constant",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    return (h - shift) / sigma
""",
        Text(
            "The way through the variance is missing in ∂L/∂x, or its term comes out as 0: the "
            "gradient still tries to stretch the row, which layer norm undoes.",
            "∂L/∂x 中漏了经过方差的那条途径，或者那一项成了 0：梯度仍想拉伸这一行，而层归一化会抵消"
            "这种拉伸。",
        ),
        Text(
            "Multiply a row by 3: nothing comes out different. What must Σ x̂ ⊙ ∂L/∂x be?",
            "一行乘以 3，输出不变。那么 Σ x̂ ⊙ ∂L/∂x 应是多少？",
        ),
    ),
    Mutant(
        "layer-norm.gamma-missing",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - unit * stretch) / sigma
""",
        Text(
            "γ is missing in ∂L/∂x: x̂ is multiplied by γ on its way to L.",
            "∂L/∂x 中漏了 γ：x̂ 在通往 L 的路上乘过 γ。",
        ),
        Text(
            "What is ∂L/∂x̂?",
            "∂L/∂x̂ 是什么？",
        ),
    ),
    Mutant(
        "layer-norm.gamma-too-late",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return gamma * (h - shift - unit * stretch) / sigma
""",
        Text(
            "γ comes after the means in ∂L/∂x; it must be inside them, since each g gets its "
            "own γ first.",
            "∂L/∂x 中 γ 在求平均之后才乘；它应当在平均之内，因为每个 g 要先乘自己的 γ。",
        ),
        Text(
            "Go back in the order opposite to the forward pass: γ is the last there.",
            "按与前向相反的顺序往回走：前向时 γ 是最后一步。",
        ),
    ),
    Mutant(
        "layer-norm.gamma-twice",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - unit * stretch) / sigma
""",
        Text(
            "γ is in ∂L/∂x twice.",
            "∂L/∂x 中 γ 乘了两次。",
        ),
        Text(
            "How many factors γ are between x̂ and the output?",
            "从 x̂ 到输出之间有几个因子 γ？",
        ),
    ),
    Mutant(
        "layer-norm.sums-for-means",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.sum(axis=-1, keepdims=True)
    stretch = (h * unit).sum(axis=-1, keepdims=True)
    return (h - shift - unit * stretch) / sigma
""",
        Text(
            "Beside h, the two other terms of ∂L/∂x are n times too large, as they are with sums "
            "in place of means.",
            "与 h 相比，∂L/∂x 中另外两项是应有大小的 n 倍，用和代替平均就会这样。",
        ),
        Text(
            "Each x has a share of 1 / n in the mean and in the variance.",
            "每个 x 在均值和方差中只占 1 / n。",
        ),
    ),
    Mutant(
        "layer-norm.variance-term-added",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift + unit * stretch) / sigma
""",
        Text(
            "The term of the variance is added in ∂L/∂x; it must be subtracted.",
            "∂L/∂x 中方差那一项是加上的；应当减去。",
        ),
        Text(
            "σ is in a denominator: which sign has its derivative?",
            "σ 在分母上：求导后是什么符号？",
        ),
    ),
    Mutant(
        "layer-norm.mean-term-added",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h + shift - unit * stretch) / sigma
""",
        Text(
            "The term of the mean is added in ∂L/∂x; it must be subtracted.",
            "∂L/∂x 中均值那一项是加上的；应当减去。",
        ),
        Text(
            "The mean is subtracted forward: which sign has its derivative?",
            "前向时减去了均值：求导后是什么符号？",
        ),
    ),
    Mutant(
        "layer-norm.variance-term-without-unit",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - stretch) / sigma
""",
        Text(
            "In ∂L/∂x the mean of h ⊙ x̂ stands alone; it must be multiplied by x̂ again, "
            "since that is how σ depends on each x.",
            "∂L/∂x 中 h ⊙ x̂ 的平均单独出现；它还要再乘 x̂，因为 σ 正是这样依赖每个 x 的。",
        ),
        Text(
            "∂σ/∂xⱼ is x̂ⱼ / n: where is it in your term?",
            "∂σ/∂xⱼ = x̂ⱼ / n：它在你的那一项里吗？",
        ),
    ),
    Mutant(
        "layer-norm.centered-for-unit",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    centered = unit * sigma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * centered).mean(axis=-1, keepdims=True)
    return (h - shift - centered * stretch) / sigma
""",
        Text(
            "The term of the variance in ∂L/∂x is made of x − μ; it must be of x̂, which is "
            "divided by σ too.",
            "∂L/∂x 中方差那一项用了 x − μ；应当用 x̂，即还要除以 σ。",
        ),
        Text(
            "Count the σ in the denominator of each term.",
            "数一数每一项的分母里有几个 σ。",
        ),
    ),
    Mutant(
        "layer-norm.variance-term-doubled",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - 2 * unit * stretch) / sigma
""",
        Text(
            "Beside the other terms of ∂L/∂x, that of the variance is twice as large as it must "
            "be.",
            "与其余各项相比，∂L/∂x 中方差那一项是应有大小的 2 倍。",
        ),
        Text(
            "Differentiate σ = √v with v the mean of squares: which two constants meet?",
            "对 σ = √v 求导，其中 v 是平方的平均：哪两个常数会相遇？",
        ),
    ),
    Mutant(
        "layer-norm.variance-term-halved",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - unit * stretch / 2) / sigma
""",
        Text(
            "Beside the other terms of ∂L/∂x, that of the variance is half as large as it must be.",
            "∂L/∂x 中方差那一项相对于其余各项只有应有的一半。",
        ),
        Text(
            "v is a mean of squares: which factor comes down?",
            "v 是平方的平均：求导时会降下哪个因子？",
        ),
    ),
    Mutant(
        "layer-norm.sigma-missing",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, _ = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return h - shift - unit * stretch
""",
        Text(
            "∂L/∂x is not divided by σ: a wide row must get a small gradient.",
            "∂L/∂x 没有除以 σ：一行越分散，梯度应越小。",
        ),
        Text(
            "By how much does x̂ move if x moves by 1?",
            "x 变化 1 时，x̂ 变化多少？",
        ),
    ),
    Mutant(
        "layer-norm.variance-for-sigma",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - unit * stretch) / sigma**2
""",
        Text(
            "∂L/∂x is divided by the variance in place of σ.",
            "∂L/∂x 除以了方差，应当除以 σ。",
        ),
        Text(
            "By how much does x̂ move if x moves by 1?",
            "x 变化 1 时，x̂ 变化多少？",
        ),
    ),
    Mutant(
        "layer-norm.multiplied-by-sigma",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - unit * stretch) * sigma
""",
        Text(
            "∂L/∂x is multiplied by σ; it must be divided by it.",
            "∂L/∂x 乘了 σ；应当除以 σ。",
        ),
        Text(
            "By how much does x̂ move if x moves by 1?",
            "x 变化 1 时，x̂ 变化多少？",
        ),
    ),
    Mutant(
        "layer-norm.backward-ddof",
        """
def gradient_x(g, x, gamma, *, eps):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt(x.var(axis=-1, ddof=1, keepdims=True) + eps)
    unit = centered / sigma
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - unit * stretch) / sigma
""",
        Text(
            "∂L/∂x uses the variance with n − 1 in the denominator; layer norm divides by n.",
            "∂L/∂x 用了分母为 n − 1 的方差；层归一化除以 n。",
        ),
        Text(
            "NumPy's var and std divide by n unless ddof says otherwise.",
            "NumPy 的 var 和 std 默认除以 n，除非指定了 ddof。",
        ),
    ),
    Mutant(
        "layer-norm.backward-eps-missing",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, 0.0)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - unit * stretch) / sigma
""",
        Text(
            "eps is missing in the σ of ∂L/∂x: it belongs under the root, as in the forward pass.",
            "∂L/∂x 的 σ 中漏了 eps：它应当在根号之内，与前向相同。",
        ),
        Text(
            "Which parameter of the rule is not used yet?",
            "规则的哪个参数还没有用到？",
        ),
    ),
    Mutant(
        "layer-norm.backward-over-rows",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=0, keepdims=True)
    stretch = (h * unit).mean(axis=0, keepdims=True)
    return (h - shift - unit * stretch) / sigma
""",
        Text(
            "The means of ∂L/∂x are taken over the first axis, across rows that have nothing "
            "to do with each other.",
            "∂L/∂x 中的平均沿第一个轴求，把互不相干的各行混在了一起。",
        ),
        Text(
            "Which entries of x share a mean and a variance?",
            "x 的哪些元素共用一个均值和方差？",
        ),
    ),
    Mutant(
        "layer-norm.backward-over-all",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean()
    stretch = (h * unit).mean()
    return (h - shift - unit * stretch) / sigma
""",
        Text(
            "The means of ∂L/∂x are taken over the whole array; each row has its own.",
            "∂L/∂x 中的平均是对整个数组求的；而每一行各有自己的平均。",
        ),
        Text(
            "Which numbers share a mean, and of what shape is the array of all means?",
            "哪些数共用一个平均？由所有平均组成的数组是什么形状？",
        ),
    ),
    Mutant(
        "layer-norm.gradient-of-gamma-from-x",
        """
def gradient_gamma(g, x, *, eps):
    return (g * x).sum(axis=tuple(range(g.ndim - 1)))
""",
        Text(
            "∂L/∂γ is made of x; γ is multiplied by x̂.",
            "∂L/∂γ 用了 x；而与 γ 相乘的是 x̂。",
        ),
        Text(
            "What stands beside γ in the forward pass?",
            "前向计算中，γ 旁边是什么？",
        ),
    ),
    Mutant(
        "layer-norm.gradient-of-gamma-from-centered",
        """
def gradient_gamma(g, x, *, eps):
    centered = x - x.mean(axis=-1, keepdims=True)
    return (g * centered).sum(axis=tuple(range(g.ndim - 1)))
""",
        Text(
            "∂L/∂γ is made of x − μ, which is not divided by σ yet; γ is multiplied by x̂.",
            "∂L/∂γ 用了 x − μ，还没有除以 σ；而与 γ 相乘的是 x̂。",
        ),
        Text(
            "What stands beside γ in the forward pass?",
            "前向计算中，γ 旁边是什么？",
        ),
    ),
    Mutant(
        "layer-norm.gradient-of-gamma-from-result",
        """
def gradient_gamma(g, out):
    return (g * out).sum(axis=tuple(range(g.ndim - 1)))
""",
        Text(
            "∂L/∂γ is made of the result, in which γ and β are already; it must be of x̂.",
            "∂L/∂γ 用了输出，其中已经含有 γ 和 β；应当用 x̂。",
        ),
        Text(
            "What stands beside γ in the forward pass?",
            "前向计算中，γ 旁边是什么？",
        ),
    ),
    Mutant(
        "layer-norm.gradient-of-gamma-without-unit",
        """
def gradient_gamma(g, x, *, eps):
    return g.sum(axis=tuple(range(g.ndim - 1)))
""",
        Text(
            "∂L/∂γ is the sum of g, which is ∂L/∂β; γ is multiplied by x̂.",
            "∂L/∂γ 只是 g 之和，那是 ∂L/∂β；而 γ 是与 x̂ 相乘的。",
        ),
        Text(
            "What stands beside γ in the forward pass?",
            "前向计算中，γ 旁边是什么？",
        ),
    ),
    Mutant(
        "layer-norm.gamma-and-beta-swapped",
        """
def gradient_gamma(g, x, *, eps):
    return g.sum(axis=tuple(range(g.ndim - 1)))


def gradient_beta(g, x, *, eps):
    return (g * normalized(x, eps)[0]).sum(axis=tuple(range(g.ndim - 1)))
""",
        Text(
            "∂L/∂γ and ∂L/∂β are swapped.",
            "∂L/∂γ 与 ∂L/∂β 互换了。",
        ),
        Text(
            "Which of the two is multiplied, which added?",
            "两者之中，哪个是乘的，哪个是加的？",
        ),
    ),
    Mutant(
        "layer-norm.averaged-over-rows",
        """
def gradient_gamma(g, x, *, eps):
    return (g * normalized(x, eps)[0]).mean(axis=tuple(range(g.ndim - 1)))


def gradient_beta(g):
    return g.mean(axis=tuple(range(g.ndim - 1)))
""",
        Text(
            "∂L/∂γ and ∂L/∂β are averaged over the rows, so they are N times too small: what "
            "was broadcast is summed.",
            "∂L/∂γ 和 ∂L/∂β 对各行取了平均，因此只有正确值的 1/N：前向时广播的，反向时要求和。",
        ),
        Text(
            "All rows use the same γ and β; do their contributions add up, or average?",
            "所有行共用同一个 γ 和 β；各行的贡献是相加还是平均？",
        ),
    ),
    Mutant(
        "layer-norm.not-summed",
        """
def gradient_gamma(g, x, *, eps):
    return g * normalized(x, eps)[0]


def gradient_beta(g):
    return g
""",
        Text(
            "∂L/∂γ and ∂L/∂β have the shape of x: they are not summed over the rows that share "
            "γ and β.",
            "∂L/∂γ 和 ∂L/∂β 的形状与 x 相同：没有对共用 γ 和 β 的各行求和。",
        ),
        Text(
            "How often is each entry of γ used?",
            "γ 的每个元素用了几次？",
        ),
    ),
    Mutant(
        "layer-norm.summed-over-first-axis",
        """
def gradient_gamma(g, x, *, eps):
    return (g * normalized(x, eps)[0]).sum(axis=0)


def gradient_beta(g):
    return g.sum(axis=0)
""",
        Text(
            "In ∂L/∂γ and ∂L/∂β only the first axis is summed away, whatever the shape; that "
            "is right for two axes alone.",
            "∂L/∂γ 和 ∂L/∂β 总是只消去第一个轴；只有恰好两个轴时才对。",
        ),
        Text(
            "Which axes of x does γ not have?",
            "x 的哪些轴是 γ 没有的？",
        ),
    ),
    Mutant(
        "layer-norm.ddof",
        """
def normalized(x, eps):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt(x.var(axis=-1, ddof=1, keepdims=True) + eps)
    return centered / sigma, sigma
""",
        Text(
            "The variance has n − 1 in the denominator; layer norm divides by n.",
            "方差的分母用了 n − 1；层归一化除以 n。",
        ),
        Text(
            "The variance here describes the row itself, and estimates nothing.",
            "这里的方差描述的是这一行本身，不是在估计总体。",
        ),
    ),
    Mutant(
        "layer-norm.forward-ddof",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt(x.var(axis=-1, ddof=1, keepdims=True) + eps)
    return centered / sigma * gamma + beta
""",
        Text(
            "In the forward pass, the variance has n − 1 in the denominator; layer norm "
            "divides by n.",
            "前向计算中，方差的分母用了 n − 1；层归一化除以 n。",
        ),
        Text(
            "The variance here describes the row itself, and estimates nothing.",
            "这里的方差描述的是这一行本身，不是在估计总体。",
        ),
    ),
    Mutant(
        "layer-norm.eps-outside",
        """
def normalized(x, eps):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centered * centered).mean(axis=-1, keepdims=True)) + eps
    return centered / sigma, sigma
""",
        Text(
            "eps is added to σ; it belongs to the variance, under the root.",
            "eps 加在了 σ 上；应当加在方差上，即根号之内。",
        ),
        Text(
            "Where does the page have eps?",
            "题目中 eps 写在哪里？",
        ),
    ),
    Mutant(
        "layer-norm.forward-eps-outside",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centered * centered).mean(axis=-1, keepdims=True)) + eps
    return centered / sigma * gamma + beta
""",
        Text(
            "In the forward pass, eps is added to σ; it belongs to the variance, under the root.",
            "前向计算中，eps 加在了 σ 上；应当加在方差上，即根号之内。",
        ),
        Text(
            "Where does the page have eps?",
            "题目中 eps 写在哪里？",
        ),
    ),
    Mutant(
        "layer-norm.eps-missing",
        """
def normalized(x, eps):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centered * centered).mean(axis=-1, keepdims=True))
    return centered / sigma, sigma
""",
        Text(
            "eps is not used: a row of equal numbers would be divided by 0.",
            "没有用到 eps：如果一行的数全都相等，就会除以 0。",
        ),
        Text(
            "Where does the page have eps?",
            "题目中 eps 写在哪里？",
        ),
    ),
    Mutant(
        "layer-norm.forward-eps-missing",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centered * centered).mean(axis=-1, keepdims=True))
    return centered / sigma * gamma + beta
""",
        Text(
            "In the forward pass, eps is not used: a row of equal numbers would be divided by 0.",
            "前向计算中，没有用到 eps：如果一行的数全都相等，就会除以 0。",
        ),
        Text(
            "Where does the page have eps?",
            "题目中 eps 写在哪里？",
        ),
    ),
    Mutant(
        "layer-norm.eps-fixed",
        """
def normalized(x, eps):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centered * centered).mean(axis=-1, keepdims=True) + 1e-5)
    return centered / sigma, sigma
""",
        Text(
            "eps is always 1e−5, whatever the caller says.",
            "不管调用者给了什么，eps 总是 1e−5。",
        ),
        Text(
            "What is the parameter eps for?",
            "参数 eps 是做什么用的？",
        ),
    ),
    Mutant(
        "layer-norm.forward-eps-fixed",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centered * centered).mean(axis=-1, keepdims=True) + 1e-5)
    return centered / sigma * gamma + beta
""",
        Text(
            "In the forward pass, eps is always 1e−5, whatever the caller says.",
            "前向计算中，不管调用者给了什么，eps 总是 1e−5。",
        ),
        Text(
            "What is the parameter eps for?",
            "参数 eps 是做什么用的？",
        ),
    ),
    Mutant(
        "layer-norm.root-missing",
        """
def normalized(x, eps):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = (centered * centered).mean(axis=-1, keepdims=True) + eps
    return centered / sigma, sigma
""",
        Text(
            "x − μ is divided by the variance; it must be by its root.",
            "x − μ 除以了方差；应当除以方差的平方根。",
        ),
        Text(
            "Which unit has the variance if x is in metres?",
            "如果 x 的单位是米，方差的单位是什么？",
        ),
    ),
    Mutant(
        "layer-norm.forward-root-missing",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = (centered * centered).mean(axis=-1, keepdims=True) + eps
    return centered / sigma * gamma + beta
""",
        Text(
            "In the forward pass, x − μ is divided by the variance; it must be by its root.",
            "前向计算中，x − μ 除以了方差；应当除以方差的平方根。",
        ),
        Text(
            "Which unit has the variance if x is in metres?",
            "如果 x 的单位是米，方差的单位是什么？",
        ),
    ),
    Mutant(
        "layer-norm.mean-not-subtracted",
        """
def normalized(x, eps):
    centered = x
    sigma = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    return centered / sigma, sigma
""",
        Text(
            "The mean is not subtracted: rows are scaled, but not centred.",
            "没有减去均值：每行只缩放了，没有中心化。",
        ),
        Text(
            "What must the mean of x̂ be?",
            "x̂ 的均值应是多少？",
        ),
    ),
    Mutant(
        "layer-norm.forward-mean-not-subtracted",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x
    sigma = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    return centered / sigma * gamma + beta
""",
        Text(
            "In the forward pass, the mean is not subtracted: rows are scaled, but not centred.",
            "前向计算中，没有减去均值：每行只缩放了，没有中心化。",
        ),
        Text(
            "What must the mean of x̂ be?",
            "x̂ 的均值应是多少？",
        ),
    ),
    Mutant(
        "layer-norm.rms-norm",
        """
def normalized(x, eps):
    centered = x
    sigma = np.sqrt((centered * centered).mean(axis=-1, keepdims=True) + eps)
    return centered / sigma, sigma
""",
        Text(
            "This is RMS norm: the mean is neither subtracted nor taken out of the variance.",
            "这是 RMS 归一化：既没有减去均值，求方差时也没有减去均值。",
        ),
        Text(
            "What must the mean of x̂ be?",
            "x̂ 的均值应是多少？",
        ),
    ),
    Mutant(
        "layer-norm.forward-rms-norm",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x
    sigma = np.sqrt((centered * centered).mean(axis=-1, keepdims=True) + eps)
    return centered / sigma * gamma + beta
""",
        Text(
            "In the forward pass, this is RMS norm: the mean is neither subtracted nor taken "
            "out of the variance.",
            "前向计算中，这是 RMS 归一化：既没有减去均值，求方差时也没有减去均值。",
        ),
        Text(
            "What must the mean of x̂ be?",
            "x̂ 的均值应是多少？",
        ),
    ),
    Mutant(
        "layer-norm.only-centered",
        """
def normalized(x, eps):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.ones_like(centered)
    return centered / sigma, sigma
""",
        Text(
            "Rows are centred, but not divided by σ.",
            "每行只减去了均值，没有除以 σ。",
        ),
        Text(
            "What must the variance of x̂ be?",
            "x̂ 的方差应是多少？",
        ),
    ),
    Mutant(
        "layer-norm.forward-only-centered",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.ones_like(centered)
    return centered / sigma * gamma + beta
""",
        Text(
            "In the forward pass, rows are centred, but not divided by σ.",
            "前向计算中，每行只减去了均值，没有除以 σ。",
        ),
        Text(
            "What must the variance of x̂ be?",
            "x̂ 的方差应是多少？",
        ),
    ),
    Mutant(
        "layer-norm.batch-norm",
        """
def normalized(x, eps):
    centered = x - x.mean(axis=0, keepdims=True)
    sigma = np.sqrt((centered * centered).mean(axis=0, keepdims=True) + eps)
    return centered / sigma, sigma
""",
        Text(
            "Mean and variance are taken over the first axis, across the rows: that is batch norm.",
            "均值和方差是沿第一个轴、跨各行求的：那是批归一化。",
        ),
        Text(
            "Layer norm looks at each row alone.",
            "层归一化只看每一行自己。",
        ),
    ),
    Mutant(
        "layer-norm.forward-batch-norm",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=0, keepdims=True)
    sigma = np.sqrt((centered * centered).mean(axis=0, keepdims=True) + eps)
    return centered / sigma * gamma + beta
""",
        Text(
            "In the forward pass, mean and variance are taken over the first axis, across the "
            "rows: that is batch norm.",
            "前向计算中，均值和方差是沿第一个轴、跨各行求的：那是批归一化。",
        ),
        Text(
            "Layer norm looks at each row alone.",
            "层归一化只看每一行自己。",
        ),
    ),
    Mutant(
        "layer-norm.over-all-axes",
        """
def normalized(x, eps):
    centered = x - x.mean()
    sigma = np.sqrt((centered * centered).mean() + eps)
    return centered / sigma, sigma
""",
        Text(
            "Mean and variance are taken over the whole array; each row has its own.",
            "均值和方差是对整个数组求的；而每一行各有自己的均值和方差。",
        ),
        Text(
            "Which numbers share a mean, and of what shape is the array of all means?",
            "哪些数共用一个平均？由所有平均组成的数组是什么形状？",
        ),
    ),
    Mutant(
        "layer-norm.forward-over-all-axes",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean()
    sigma = np.sqrt((centered * centered).mean() + eps)
    return centered / sigma * gamma + beta
""",
        Text(
            "In the forward pass, mean and variance are taken over the whole array; each row "
            "has its own.",
            "前向计算中，均值和方差是对整个数组求的；而每一行各有自己的均值和方差。",
        ),
        Text(
            "Which numbers share a mean, and of what shape is the array of all means?",
            "哪些数共用一个平均？由所有平均组成的数组是什么形状？",
        ),
    ),
    Mutant(
        "layer-norm.gamma-not-applied",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    return normalized(x, eps)[0] + beta
""",
        Text(
            "γ is missing in the forward pass.",
            "前向计算中漏了 γ。",
        ),
        Text(
            "What happens to x̂ before it is returned?",
            "返回之前，x̂ 还要经过什么？",
        ),
    ),
    Mutant(
        "layer-norm.beta-not-applied",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    return normalized(x, eps)[0] * gamma
""",
        Text(
            "β is missing in the forward pass.",
            "前向计算中漏了 β。",
        ),
        Text(
            "What happens to x̂ before it is returned?",
            "返回之前，x̂ 还要经过什么？",
        ),
    ),
    Mutant(
        "layer-norm.beta-times-gamma",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    return (normalized(x, eps)[0] + beta) * gamma
""",
        Text(
            "β is multiplied by γ too: it must be added at the very end.",
            "β 也乘了 γ：它应当在最后才加上。",
        ),
        Text(
            "Which of γ and β comes last?",
            "γ 与 β，哪个最后才用到？",
        ),
    ),
    Mutant(
        "layer-norm.gamma-for-beta",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    return normalized(x, eps)[0] * beta + gamma
""",
        Text(
            "γ and β are swapped in the forward pass.",
            "前向计算中 γ 与 β 互换了。",
        ),
        Text(
            "Which of γ and β stretches, and which one shifts?",
            "γ 与 β，哪个负责缩放，哪个负责平移？",
        ),
    ),
    Mutant(
        "layer-norm.cancellation",
        """
def normalized(x, eps):
    mean = x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((x * x).mean(axis=-1, keepdims=True) - mean * mean + eps)
    return (x - mean) / sigma, sigma
""",
        Text(
            "Digits are lost where a row is far from 0, as in mean(x²) − μ².",
            "一行离 0 很远时丢失了有效数字，mean(x²) − μ² 就会这样。",
        ),
        Text(
            "Which of your steps work with the large numbers themselves, and not with x − μ?",
            "你的哪些步骤直接用了那些很大的数，而不是 x − μ？",
        ),
    ),
    Mutant(
        "layer-norm.forward-cancellation",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((x * x).mean(axis=-1, keepdims=True) - mean * mean + eps)
    return (x - mean) / sigma * gamma + beta
""",
        Text(
            "In the forward pass, digits are lost where a row is far from 0, as in mean(x²) − μ².",
            "前向计算中，一行离 0 很远时丢失了有效数字，mean(x²) − μ² 就会这样。",
        ),
        Text(
            "Which of your steps work with the large numbers themselves, and not with x − μ?",
            "你的哪些步骤直接用了那些很大的数，而不是 x − μ？",
        ),
    ),
    Mutant(
        "layer-norm.backward-cancellation",
        """
def lossy(x, eps):
    mean = x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((x * x).mean(axis=-1, keepdims=True) - mean * mean + eps)
    return (x - mean) / sigma, sigma


def gradient_x(g, x, gamma, *, eps):
    unit, sigma = lossy(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - unit * stretch) / sigma


def gradient_gamma(g, x, *, eps):
    return (g * lossy(x, eps)[0]).sum(axis=tuple(range(g.ndim - 1)))
""",
        Text(
            "In the rules, digits are lost where a row is far from 0, as in mean(x²) − μ².",
            "规则中，一行离 0 很远时丢失了有效数字，mean(x²) − μ² 就会这样。",
        ),
        Text(
            "Which of your steps work with the large numbers themselves, and not with x − μ?",
            "你的哪些步骤直接用了那些很大的数，而不是 x − μ？",
        ),
    ),
    Mutant(
        "layer-norm.writes-into-x",
        """
def normalized(x, eps):
    x -= x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return x / sigma, sigma
""",
        Text(
            "x is changed in place: whoever computed it has another one afterwards.",
            "x 被就地修改了：算出它的人，之后手里的值就变了。",
        ),
        Text(
            "x -= ... changes x itself; x = x - ... does not.",
            "x -= ... 会改变 x 本身，x = x - ... 不会。",
        ),
    ),
    Mutant(
        "layer-norm.gradient-of-gamma-averaged",
        """
def gradient_gamma(g, x, *, eps):
    return (g * normalized(x, eps)[0]).mean(axis=tuple(range(g.ndim - 1)))
""",
        Text(
            "∂L/∂γ is averaged over the rows, so it is N times too small: what was broadcast "
            "is summed.",
            "∂L/∂γ 对各行取了平均，因此只有正确值的 1/N：前向时广播的，反向时要求和。",
        ),
        Text(
            "All rows use the same γ; do their contributions add up, or average?",
            "所有行共用同一个 γ；各行的贡献是相加还是平均？",
        ),
    ),
    Mutant(
        "layer-norm.gradient-of-beta-averaged",
        """
def gradient_beta(g):
    return g.mean(axis=tuple(range(g.ndim - 1)))
""",
        Text(
            "∂L/∂β is averaged over the rows, so it is N times too small: what was broadcast "
            "is summed.",
            "∂L/∂β 对各行取了平均，因此只有正确值的 1/N：前向时广播的，反向时要求和。",
        ),
        Text(
            "All rows use the same β; do their contributions add up, or average?",
            "所有行共用同一个 β；各行的贡献是相加还是平均？",
        ),
    ),
    Mutant(
        "layer-norm.mean-without-keepdims",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=-1)
    return centered / np.sqrt(x.var(axis=-1, keepdims=True) + eps) * gamma + beta
""",
        Text(
            "The mean has lost its axis, so it does not line up with the rows, or lines up with "
            "the wrong axis.",
            "均值丢掉了所沿的轴，于是与各行对不上，或者对到了另一个轴。",
        ),
        Text(
            "Of what shape must the means be, so that each row meets its own?",
            "均值应当是什么形状，才能让每一行减去自己的那个？",
        ),
    ),
    Mutant(
        "layer-norm.sigma-without-keepdims",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    return centered / np.sqrt(x.var(axis=-1) + eps) * gamma + beta
""",
        Text(
            "σ has lost its axis, so it does not line up with the rows, or lines up with the "
            "wrong axis.",
            "σ 丢掉了所沿的轴，于是与各行对不上，或者对到了另一个轴。",
        ),
        Text(
            "Of what shape must σ be, so that each row is divided by its own?",
            "σ 应当是什么形状，才能让每一行除以自己的那个？",
        ),
    ),
    Mutant(
        "layer-norm.backward-without-keepdims",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    return (h - h.mean(axis=-1) - unit * (h * unit).mean(axis=-1)) / sigma
""",
        Text(
            "The means in ∂L/∂x have lost their axis, so they do not line up with the rows, or "
            "line up with the wrong axis.",
            "∂L/∂x 中的平均丢掉了所沿的轴，于是与各行对不上，或者对到了另一个轴。",
        ),
        Text(
            "Of what shape must they be, so that each row meets its own?",
            "它们应当是什么形状，才能让每一行对上自己的那个？",
        ),
    ),
    Mutant(
        "layer-norm.forward-sum-for-mean",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centered * centered).sum(axis=-1, keepdims=True) + eps)
    return centered / sigma * gamma + beta
""",
        Text(
            "The squares are summed and not averaged: σ is √n times too large.",
            "平方只求了和，没有取平均：σ 是正确值的 √n 倍。",
        ),
        Text(
            "What stands in front of the sum in the variance?",
            "方差的求和号前面还有什么？",
        ),
    ),
    Mutant(
        "layer-norm.gamma-missing-in-mean-term",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = g.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return (h - shift - unit * stretch) / sigma
""",
        Text(
            "The first mean in ∂L/∂x is that of g, without γ.",
            "∂L/∂x 的第一个平均是对 g 取的，漏了 γ。",
        ),
        Text(
            "What arrives at x̂: g, or something else?",
            "到达 x̂ 的是 g，还是别的？",
        ),
    ),
    Mutant(
        "layer-norm.gamma-missing-in-variance-term",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (g * unit).mean(axis=-1, keepdims=True)
    return (h - shift - unit * stretch) / sigma
""",
        Text(
            "The second mean in ∂L/∂x is that of g ⊙ x̂, without γ.",
            "∂L/∂x 的第二个平均是对 g ⊙ x̂ 取的，漏了 γ。",
        ),
        Text(
            "What arrives at x̂: g, or something else?",
            "到达 x̂ 的是 g，还是别的？",
        ),
    ),
    Mutant(
        "layer-norm.x-for-unit",
        """
def gradient_x(g, x, gamma, *, eps):
    _, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * x).mean(axis=-1, keepdims=True)
    return (h - shift - x * stretch) / sigma
""",
        Text(
            "The variance term of ∂L/∂x is made of x itself; it must be of x̂.",
            "∂L/∂x 中方差那一项用了 x 本身；应当用 x̂。",
        ),
        Text(
            "Add 1000 to the whole row: does the right gradient change?",
            "整行加上 1000，正确的梯度会变吗？",
        ),
    ),
    Mutant(
        "layer-norm.result-for-unit",
        """
def gradient_x(g, x, gamma, out, *, eps):
    _, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * out).mean(axis=-1, keepdims=True)
    return (h - shift - out * stretch) / sigma
""",
        Text(
            "The variance term of ∂L/∂x is made of the result, in which γ and β are already; it "
            "must be of x̂.",
            "∂L/∂x 中方差那一项用了输出，其中已经含有 γ 和 β；应当用 x̂。",
        ),
        Text(
            "Which of out and x̂ has mean 0 and variance 1?",
            "out 与 x̂ 中，哪个均值为 0、方差为 1？",
        ),
    ),
    Mutant(
        "layer-norm.sigma-on-one-term",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    stretch = (h * unit).mean(axis=-1, keepdims=True)
    return h / sigma - shift - unit * stretch
""",
        Text(
            "Only the first term of ∂L/∂x is divided by σ: brackets are missing.",
            "∂L/∂x 中只有第一项除以了 σ：漏了括号。",
        ),
        Text(
            "Add up a row of your gradient: it must be 0.",
            "把你的梯度按行相加：结果应为 0。",
        ),
    ),
    Mutant(
        "layer-norm.gamma-not-summed",
        """
def gradient_gamma(g, x, *, eps):
    return g * normalized(x, eps)[0]
""",
        Text(
            "∂L/∂γ has the shape of x: it is not summed over the rows that share γ.",
            "∂L/∂γ 的形状与 x 相同：没有对共用 γ 的各行求和。",
        ),
        Text(
            "How many numbers does γ have, and how often is each of them used?",
            "γ 有几个数？每个数用了几次？",
        ),
    ),
    Mutant(
        "layer-norm.beta-not-summed",
        """
def gradient_beta(g):
    return g
""",
        Text(
            "∂L/∂β has the shape of x: it is not summed over the rows that share β.",
            "∂L/∂β 的形状与 x 相同：没有对共用 β 的各行求和。",
        ),
        Text(
            "How many numbers does β have, and how often is each of them used?",
            "β 有几个数？每个数用了几次？",
        ),
    ),
    Mutant(
        "layer-norm.gamma-summed-along-rows",
        """
def gradient_gamma(g, x, *, eps):
    return (g * normalized(x, eps)[0]).sum(axis=-1)
""",
        Text(
            "∂L/∂γ is summed along each row; γ has an entry for each place in the row, and all "
            "rows share it.",
            "∂L/∂γ 沿每一行求了和；而 γ 在一行的每个位置各有一个元素，由所有行共用。",
        ),
        Text(
            "Along which axes was γ broadcast?",
            "γ 是沿哪些轴广播的？",
        ),
    ),
    Mutant(
        "layer-norm.beta-summed-along-rows",
        """
def gradient_beta(g):
    return g.sum(axis=-1)
""",
        Text(
            "∂L/∂β is summed along each row; β has an entry for each place in the row, and all "
            "rows share it.",
            "∂L/∂β 沿每一行求了和；而 β 在一行的每个位置各有一个元素，由所有行共用。",
        ),
        Text(
            "Along which axes was β broadcast?",
            "β 是沿哪些轴广播的？",
        ),
    ),
    Mutant(
        "layer-norm.gradient-of-gamma-times-gamma",
        """
def gradient_gamma(g, x, gamma, *, eps):
    return (g * gamma * normalized(x, eps)[0]).sum(axis=tuple(range(g.ndim - 1)))
""",
        Text(
            "∂L/∂γ has γ itself as a factor: the slope of γ x̂ along γ is x̂ alone.",
            "∂L/∂γ 中多乘了 γ 本身：γ x̂ 对 γ 的斜率只是 x̂。",
        ),
        Text(
            "If γ grows by 1, by how much does γ x̂ grow?",
            "γ 增加 1，γ x̂ 增加多少？",
        ),
    ),
    Mutant(
        "layer-norm.neither-with-keepdims",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    return (x - x.mean(axis=-1)) / np.sqrt(x.var(axis=-1) + eps) * gamma + beta
""",
        Text(
            "Mean and σ have lost their axis, so they do not line up with the rows, or line up "
            "with the wrong axis.",
            "均值和 σ 都丢掉了所沿的轴，于是与各行对不上，或者对到了另一个轴。",
        ),
        Text(
            "Of what shape must they be, so that each row meets its own?",
            "它们应当是什么形状，才能让每一行对上自己的那个？",
        ),
    ),
    Mutant(
        "layer-norm.mean-without-keepdims-twice",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=-1)
    sigma = np.sqrt((centered * centered).mean(axis=-1, keepdims=True) + eps)
    return centered / sigma * gamma + beta
""",
        Text(
            "The mean has lost its axis, so it does not line up with the rows, or lines up with "
            "the wrong axis; the variance is made of that difference, too.",
            "均值丢掉了所沿的轴，于是与各行对不上，或者对到了另一个轴；方差也是由这个差算出的。",
        ),
        Text(
            "Of what shape must the means be, so that each row meets its own?",
            "均值应当是什么形状，才能让每一行减去自己的那个？",
        ),
    ),
    Mutant(
        "layer-norm.no-keepdims-at-all",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    centered = x - x.mean(axis=-1)
    return centered / np.sqrt((centered * centered).mean(axis=-1) + eps) * gamma + beta
""",
        Text(
            "Mean and σ have lost their axis, so they do not line up with the rows, or line up "
            "with the wrong axis.",
            "均值和 σ 都丢掉了所沿的轴，于是与各行对不上，或者对到了另一个轴。",
        ),
        Text(
            "Of what shape must they be, so that each row meets its own?",
            "它们应当是什么形状，才能让每一行对上自己的那个？",
        ),
    ),
    Mutant(
        "layer-norm.inverse-sigma-without-keepdims",
        """
def layer_norm(x, gamma, beta, *, eps=1e-5):
    inverse = 1 / np.sqrt(x.var(axis=-1) + eps)
    return (x - x.mean(axis=-1, keepdims=True)) * inverse * gamma + beta
""",
        Text(
            "1 / σ has lost its axis, so it does not line up with the rows, or lines up with the "
            "wrong axis.",
            "1 / σ 丢掉了所沿的轴，于是与各行对不上，或者对到了另一个轴。",
        ),
        Text(
            "Of what shape must it be, so that each row meets its own?",
            "它应当是什么形状，才能让每一行对上自己的那个？",
        ),
    ),
    Mutant(
        "layer-norm.other-default",
        """
def layer_norm(x, gamma, beta, *, eps=1e-6):
    return normalized(x, eps)[0] * gamma + beta
""",
        Text(
            "Where the caller gives no eps, 1e−6 is used; the page asks for 1e−5.",
            "调用者没有给出 eps 时用了 1e−6；题目要求的是 1e−5。",
        ),
        Text(
            "Which default does the page give eps?",
            "题目中 eps 的默认值是多少？",
        ),
    ),
    Mutant(
        "layer-norm.gamma-summed-over-the-first-axis",
        """
def gradient_gamma(g, x, *, eps):
    return (g * normalized(x, eps)[0]).sum(axis=0)
""",
        Text(
            "∂L/∂γ is summed over the first axis only; with three axes, two are in front.",
            "∂L/∂γ 只沿第一个轴求和；x 有三个轴时，前面有两个轴。",
        ),
        Text(
            "Along which axes of x is γ repeated?",
            "γ 沿 x 的哪些轴重复？",
        ),
    ),
    Mutant(
        "layer-norm.beta-summed-over-the-first-axis",
        """
def gradient_beta(g):
    return g.sum(axis=0)
""",
        Text(
            "∂L/∂β is summed over the first axis only; with three axes, two are in front.",
            "∂L/∂β 只沿第一个轴求和；x 有三个轴时，前面有两个轴。",
        ),
        Text(
            "Along which axes of x is β repeated?",
            "β 沿 x 的哪些轴重复？",
        ),
    ),
    Mutant(
        "layer-norm.beta-summed-over-all",
        """
def gradient_beta(g):
    return g.sum()
""",
        Text(
            "∂L/∂β is the sum of all of g; β has an entry for each place in a row.",
            "∂L/∂β 是 g 全部元素之和；而 β 在一行的每个位置各有一个元素。",
        ),
        Text(
            "Which entries of g does one entry of β meet?",
            "β 的一个元素会遇到 g 的哪些元素？",
        ),
    ),
    Mutant(
        "layer-norm.x-for-unit-outside",
        """
def gradient_x(g, x, gamma, *, eps):
    unit, sigma = normalized(x, eps)
    h = g * gamma
    shift = h.mean(axis=-1, keepdims=True)
    return (h - shift - x * (h * unit).mean(axis=-1, keepdims=True)) / sigma
""",
        Text(
            "In the variance term of ∂L/∂x the mean is multiplied by x; it must be by x̂.",
            "∂L/∂x 的方差项中，平均之外乘的是 x；应当乘 x̂。",
        ),
        Text(
            "By what is a row multiplied as σ changes: by x, or by what comes out of it?",
            "σ 改变时，被缩放的是 x 本身，还是归一化后的那一行？",
        ),
    ),
]
