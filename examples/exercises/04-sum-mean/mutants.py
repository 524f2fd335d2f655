"""The classic mistakes of exercise 4."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    Mutant(
        "sum.axis-ignored",
        """
def sum_over(x, axis=None, *, keepdims=False):
    return x.sum(keepdims=keepdims)
""",
        Text(
            "sum_over adds up everything whatever axis says.",
            "不论 axis 是什么，sum_over 都把所有元素加了起来。",
        ),
        Text(
            "What is the parameter axis for?",
            "参数 axis 是做什么用的？",
        ),
    ),
    Mutant(
        "sum.keepdims-ignored",
        """
def sum_over(x, axis=None, *, keepdims=False):
    return x.sum(axis=axis)
""",
        Text(
            "sum_over takes the summed axes away also with keepdims=True.",
            "keepdims=True 时，sum_over 仍去掉了求和的轴。",
        ),
        Text(
            "What is the parameter keepdims for?",
            "参数 keepdims 是做什么用的？",
        ),
    ),
    Mutant(
        "sum.upstream-ignored",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    return np.ones(x_shape)
""",
        Text(
            "sum_gradient is 1 everywhere: that is the slope of a sum, still to be multiplied by "
            "g.",
            "sum_gradient 处处为 1：这只是求和的斜率，还要乘以 g。",
        ),
        Text(
            "Double g: what must happen to ∂L/∂x?",
            "g 加倍时，∂L/∂x 应当怎样变化？",
        ),
    ),
    Mutant(
        "sum.not-spread",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    return g * 1.0
""",
        Text(
            "sum_gradient returns g as it came, of the shape of the result: every entry that was "
            "summed needs its copy.",
            "sum_gradient 原样返回了 g，形状与结果相同：参与求和的每个元素都应得到一份。",
        ),
        Text(
            "∂L/∂x has the shape of x. What must happen along the summed axis?",
            "∂L/∂x 与 x 形状相同。沿求和的轴应当怎么做？",
        ),
    ),
    Mutant(
        "sum.axis-of-one",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    return np.reshape(g, with_ones(x_shape, axis))
""",
        Text(
            "The summed axes are back in ∂L/∂x, but with length 1: g must be repeated along them.",
            "求和的轴回到了 ∂L/∂x 中，但长度是 1：还要把 g 沿它们重复。",
        ),
        Text(
            "The last step has the whole shape of x as its aim.",
            "最后一步要得到 x 的完整形状。",
        ),
    ),
    Mutant(
        "sum.divided",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    n = math.prod(x_shape) // math.prod(with_ones(x_shape, axis))
    return np.broadcast_to(np.reshape(g / n, with_ones(x_shape, axis)), x_shape)
""",
        Text(
            "Your gradient of the sum is 1/n of the right one: n entries are summed, and each gets "
            "all of g; only a mean divides.",
            "求和的梯度是正确值的 1/n：n 个元素相加，每个都得到完整的 g；只有求平均才要除。",
        ),
        Text(
            "If one of the entries grows by 1, by how much does the sum grow?",
            "其中一个元素增加 1，和增加多少？",
        ),
    ),
    Mutant(
        "sum.times-n",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    n = math.prod(x_shape) // math.prod(with_ones(x_shape, axis))
    return np.broadcast_to(np.reshape(g * n, with_ones(x_shape, axis)), x_shape)
""",
        Text(
            "Your gradient of the sum is n times the right one: each of the n entries gets g once.",
            "求和的梯度是正确值的 n 倍：n 个元素各得到一次 g。",
        ),
        Text(
            "If one of the entries grows by 1, by how much does the sum grow?",
            "其中一个元素增加 1，和增加多少？",
        ),
    ),
    Mutant(
        "sum.divided-by-size",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    shared = g / math.prod(x_shape)
    return np.broadcast_to(np.reshape(shared, with_ones(x_shape, axis)), x_shape)
""",
        Text(
            "Your gradient of the sum is divided by the size of x: nothing in a sum divides.",
            "求和的梯度除以了 x 的元素个数：求和中没有除法。",
        ),
        Text(
            "If one of the entries grows by 1, by how much does the sum grow?",
            "其中一个元素增加 1，和增加多少？",
        ),
    ),
    Mutant(
        "sum.upstream-summed",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    return np.full(x_shape, np.sum(g))
""",
        Text(
            "sum_gradient adds g up and gives the total to every entry: an entry only gets the g "
            "of the sum that it was part of.",
            "sum_gradient 把 g 加起来，再把总和给了每个元素：元素只应得到它所在的那个和的 g。",
        ),
        Text(
            "Which entries of out does x[0, 0] go into?",
            "x[0, 0] 参与了 out 中的哪些元素？",
        ),
    ),
    Mutant(
        "sum.wrong-axis",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    return np.ones(x_shape) * g
""",
        Text(
            "The summed axis is not put back in its place: in a square the gradients go to the "
            "wrong axis.",
            "求和的轴没有补回原来的位置：方阵的梯度跑到了另一个轴上。",
        ),
        Text(
            "Line up the shapes of g and of x from the right: which axis of x does g meet?",
            "把 g 与 x 的形状从右边对齐：g 对上了 x 的哪个轴？",
        ),
    ),
    Mutant(
        "sum.last-axis",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    if axis is None or keepdims:
        return np.ones(x_shape) * g
    return np.ones(x_shape) * np.expand_dims(g, -1)
""",
        Text(
            "The axis is put back at the end whichever was summed.",
            "不论对哪个轴求和，都把轴补在了最后。",
        ),
        Text(
            "axis tells where the axis of length 1 belongs.",
            "axis 说明了长度为 1 的轴应补在哪里。",
        ),
    ),
    Mutant(
        "sum.in-memory-order",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    return np.resize(g, x_shape)
""",
        Text(
            "g is repeated in the order of memory until x is full: that fits axis 0 alone.",
            "g 按内存次序重复，直到填满 x：这只对轴 0 是对的。",
        ),
        Text(
            "Which entry of g belongs to x[0, 1] if axis 1 was summed?",
            "对轴 1 求和时，x[0, 1] 对应 g 的哪个元素？",
        ),
    ),
    Mutant(
        "sum.negative-axis",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    if axis is None or keepdims or isinstance(axis, tuple):
        return np.broadcast_to(np.reshape(g, with_ones(x_shape, axis)), x_shape)
    shape = list(g.shape)
    shape.insert(axis, 1)
    return np.broadcast_to(g.reshape(shape), x_shape)
""",
        Text(
            "A negative axis is put back one place too early: list.insert(-1, …) inserts before "
            "the last entry, not after it.",
            "负的轴补早了一位：list.insert(-1, …) 插在最后一个元素之前，而不是之后。",
        ),
        Text(
            "Which number from 0 has the axis −1 of an x with three axes?",
            "x 有三个轴时，轴 −1 从 0 数起是第几个？",
        ),
    ),
    Mutant(
        "sum.negative-axis-of-result",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    if axis is None or keepdims or isinstance(axis, tuple):
        return np.broadcast_to(np.reshape(g, with_ones(x_shape, axis)), x_shape)
    return np.ones(x_shape) * np.expand_dims(g, axis % g.ndim if axis < 0 else axis)
""",
        Text(
            "A negative axis is counted with the axes of g, but g has one fewer than x.",
            "负的轴是按 g 的轴数换算的，而 g 比 x 少一个轴。",
        ),
        Text(
            "−1 is the last axis of x. Which number is that?", "−1 是 x 的最后一个轴。它是第几个？"
        ),
    ),
    Mutant(
        "sum.expanded-again",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    if axis is None:
        return np.ones(x_shape) * g
    return np.broadcast_to(np.expand_dims(g, axis), x_shape)
""",
        Text(
            "With keepdims=True g still has the summed axis, and gets it a second time.",
            "keepdims=True 时 g 还留着求和的轴，却又补了一次。",
        ),
        Text(
            "Compare the number of axes of g and of x in both cases.",
            "比较两种情况下 g 与 x 的轴数。",
        ),
    ),
    Mutant(
        "sum.order-of-axes",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    if axis is not None and not keepdims:
        for a in axis if isinstance(axis, tuple) else (axis,):
            g = np.expand_dims(g, a if a >= 0 else a + len(x_shape))
    return np.ones(x_shape) * g
""",
        Text(
            "Several axes are put back in the order in which they were given: a later place does "
            "not exist yet, or moves when an earlier one comes in.",
            "多个轴按给出的次序逐个补回：靠后的位置还不存在，或者会被后补的轴挤动。",
        ),
        Text(
            "axis=(2, 0) means the same as (0, 2). Does your function give the same for both?",
            "axis=(2, 0) 与 (0, 2) 意思相同。你的函数对两者给出相同的结果吗？",
        ),
    ),
    Mutant(
        "mean.axis-ignored",
        """
def mean_over(x, axis=None, *, keepdims=False):
    return x.mean(keepdims=keepdims)
""",
        Text(
            "mean_over averages everything whatever axis says.",
            "不论 axis 是什么，mean_over 都对所有元素取了平均。",
        ),
        Text(
            "What is the parameter axis for?",
            "参数 axis 是做什么用的？",
        ),
    ),
    Mutant(
        "mean.forward-by-size",
        """
def mean_over(x, axis=None, *, keepdims=False):
    return x.sum(axis=axis, keepdims=keepdims) / x.size
""",
        Text(
            "mean_over divides by the size of x: only the entries that were summed count.",
            "mean_over 除以了 x 的元素总数：应当除以相加的元素个数。",
        ),
        Text(
            "How many numbers are added up for one entry of the result?",
            "结果的一个元素是由几个数相加得到的？",
        ),
    ),
    Mutant(
        "mean.not-divided",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    return sum_gradient(g, x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "Your gradient of the mean is n times the right one: this is the gradient of the sum, "
            "the 1/n of the mean is missing in backward.",
            "平均的梯度是正确值的 n 倍：这是求和的梯度，反向时漏了平均的 1/n。",
        ),
        Text(
            "A mean is a sum times a constant. What happens to the constant?",
            "平均就是和乘以一个常数。这个常数到哪里去了？",
        ),
    ),
    Mutant(
        "mean.by-size",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    return sum_gradient(g / math.prod(x_shape), x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "The gradient of the mean is divided by the size of x: that is right over all axes, "
            "otherwise only the reduced ones count.",
            "平均的梯度除以了 x 的元素总数：只有对所有轴求平均时才对，否则只算被归约的轴。",
        ),
        Text(
            "How many entries of x make one entry of out?",
            "out 的一个元素由 x 的几个元素得来？",
        ),
    ),
    Mutant(
        "mean.by-size-of-result",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    return sum_gradient(g / np.size(g), x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "The gradient of the mean is divided by the number of results: it must be the number "
            "of entries that each result was made of.",
            "平均的梯度除以了结果的个数：应当除以每个结果由几个元素得来。",
        ),
        Text(
            "The mean over all axes has one result. By what do you divide there?",
            "对所有轴求平均只有一个结果。这时你除以了几？",
        ),
    ),
    Mutant(
        "mean.last-length",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    return sum_gradient(g / x_shape[-1], x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "The gradient of the mean is divided by the length of the last axis, whichever axis "
            "was averaged.",
            "平均的梯度总是除以最后一个轴的长度，不管对哪个轴取平均。",
        ),
        Text("axis tells which lengths count.", "该算哪些长度，要看 axis。"),
    ),
    Mutant(
        "mean.first-length",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    return sum_gradient(g / x_shape[0], x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "The gradient of the mean is divided by the length of axis 0, as len(x) gives it, "
            "whichever axis was averaged.",
            "平均的梯度总是除以轴 0 的长度（即 len(x)），不管对哪个轴取平均。",
        ),
        Text("axis tells which lengths count.", "该算哪些长度，要看 axis。"),
    ),
    Mutant(
        "mean.divided-twice",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    n = math.prod(x_shape) // math.prod(with_ones(x_shape, axis))
    return sum_gradient(g / n / n, x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "Your gradient of the mean is 1/n of the right one: it is divided by n twice.",
            "平均的梯度是正确值的 1/n：除以了两次 n。",
        ),
        Text("Look for two places that divide.", "找一找哪两处做了除法。"),
    ),
    Mutant(
        "mean.times-n",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    n = math.prod(x_shape) // math.prod(with_ones(x_shape, axis))
    return sum_gradient(g * n, x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "Your gradient of the mean is multiplied by n: the slope of a mean along one entry is "
            "1/n, so it must be divided.",
            "平均的梯度乘以了 n：平均对一个元素的斜率是 1/n，应当是除以 n。",
        ),
        Text(
            "If one of n entries grows by 1, by how much does their mean grow?",
            "n 个元素中的一个增加 1，平均增加多少？",
        ),
    ),
    Mutant(
        "mean.whole-numbers",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    n = math.prod(x_shape) // math.prod(with_ones(x_shape, axis))
    return sum_gradient(g // n, x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "The gradient of the mean is rounded down to whole numbers: // divides without a "
            "remainder.",
            "平均的梯度被向下取整了：// 是整除。",
        ),
        Text("g is not a count. Which division keeps fractions?", "g 不是个数。哪种除法保留小数？"),
    ),
    Mutant(
        "mean.lengths-added",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    axes = range(len(x_shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    n = sum(x_shape[a] for a in axes)
    return sum_gradient(g / n, x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "The lengths of the averaged axes are added: 3 rows of 5 are 15 entries, not 8.",
            "把求平均的各轴长度相加了：3 行 5 列是 15 个元素，不是 8 个。",
        ),
        Text("Count the entries of a small table.", "数一数一个小表格里的元素。"),
    ),
    Mutant(
        "mean.one-length",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    axes = range(len(x_shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return sum_gradient(g / x_shape[axes[0]], x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "Of several averaged axes only the first is counted.",
            "对多个轴求平均时，只算了第一个轴的长度。",
        ),
        Text(
            "How many entries of x make one entry of out?",
            "out 的一个元素由 x 的几个元素得来？",
        ),
    ),
    Mutant(
        "mean.upstream-ignored",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    n = math.prod(x_shape) // math.prod(with_ones(x_shape, axis))
    return np.full(x_shape, 1 / n)
""",
        Text(
            "mean_gradient is 1/n everywhere: that is the slope of a mean, still to be multiplied "
            "by g.",
            "mean_gradient 处处为 1/n：这只是平均的斜率，还要乘以 g。",
        ),
        Text("Double g: what must happen to ∂L/∂x?", "g 加倍时，∂L/∂x 应当怎样变化？"),
    ),
    Mutant(
        "mean.upstream-averaged",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    return np.full(x_shape, np.sum(g) / math.prod(x_shape))
""",
        Text(
            "mean_gradient adds g up and gives everybody an equal part: an entry only gets from "
            "the mean that it was part of.",
            "mean_gradient 把 g 加起来平均分给所有元素：元素只应从它所在的那个平均得到梯度。",
        ),
        Text(
            "Which entries of out does x[0, 0] go into?",
            "x[0, 0] 参与了 out 中的哪些元素？",
        ),
    ),
    Mutant(
        "mean.not-spread",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    return g / (math.prod(x_shape) // math.prod(with_ones(x_shape, axis)))
""",
        Text(
            "mean_gradient divides by n, but keeps the shape of the result: every entry needs its "
            "copy.",
            "mean_gradient 除以了 n，但形状还是结果的形状：每个元素都应得到一份。",
        ),
        Text("∂L/∂x has the shape of x.", "∂L/∂x 与 x 形状相同。"),
    ),
    Mutant(
        "mean.wrong-axis",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    n = math.prod(x_shape) // math.prod(with_ones(x_shape, axis))
    return np.ones(x_shape) * g / n
""",
        Text(
            "The averaged axis is not put back in its place: in a square the gradients go to the "
            "wrong axis.",
            "求平均的轴没有补回原来的位置：方阵的梯度跑到了另一个轴上。",
        ),
        Text(
            "Line up the shapes of g and of x from the right: which axis of x does g meet?",
            "把 g 与 x 的形状从右边对齐：g 对上了 x 的哪个轴？",
        ),
    ),
    Mutant(
        "sum.axes-always-kept",
        """
def sum_over(x, axis=None, *, keepdims=False):
    return x.sum(axis=axis, keepdims=True)
""",
        Text(
            "sum_over always keeps the summed axes; it must do so with keepdims=True alone.",
            "sum_over 总是保留求和的轴；只有 keepdims=True 时才应保留。",
        ),
        Text(
            "What is the parameter keepdims for?",
            "参数 keepdims 是做什么用的？",
        ),
    ),
    Mutant(
        "sum.none-expanded",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    if not keepdims:
        g = np.expand_dims(g, axis)
    return np.broadcast_to(g, x_shape)
""",
        Text(
            "axis=None is not dealt with: np.expand_dims wants numbers, and None means all axes.",
            "没有处理 axis=None：np.expand_dims 要的是数，而 None 表示所有的轴。",
        ),
        Text(
            "Which shape has g if everything was summed?",
            "所有元素都加在一起时，g 是什么形状？",
        ),
    ),
    Mutant(
        "sum.none-as-index",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    n = x_shape[axis]
    return np.broadcast_to(np.reshape(g, with_ones(x_shape, axis)), x_shape) * (n / n)
""",
        Text(
            "axis=None is not dealt with: it is no index, but stands for all axes.",
            "没有处理 axis=None：它不能当下标，而是表示所有的轴。",
        ),
        Text(
            "Which shape has g if everything was summed?",
            "所有元素都加在一起时，g 是什么形状？",
        ),
    ),
    Mutant(
        "sum.tuple-as-index",
        """
def sum_gradient(g, x_shape, *, axis, keepdims):
    if axis is None:
        return np.full(x_shape, g)
    shape = list(x_shape)
    shape[axis] = 1
    return np.broadcast_to(np.reshape(g, shape), x_shape)
""",
        Text(
            "A tuple of axes is not dealt with: it is used as an index.",
            "没有处理由多个轴组成的元组：它被当成了下标。",
        ),
        Text(
            "axis may be a number or a tuple. How can one be made into the other?",
            "axis 可能是一个数，也可能是元组。怎样统一成一种？",
        ),
    ),
    Mutant(
        "mean.keepdims-ignored",
        """
def mean_over(x, axis=None, *, keepdims=False):
    return x.mean(axis=axis)
""",
        Text(
            "mean_over takes the averaged axes away also with keepdims=True.",
            "keepdims=True 时，mean_over 仍去掉了求平均的轴。",
        ),
        Text(
            "What is the parameter keepdims for?",
            "参数 keepdims 是做什么用的？",
        ),
    ),
    Mutant(
        "mean.forward-not-divided",
        """
def mean_over(x, axis=None, *, keepdims=False):
    return x.sum(axis=axis, keepdims=keepdims)
""",
        Text(
            "mean_over returns the sum: it is not divided by anything.",
            "mean_over 返回的是和：没有做除法。",
        ),
        Text(
            "What is the mean of 3 and 5?",
            "3 和 5 的平均是多少？",
        ),
    ),
    Mutant(
        "mean.forward-last-length",
        """
def mean_over(x, axis=None, *, keepdims=False):
    return x.sum(axis=axis, keepdims=keepdims) / x.shape[-1]
""",
        Text(
            "mean_over divides by the length of the last axis, whichever axis was averaged.",
            "mean_over 总是除以最后一个轴的长度，不管对哪个轴取平均。",
        ),
        Text(
            "How many numbers are added up for one entry of the result?",
            "结果的一个元素是由几个数相加得到的？",
        ),
    ),
    Mutant(
        "mean.forward-first-length",
        """
def mean_over(x, axis=None, *, keepdims=False):
    return x.sum(axis=axis, keepdims=keepdims) / len(x)
""",
        Text(
            "mean_over divides by len(x), the length of axis 0, whichever axis was averaged.",
            "mean_over 总是除以 len(x)，即轴 0 的长度，不管对哪个轴取平均。",
        ),
        Text(
            "How many numbers are added up for one entry of the result?",
            "结果的一个元素是由几个数相加得到的？",
        ),
    ),
    Mutant(
        "mean.median",
        """
def mean_over(x, axis=None, *, keepdims=False):
    return np.median(x, axis=axis, keepdims=keepdims)
""",
        Text(
            "This is the median, the entry in the middle, and not the mean.",
            "这是中位数，即排在中间的数，而不是平均。",
        ),
        Text(
            "What is the mean of 1, 2 and 9?",
            "1、2、9 的平均是多少？",
        ),
    ),
    Mutant(
        "mean.none-as-index",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    n = x_shape[axis]
    return sum_gradient(g / n, x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "axis=None is not dealt with: it is no index, but stands for all axes.",
            "没有处理 axis=None：它不能当下标，而是表示所有的轴。",
        ),
        Text(
            "How many entries are averaged if axis is None?",
            "axis 为 None 时，一共对几个元素求平均？",
        ),
    ),
    Mutant(
        "mean.tuple-as-index",
        """
def mean_gradient(g, x_shape, *, axis, keepdims):
    n = math.prod(x_shape) if axis is None else x_shape[axis]
    return sum_gradient(g / n, x_shape, axis=axis, keepdims=keepdims)
""",
        Text(
            "A tuple of axes is not dealt with: it is used as an index.",
            "没有处理由多个轴组成的元组：它被当成了下标。",
        ),
        Text(
            "How many entries are averaged along two axes?",
            "沿两个轴求平均时，一共有几个元素？",
        ),
    ),
    Mutant(
        "sum.axis-zero",
        """
def sum_over(x, axis=None, *, keepdims=False):
    return x.sum(axis=axis or None, keepdims=keepdims)
""",
        Text(
            "sum_over takes all axes where axis is 0: it seems to take 0 for None.",
            "axis 为 0 时，sum_over 对所有的轴求和了：似乎把 0 当成了 None。",
        ),
        Text(
            "What is bool(0)? How do you ask whether axis is None?",
            "bool(0) 是什么？怎样判断 axis 是不是 None？",
        ),
    ),
    Mutant(
        "mean.axis-zero",
        """
def mean_over(x, axis=None, *, keepdims=False):
    return x.mean(axis=axis or None, keepdims=keepdims)
""",
        Text(
            "mean_over takes all axes where axis is 0: it seems to take 0 for None.",
            "axis 为 0 时，mean_over 对所有的轴求平均了：似乎把 0 当成了 None。",
        ),
        Text(
            "What is bool(0)? How do you ask whether axis is None?",
            "bool(0) 是什么？怎样判断 axis 是不是 None？",
        ),
    ),
]
