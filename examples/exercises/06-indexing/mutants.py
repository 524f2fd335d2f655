"""The classic mistakes of exercise 6."""

from minigrad.coursework import Mutant, Text

HEAD = "def embedding_gradient(g, weight_shape, *, indices):"
LOOP = f"""{HEAD}
    total = np.zeros(weight_shape)
    rows = g.reshape(-1, *weight_shape[1:])
    for position, index in enumerate(indices.ravel()):"""

MUTANTS = [
    Mutant(
        "indexing.last-repeat",
        f"""{HEAD}
    total = np.zeros(weight_shape)
    total[indices] += g
    return total
""",
        Text(
            "A row that is taken several times gets only the gradient of the last time: later ones "
            "overwrite earlier ones, also in total[indices] += g, which reads all rows first and "
            "writes them then.",
            "多次取到的行只得到最后一次的梯度：后写的覆盖了先写的；total[indices] += g 也是这样，"
            "它先读出所有行，再一并写回。",
        ),
        Text(
            "Does NumPy have a way to add as often as an index is named? Or what would a loop do?",
            "NumPy 有没有办法让下标出现几次就加几次？用循环又该怎么写？",
        ),
    ),
    Mutant(
        "indexing.first-repeat",
        f"""{LOOP}
        if not total[index].any():
            total[index] = rows[position]
    return total
""",
        Text(
            "A row that is taken several times gets only the gradient of the first time.",
            "多次取到的行只得到第一次的梯度。",
        ),
        Text("Every time a row is used it contributes.", "一行每被用一次，就有一份贡献。"),
    ),
    Mutant(
        "indexing.averaged",
        f"""{HEAD}
    total, count = np.zeros(weight_shape), np.zeros(weight_shape)
    np.add.at(total, indices, g)
    np.add.at(count, indices, 1.0)
    return total / np.maximum(count, 1)
""",
        Text(
            "The gradients of a row that is taken several times are averaged; they must be summed.",
            "多次取到的行，各份梯度被取了平均；应当求和。",
        ),
        Text(
            "A row that is used twice moves L twice. By what would you divide, and why?",
            "一行用了两次，对 L 的影响就有两份。为什么要除呢？",
        ),
    ),
    Mutant(
        "indexing.divided",
        f"""{HEAD}
    total = np.zeros(weight_shape)
    np.add.at(total, indices, g)
    return total / max(np.size(indices), 1)
""",
        Text(
            "The gradient is divided by the number of indices: taking rows is no mean over them.",
            "梯度被除以下标的个数：取出若干行并不是对它们取平均。",
        ),
        Text(
            "If a loss averages, its own rule divides; g has that factor already.",
            "如果损失取了平均，除法由它自己的规则完成，g 中已经有这个因子。",
        ),
    ),
    Mutant(
        "indexing.count-times-last",
        f"""{HEAD}
    total, count = np.zeros(weight_shape), np.zeros(weight_shape)
    total[indices] = g
    np.add.at(count, indices, 1.0)
    return total * count
""",
        Text(
            "The last gradient of a row is multiplied by how often the row was taken; each time "
            "has a "
            "gradient of its own.",
            "用该行最后一次的梯度乘以取到的次数；而每一次都有自己的梯度。",
        ),
        Text(
            "Add up those entries of g that belong to the row.", "把 g 中属于这一行的各份加起来。"
        ),
    ),
    Mutant(
        "indexing.counted",
        f"""{HEAD}
    total = np.zeros(weight_shape)
    np.add.at(total, indices, 1.0)
    return total
""",
        Text(
            "This counts how often each row was taken; the upstream gradient is not used.",
            "这只是数出每行取了几次，没有用到上游梯度。",
        ),
        Text(
            "What is added each time a row is taken: 1, or something that came from above?",
            "每取一次，应当加上 1，还是加上从上游传来的什么？",
        ),
    ),
    Mutant(
        "indexing.shape-of-the-lookup",
        f"""{HEAD}
    return 1.0 * g
""",
        Text(
            "Your gradient has the shape of the rows that were taken, and not that of the table.",
            "梯度的形状是所取各行的形状，而不是整张表的形状。",
        ),
        Text(
            "How many rows must the gradient at weight have?",
            "weight 的梯度应当有几行？",
        ),
    ),
    Mutant(
        "indexing.only-rows-taken",
        f"""{HEAD}
    rows = np.unique(np.asarray(indices) % weight_shape[0])
    total = np.zeros(weight_shape)
    np.add.at(total, indices, g)
    return total[rows]
""",
        Text(
            "The gradient has rows only for what was taken; rows that nobody takes must be there, "
            "as 0.",
            "梯度只包含取到的行；没取到的行也要在，值为 0。",
        ),
        Text(
            "How many rows must the gradient at weight have?",
            "weight 的梯度应当有几行？",
        ),
    ),
    Mutant(
        "indexing.negative-lost",
        f"""{HEAD}
    rows = np.arange(weight_shape[0])
    named = (np.asarray(indices).reshape(-1, 1) == rows).astype(float)
    return (named.T @ g.reshape(len(named), int(np.prod(weight_shape[1:])))).reshape(weight_shape)
""",
        Text(
            "Negative indices get lost: −1 is compared with 0, …, n − 1 and fits none of them.",
            "负下标丢了：−1 与 0, …, n − 1 比较，一个也不相等。",
        ),
        Text(
            "−1 names the last row. What does % n make of it?",
            "−1 指最后一行。对它做 % n 会得到什么？",
        ),
    ),
    Mutant(
        "indexing.negative-as-positive",
        f"""{HEAD}
    total = np.zeros(weight_shape)
    np.add.at(total, np.abs(indices), g)
    return total
""",
        Text(
            "A negative index is taken without its sign: −1 is the last row, and not row 1.",
            "负下标被去掉了符号：−1 是最后一行，而不是第 1 行。",
        ),
        Text("Which row does weight[-1] give?", "weight[-1] 给出哪一行？"),
    ),
    Mutant(
        "indexing.negative-to-the-first",
        f"""{HEAD}
    total = np.zeros(weight_shape)
    np.add.at(total, np.maximum(indices, 0), g)
    return total
""",
        Text(
            "What belongs to negative indices goes to row 0; they count from the end.",
            "负下标的贡献都进了第 0 行；负下标应从末尾数起。",
        ),
        Text("Which row does weight[-1] give?", "weight[-1] 给出哪一行？"),
    ),
    Mutant(
        "indexing.only-the-first-line",
        f"""{HEAD}
    total = np.zeros(weight_shape)
    if indices.ndim > 1:
        indices, g = indices[0], g[0]
    np.add.at(total, indices, g)
    return total
""",
        Text(
            "Of indices with several axes only indices[0] contributes.",
            "下标有多个轴时，只有 indices[0] 有贡献。",
        ),
        Text(
            "How can indices of any shape be made into one row of numbers, and g to fit them?",
            "怎样把任意形状的下标变成一串数，并让 g 与之对应？",
        ),
    ),
    Mutant(
        "indexing.lines-overwrite",
        f"""{HEAD}
    lines = indices.reshape(-1, indices.shape[-1] if indices.ndim else 1)
    rows = g.reshape(*lines.shape, *weight_shape[1:])
    total = np.zeros(weight_shape)
    for line, row in zip(lines, rows):
        once = np.zeros(weight_shape)
        np.add.at(once, line, row)
        total[line] = once[line]
    return total
""",
        Text(
            "Repeats within one line of the indices add up, but a later line overwrites an earlier "
            "one.",
            "同一行下标之内的重复会相加，但后一行覆盖了前一行。",
        ),
        Text(
            "It makes no difference on which line of the indices a row is named again.",
            "一行在下标的哪一行再次出现，没有任何区别。",
        ),
    ),
    Mutant(
        "indexing.order-of-two-axes",
        f"""{HEAD}
    total = np.zeros(weight_shape)
    np.add.at(total, indices.T.ravel(), g.reshape(indices.size, *weight_shape[1:]))
    return total
""",
        Text(
            "Indices and g are flattened in different orders, so that rows get each other's "
            "gradients.",
            "下标和 g 展平的顺序不同，各行拿到了别人的梯度。",
        ),
        Text(
            "In which order does ravel go through indices, and in which through g?",
            "ravel 按什么次序走过下标？又按什么次序走过 g？",
        ),
    ),
    Mutant(
        "indexing.repeats-sorted",
        f"""{HEAD}
    total = np.zeros(weight_shape)
    order = np.sort(np.asarray(indices).ravel())
    np.add.at(total, order, g.reshape(indices.size, *weight_shape[1:]))
    return total
""",
        Text(
            "The indices are sorted and g is not: the rows get each other's gradients.",
            "下标排了序而 g 没有：各行拿到了别人的梯度。",
        ),
        Text(
            "Sorting is not needed; if you do, g must follow in the same order (argsort).",
            "不需要排序；如果要排，g 也要按同样的顺序排（argsort）。",
        ),
    ),
    Mutant(
        "indexing.not-from-zero",
        f"""{HEAD}
    total = np.ones(weight_shape)
    np.add.at(total, indices, g)
    return total
""",
        Text(
            "The sum does not start from 0, so that rows that nobody takes have a gradient.",
            "求和不是从 0 开始的，于是没取到的行也有了梯度。",
        ),
        Text(
            "Which gradient has a row that L does not depend on?", "L 不依赖的那一行，梯度是多少？"
        ),
    ),
    Mutant(
        "indexing.spread-over-all",
        f"""{HEAD}
    axes = tuple(range(np.ndim(indices)))
    return np.zeros(weight_shape) + g.sum(axis=axes)
""",
        Text(
            "Every row gets the sum of g; it is only for the rows that were taken.",
            "每一行都得到了 g 的总和；只有取到的行才该得到各自的那份。",
        ),
        Text("Which rows does g at position 0 come from?", "位置 0 的 g 来自哪一行？"),
    ),
    Mutant(
        "indexing.whole-numbers",
        f"""{HEAD}
    total = np.zeros(weight_shape, dtype=int)
    np.add.at(total, indices, g)
    return total
""",
        Text(
            "The zeros that you add to are integers, so that everything after the point is lost.",
            "用来累加的零数组是整数，小数部分全都丢了。",
        ),
        Text(
            "Which dtype has your array of zeros? A gradient has that of g.",
            "你的零数组是什么 dtype？梯度的 dtype 与 g 相同。",
        ),
    ),
    Mutant(
        "indexing.upstream-changed",
        f"""{HEAD}
    total = np.zeros(weight_shape)
    np.add.at(total, indices, g)
    g *= 0.0
    return total
""",
        Text(
            "The rule writes into the upstream gradient, which is not its own.",
            "规则改写了上游梯度，而它不属于这条规则。",
        ),
        Text(
            "Look for *=, += and out= on g: write to your own array of zeros.",
            "检查对 g 的 *=、+= 和 out=：应写到你自己的零数组里。",
        ),
    ),
    Mutant(
        "indexing.indices-changed",
        f"""{HEAD}
    indices %= weight_shape[0]
    total = np.zeros(weight_shape)
    np.add.at(total, indices, g)
    return total
""",
        Text(
            "The rule writes into indices: the negative ones are positive afterwards.",
            "规则就地改写了 indices：其中的负下标之后变成了正的。",
        ),
        Text(
            "Which of x %= n and x = x % n changes the array itself?",
            "x %= n 与 x = x % n，哪个会改变数组本身？",
        ),
    ),
    Mutant(
        "indexing.forward-indices-changed",
        """
def embedding(weight, indices):
    indices[indices < 0] += len(weight)
    return weight[indices]
""",
        Text(
            "embedding writes into indices: the negative ones are positive afterwards.",
            "embedding 就地改写了 indices：其中的负下标之后变成了正的。",
        ),
        Text(
            "Does weight[-1] need any help, and which function of NumPy makes a new array?",
            "weight[-1] 需要先换算下标吗？NumPy 的哪个函数会生成新数组？",
        ),
    ),
    Mutant(
        "indexing.flat-table",
        """
def embedding(weight, indices):
    return np.take(weight, indices)
""",
        Text(
            "Without an axis np.take numbers the entries of the whole table, and not its rows.",
            "不指定轴时，np.take 是给整张表的元素编号，而不是给行编号。",
        ),
        Text(
            "How is a row of an array written?",
            "怎样写出数组的一行？",
        ),
    ),
    Mutant(
        "indexing.columns",
        """
def embedding(weight, indices):
    return weight[:, indices]
""",
        Text(
            "These are columns of the table: an index names a row.",
            "这样取出的是表的列：下标指的应当是行。",
        ),
        Text(
            "Which axis of weight are the words?",
            "weight 的哪个轴对应词？",
        ),
    ),
    Mutant(
        "indexing.zeros-of-the-lookup",
        """
def embedding_gradient(g, weight_shape, *, indices):
    total = np.zeros_like(g)
    np.add.at(total, indices, g)
    return total
""",
        Text(
            "The array of zeros has the shape of g, and not that of the table: there are not "
            "enough rows in it.",
            "零数组的形状与 g 相同，而不是与表相同：行数不对。",
        ),
        Text(
            "Which parameter of the rule tells how many rows the table has?",
            "规则的哪个参数说明了表有几行？",
        ),
    ),
    Mutant(
        "indexing.only-indices-flattened",
        """
def embedding_gradient(g, weight_shape, *, indices):
    total = np.zeros(weight_shape)
    np.add.at(total, indices.ravel(), g)
    return total
""",
        Text(
            "indices are flattened and g is not: with two axes of indices they no longer fit "
            "each other.",
            "下标展平了而 g 没有：下标有两个轴时，两者就对不上了。",
        ),
        Text(
            "Which axes of g belong to indices?",
            "g 的哪些轴与下标对应？",
        ),
    ),
    Mutant(
        "indexing.one-hot-not-flattened",
        """
def embedding_gradient(g, weight_shape, *, indices):
    return np.eye(weight_shape[0])[indices].T @ g
""",
        Text(
            "The product with one-hot rows holds for a single axis of indices: with two the axes "
            "no longer fit.",
            "独热矩阵的乘积只适用于一个轴的下标：有两个轴时就对不上了。",
        ),
        Text(
            "What is the shape of np.eye(n)[indices] if indices are (2, 4)?",
            "下标的形状为 (2, 4) 时，np.eye(n)[indices] 是什么形状？",
        ),
    ),
    Mutant(
        "indexing.loop-over-first-axis",
        """
def embedding_gradient(g, weight_shape, *, indices):
    total = np.zeros(weight_shape)
    for index, row in zip(indices, g):
        total[index] += row
    return total
""",
        Text(
            "The loop takes indices along their first axis: a single index, of shape (), has "
            "none, and with two axes a whole line comes at once.",
            "循环只沿下标的第一个轴进行：形状为 () 的单个下标没有轴，而有两个轴时一次来的是一整行"
            "下标。",
        ),
        Text(
            "How can indices of any shape be made into one row of numbers, and g to fit them?",
            "怎样把任意形状的下标变成一串数，并让 g 与之对应？",
        ),
    ),
    Mutant(
        "indexing.negative-apart",
        """
def embedding_gradient(g, weight_shape, *, indices):
    total = np.zeros(weight_shape)
    for row in np.unique(indices):
        total[row] = g[indices == row].sum(axis=0)
    return total
""",
        Text(
            "−1 and n − 1 name the same row, but are treated as two: the second overwrites the "
            "first.",
            "−1 与 n − 1 指的是同一行，却被当成了两行：后写的覆盖了先写的。",
        ),
        Text(
            "Which row does weight[-1] give, and what stands in total[row] by then?",
            "weight[-1] 是哪一行？那时 total[row] 里已经有什么？",
        ),
    ),
]
