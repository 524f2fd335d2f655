"""The classic mistakes of exercise 7."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    Mutant(
        "relu.minimum",
        """
def relu(x):
    return np.minimum(x, 0.0)
""",
        Text(
            "relu keeps the negative entries: it must keep the positive ones.",
            "relu 留下了负的元素：应当留下正的。",
        ),
        Text("Which of x and 0 is larger if x = 3?", "x = 3 时，x 与 0 哪个大？"),
    ),
    Mutant(
        "relu.reduced",
        """
def relu(x):
    return np.max(x, 0)
""",
        Text(
            "np.max(x, 0) is the largest entry along axis 0: relu compares each entry with 0.",
            "np.max(x, 0) 是沿轴 0 的最大值：relu 是拿每个元素与 0 比较。",
        ),
        Text(
            "NumPy has one function that reduces, and another that compares two arrays.",
            "NumPy 里有一个函数做归约，另一个比较两个数组。",
        ),
    ),
    Mutant(
        "relu.absolute",
        """
def relu(x):
    return np.abs(x)
""",
        Text(
            "relu turns negative entries round, as the absolute value does: they must become 0.",
            "relu 像绝对值那样把负的元素变了号：它们应变为 0。",
        ),
        Text("What is relu(−3)?", "relu(−3) 是多少？"),
    ),
    Mutant(
        "relu.one-number",
        """
def relu(x):
    return max(0.0, x)
""",
        Text(
            "relu asks an array for a single true or false, as if, and, or and Python's own max "
            "do: an array has an answer for each entry.",
            "relu 要求数组给出单个真假值（if、and、or 和 Python 自带的 max 都这样）："
            "而数组的每个元素各有一个。",
        ),
        Text(
            "Choose entry by entry: NumPy has a function that compares two arrays.",
            "要逐个元素选择：NumPy 有比较两个数组的函数。",
        ),
    ),
    Mutant(
        "relu.six",
        """
def relu(x):
    return np.clip(x, 0.0, 6.0)
""",
        Text(
            "relu also cuts off what is above 6 (that is relu6): relu has no upper bound.",
            "relu 把大于 6 的部分也截掉了（那是 relu6）：relu 没有上界。",
        ),
        Text("What is relu(1000)?", "relu(1000) 是多少？"),
    ),
    Mutant(
        "relu.backward-six",
        """
def relu_gradient(g, x):
    return np.where((x > 0) & (x < 6), g, 0.0)
""",
        Text(
            "No gradient passes where x is above 6: that is the slope of relu6.",
            "x 大于 6 的地方没有放行梯度：那是 relu6 的斜率。",
        ),
        Text("How steep is relu at 1000?", "relu 在 1000 处有多陡？"),
    ),
    Mutant(
        "relu.input-overwritten",
        """
def relu(x):
    x[x < 0] = 0
    return x
""",
        Text(
            "relu writes into x: whoever made x still needs it, for its own gradient too.",
            "relu 写进了 x：产生 x 的地方还要用它，包括求它自己的梯度。",
        ),
        Text(
            "Which of your operations write into an array that is there already?",
            "你的哪些运算会写进已有的数组？",
        ),
    ),
    Mutant(
        "relu.upstream-ignored",
        """
def relu_gradient(g, x):
    return np.where(x > 0, 1.0, 0.0)
""",
        Text(
            "relu_gradient is the slope, 1 or 0: it does not depend on g.",
            "relu_gradient 返回的只是斜率 1 或 0：它与 g 无关。",
        ),
        Text("What passes where the slope is 1?", "斜率为 1 的地方，传下去的是什么？"),
    ),
    Mutant(
        "relu.mask-from-upstream",
        """
def relu_gradient(g, x):
    return np.where(g > 0, g, 0.0)
""",
        Text(
            "The mask is made of the sign of g: what passes is decided by x, in the forward.",
            "掩码是按 g 的符号做的：谁能通过由前向的 x 决定。",
        ),
        Text(
            "A negative gradient is as good as a positive one. Which array was cut at 0?",
            "负的梯度与正的同样有用。在 0 处被截断的是哪个数组？",
        ),
    ),
    Mutant(
        "relu.mask-from-both",
        """
def relu_gradient(g, x):
    return np.where((x > 0) & (g > 0), g, 0.0)
""",
        Text(
            "relu_gradient also drops negative gradients (guided backpropagation does that, for "
            "pictures): it is no gradient any more.",
            "relu_gradient 把负的梯度也丢掉了（为画图而做的 guided backpropagation 正是如此）："
            "这已不是梯度。",
        ),
        Text(
            "Where x > 0 relu is x itself. What is its gradient there?",
            "x > 0 处 relu 就是 x 本身。那里的梯度是什么？",
        ),
    ),
    Mutant(
        "relu.all-passes",
        """
def relu_gradient(g, x):
    return g * 1.0
""",
        Text(
            "relu_gradient lets g pass everywhere: where x < 0 the result is 0 whatever x is, and "
            "so is the slope.",
            "relu_gradient 处处放行 g：x < 0 时结果恒为 0，斜率也是 0。",
        ),
        Text(
            "Change x from −3 to −2.9. How does relu(x) change?",
            "x 从 −3 变到 −2.9，relu(x) 怎样变化？",
        ),
    ),
    Mutant(
        "relu.inverted",
        """
def relu_gradient(g, x):
    return np.where(x < 0, g, 0.0)
""",
        Text(
            "The mask is the wrong way round: g passes where x is negative.",
            "掩码反了：g 在 x 为负处通过了。",
        ),
        Text("Where does relu let x through?", "relu 在哪里放行 x？"),
    ),
    Mutant(
        "relu.value",
        """
def relu_gradient(g, x):
    return g * np.maximum(x, 0.0)
""",
        Text(
            "relu_gradient multiplies g by the value relu(x): the slope is 1 there, however large "
            "x is.",
            "relu_gradient 用 g 乘了 relu(x) 的值：那里的斜率是 1，与 x 的大小无关。",
        ),
        Text("How steep is relu at 2, and at 20?", "relu 在 2 处和 20 处各有多陡？"),
    ),
    Mutant(
        "relu.clipped-gradient",
        """
def relu_gradient(g, x):
    return np.maximum(g * x, 0.0)
""",
        Text(
            "relu_gradient takes the relu of g ⊙ x: a gradient does not go through the function "
            "again, it is multiplied by its slope.",
            "relu_gradient 对 g ⊙ x 又取了 relu：梯度不再经过函数本身，而是乘以它的斜率。",
        ),
        Text("The slope depends on x alone.", "斜率只取决于 x。"),
    ),
    Mutant(
        "relu.leaky",
        """
def relu_gradient(g, x):
    return np.where(x > 0, g, 0.01 * g)
""",
        Text(
            "A hundredth of g passes where x < 0: that is the slope of the leaky relu.",
            "x < 0 处放行了 g 的百分之一：那是 leaky relu 的斜率。",
        ),
        Text("Forward and backward must be the same function.", "前向与反向应当是同一个函数。"),
    ),
    Mutant(
        "relu.sign",
        """
def relu_gradient(g, x):
    return g * np.sign(x)
""",
        Text(
            "sign(x) is the slope of |x|: −1 on the left, where relu has 0.",
            "sign(x) 是 |x| 的斜率：左侧为 −1，而 relu 的左侧是 0。",
        ),
        Text(
            "Draw relu left of 0. How steep is it?",
            "画出 0 左侧的 relu。它有多陡？",
        ),
    ),
    Mutant(
        "relu.zero-by-zero",
        """
def relu_gradient(g, x):
    return g * np.maximum(x, 0.0) / x
""",
        Text(
            "relu(x) / x is the slope everywhere but at the kink: at x = 0 it is 0 / 0, NaN.",
            "relu(x) / x 在折点以外都是斜率：在 x = 0 处却是 0 / 0，即 NaN。",
        ),
        Text("Ask whether x is positive, and do not divide.", "只要判断 x 是否为正，不必做除法。"),
    ),
    Mutant(
        "relu.in-place",
        """
def relu_gradient(g, x):
    g[x <= 0] = 0
    return g
""",
        Text(
            "relu_gradient writes into g: other rules may get the same array, and would find it "
            "changed.",
            "relu_gradient 写进了 g：别的规则可能收到同一个数组，会发现它被改动了。",
        ),
        Text(
            "Which function of NumPy chooses between two arrays and makes a new one?",
            "NumPy 的哪个函数在两个数组之间选择，并生成新数组？",
        ),
    ),
    Mutant(
        "relu.truth-of-an-array",
        """
def relu_gradient(g, x):
    return g if x > 0 else 0.0
""",
        Text(
            "A comparison of arrays gives an array of answers: if, and, or and not want a single "
            "one.",
            "数组的比较给出一组真假值：而 if、and、or、not 只接受一个。",
        ),
        Text(
            "Which function of NumPy chooses entry by entry?",
            "NumPy 的哪个函数可以逐个元素选择？",
        ),
    ),
    Mutant(
        "max.axis-ignored",
        """
def max_over(x, axis=-1):
    return x.max()
""",
        Text(
            "max_over takes the largest of all entries whatever axis says.",
            "不论 axis 是什么，max_over 都取了所有元素的最大值。",
        ),
        Text(
            "What is the parameter axis for?",
            "参数 axis 是做什么用的？",
        ),
    ),
    Mutant(
        "max.last-axis",
        """
def max_over(x, axis=-1):
    return x.max(axis=-1)
""",
        Text(
            "max_over always goes along the last axis.",
            "max_over 总是沿最后一个轴。",
        ),
        Text(
            "What is the parameter axis for?",
            "参数 axis 是做什么用的？",
        ),
    ),
    Mutant(
        "max.elementwise",
        """
def max_over(x, axis=-1):
    return np.maximum(x, axis)
""",
        Text(
            "np.maximum(x, axis) compares each entry with the number axis: along an axis it is "
            "np.max.",
            "np.maximum(x, axis) 是拿每个元素与 axis 这个数比较：沿轴取最大值要用 np.max。",
        ),
        Text("The result should lack the axis.", "结果中应当没有这个轴。"),
    ),
    Mutant(
        "max.position",
        """
def max_over(x, axis=-1):
    return x.argmax(axis=axis)
""",
        Text(
            "argmax says where the largest entry is: max_over returns how large it is.",
            "argmax 给出最大元素在哪里：max_over 应返回它有多大。",
        ),
        Text("The result holds entries of x.", "结果中应是 x 的元素。"),
    ),
    Mutant(
        "max.upstream-ignored",
        """
def max_gradient(g, x, out, *, axis):
    return np.where(x == np.expand_dims(out, axis), 1.0, 0.0)
""",
        Text(
            "max_gradient marks the largest entries with 1: it does not depend on g.",
            "max_gradient 只是用 1 标出了最大元素：它与 g 无关。",
        ),
        Text("What passes where the slope is 1?", "斜率为 1 的地方，传下去的是什么？"),
    ),
    Mutant(
        "max.all-get-it",
        """
def max_gradient(g, x, out, *, axis):
    return np.broadcast_to(np.expand_dims(g, axis), x.shape)
""",
        Text(
            "Every entry gets g, as in a sum: the smaller ones do not change the maximum.",
            "每个元素都得到了 g，像求和一样：较小的元素并不影响最大值。",
        ),
        Text(
            "Change an entry that is not the largest a little. What happens to the result?",
            "稍微改变一个不是最大的元素，结果会怎样？",
        ),
    ),
    Mutant(
        "max.mean",
        """
def max_gradient(g, x, out, *, axis):
    return np.broadcast_to(np.expand_dims(g, axis) / x.shape[axis], x.shape)
""",
        Text(
            "Every entry gets the same part of g, as in a mean: the smaller ones do not change the "
            "maximum.",
            "每个元素都分到同样一份 g，像求平均一样：较小的元素并不影响最大值。",
        ),
        Text(
            "Change an entry that is not the largest a little. What happens to the result?",
            "稍微改变一个不是最大的元素，结果会怎样？",
        ),
    ),
    Mutant(
        "max.wrong-axis",
        """
def max_gradient(g, x, out, *, axis):
    top = x == np.expand_dims(out, axis)
    return top * g / top.sum(axis=axis, keepdims=True)
""",
        Text(
            "The mask is right, but g is not given its axis back: NumPy lines it up from the "
            "right, and in a square the gradients of other rows arrive.",
            "掩码是对的，但没有给 g 补回那个轴：NumPy 从右边对齐，方阵中传来的就是别的行的梯度。",
        ),
        Text(
            "Line up the shapes of g and of x from the right: which axis of x does g meet?",
            "把 g 与 x 的形状从右边对齐：g 对上了 x 的哪个轴？",
        ),
    ),
    Mutant(
        "max.mask-without-axis",
        """
def max_gradient(g, x, out, *, axis):
    top = x == out
    ties = np.maximum(top.sum(axis=axis, keepdims=True), 1)
    return np.where(top, np.expand_dims(g, axis) / ties, 0.0)
""",
        Text(
            "x is compared with out, which does not have its axis back in the right place: in a "
            "square, entries are then compared with the maxima of other rows.",
            "拿 x 与 out 比较时，out 的轴没有补回到原来的位置：方阵中，元素就会与别的行的最大值"
            "比较。",
        ),
        Text(
            "Write the shapes of x and out one below the other, from the right.",
            "把 x 与 out 的形状从右边对齐写出来。",
        ),
    ),
    Mutant(
        "max.largest-of-all",
        """
def max_gradient(g, x, out, *, axis):
    return np.where(x == x.max(), np.expand_dims(g, axis), 0.0)
""",
        Text(
            "Only the largest entry of the whole array gets a gradient: each row has a maximum of "
            "its own.",
            "只有整个数组的最大元素得到了梯度：每一行都有自己的最大值。",
        ),
        Text("Compare with out, which has one per row.", "与 out 比较，它每行各有一个。"),
    ),
    Mutant(
        "max.smallest",
        """
def max_gradient(g, x, out, *, axis):
    low = x == x.min(axis=axis, keepdims=True)
    return np.where(low, np.expand_dims(g, axis), 0.0)
""",
        Text(
            "The smallest entry of each row gets the gradient: it must be the largest.",
            "每行最小的元素得到了梯度：应当是最大的。",
        ),
        Text("Which entry was returned by the forward?", "前向返回的是哪个元素？"),
    ),
    Mutant(
        "max.mask-from-upstream",
        """
def max_gradient(g, x, out, *, axis):
    spread = np.broadcast_to(np.expand_dims(g, axis), x.shape)
    return np.where(x <= spread, spread, 0.0)
""",
        Text(
            "The entries are chosen by comparing with g: which one is the largest is decided by x "
            "and out.",
            "选择元素时与 g 作了比较：哪个最大由 x 和 out 决定。",
        ),
        Text(
            "Multiply g by 10. Should other entries get it?",
            "把 g 乘以 10，得到它的元素应当改变吗？",
        ),
    ),
    Mutant(
        "max.value",
        """
def max_gradient(g, x, out, *, axis):
    top = x == np.expand_dims(out, axis)
    return np.where(top, np.expand_dims(g * out, axis), 0.0)
""",
        Text(
            "The largest entry gets g times its value: the slope there is 1, however large it is.",
            "最大元素得到了 g 乘以它的值：那里的斜率是 1，与它的大小无关。",
        ),
        Text(
            "If the largest entry grows by 1, by how much does the maximum?",
            "最大元素增加 1，最大值增加多少？",
        ),
    ),
    Mutant(
        "max.shared-by-all-rows",
        """
def max_gradient(g, x, out, *, axis):
    top = x == np.expand_dims(out, axis)
    return np.where(top, np.expand_dims(g, axis) / top.sum(), 0.0)
""",
        Text(
            "g is divided by the number of maxima in the whole array: only ties of the same row "
            "share.",
            "g 除以了整个数组中最大元素的个数：只有同一行中并列的才分享。",
        ),
        Text("Along which axis are ties counted?", "并列的个数应沿哪个轴来数？"),
    ),
    Mutant(
        "max.ties-all",
        """
def max_gradient(g, x, out, *, axis):
    return np.where(x == np.expand_dims(out, axis), np.expand_dims(g, axis), 0.0)
""",
        Text(
            "Where entries tie, each gets all of g, so twice or more arrives than came: the parts "
            "of a tie must add up to g.",
            "并列时每个元素都得到整个 g，传下去的就成了两倍或更多：并列者所得之和应为 g。",
        ),
        Text(
            "If all tied entries grow by 1 together, by how much does the maximum grow?",
            "并列的元素一起增加 1，最大值增加多少？",
        ),
    ),
    Mutant(
        "max.ties-none",
        """
def max_gradient(g, x, out, *, axis):
    top = x == np.expand_dims(out, axis)
    alone = top & (top.sum(axis=axis, keepdims=True) == 1)
    return np.where(alone, np.expand_dims(g, axis), 0.0)
""",
        Text(
            "Where entries tie, none gets a gradient: g is lost, and its parts must add up to g.",
            "并列时谁也没有得到梯度：g 丢失了，而各份之和应为 g。",
        ),
        Text(
            "If all tied entries grow by 1 together, by how much does the maximum grow?",
            "并列的元素一起增加 1，最大值增加多少？",
        ),
    ),
    Mutant(
        "max.nearly-equal",
        """
def max_gradient(g, x, out, *, axis):
    top = np.isclose(x, np.expand_dims(out, axis))
    return np.where(top, np.expand_dims(g, axis) / top.sum(axis=axis, keepdims=True), 0.0)
""",
        Text(
            "Entries that are nearly the largest get a part, as np.isclose takes them for equal: "
            "the result is a copy of the largest, so == is exact.",
            "接近最大的元素也分到了梯度，因为 np.isclose 认为它们相等：结果是最大元素的副本，"
            "用 == 就是精确的。",
        ),
        Text(
            "1 and 1.0000001 are different. Which one is the maximum?",
            "1 与 1.0000001 不相等。哪个是最大值？",
        ),
    ),
    Mutant(
        "clip.always-low",
        """
def clip(x, low, high):
    return np.clip(x, high, low)
""",
        Text(
            "Every entry comes out as low, as when the bounds are swapped or high is not handed "
            "on.",
            "每个元素都成了 low，就像上下界写反了，或者没有用到 high。",
        ),
        Text(
            "What becomes of 9 in your function, step by step, with low = 0 and high = 1?",
            "low = 0、high = 1 时，9 在你的函数里逐步变成了什么？",
        ),
    ),
    Mutant(
        "clip.one-bound",
        """
def clip(x, low, high):
    return np.maximum(x, low)
""",
        Text(
            "clip stops at low, but not at high.",
            "clip 在 low 处截住了，在 high 处却没有。",
        ),
        Text(
            "What is clip(9, 0, 1) in your function?",
            "在你的函数里，clip(9, 0, 1) 是多少？",
        ),
    ),
    Mutant(
        "clip.upstream-ignored",
        """
def clip_gradient(g, x, *, low, high):
    return np.where((x >= low) & (x <= high), 1.0, 0.0)
""",
        Text(
            "clip_gradient is the slope, 1 or 0: it does not depend on g.",
            "clip_gradient 返回的只是斜率 1 或 0：它与 g 无关。",
        ),
        Text("What passes where the slope is 1?", "斜率为 1 的地方，传下去的是什么？"),
    ),
    Mutant(
        "clip.all-passes",
        """
def clip_gradient(g, x, *, low, high):
    return g * 1.0
""",
        Text(
            "clip_gradient lets g pass everywhere: where x was cut, the result is a bound "
            "whatever x is. (A mask with “or” is always true.)",
            "clip_gradient 处处放行 g：被截断处结果恒为界值，与 x 无关。"
            "（用“或”连接的掩码总为真。）",
        ),
        Text(
            "Change x from 9 to 9.1 with high = 1. How does the result change?",
            "high = 1 时，x 从 9 变到 9.1，结果怎样变化？",
        ),
    ),
    Mutant(
        "clip.clipped-gradient",
        """
def clip_gradient(g, x, *, low, high):
    return np.clip(g, low, high)
""",
        Text(
            "clip_gradient clips g itself: what was cut is x, and g passes whole or not at all.",
            "clip_gradient 把 g 截断了：被截断的是 x，而 g 要么完整通过，要么不通过。",
        ),
        Text("Which array is compared with the bounds?", "与上下界比较的是哪个数组？"),
    ),
    Mutant(
        "clip.mask-from-upstream",
        """
def clip_gradient(g, x, *, low, high):
    return np.where((g >= low) & (g <= high), g, 0.0)
""",
        Text(
            "The mask compares g with the bounds: what passes is decided by x.",
            "掩码拿 g 与上下界比较了：谁能通过由 x 决定。",
        ),
        Text("Which array was cut in the forward?", "前向中被截断的是哪个数组？"),
    ),
    Mutant(
        "clip.upper-forgotten",
        """
def clip_gradient(g, x, *, low, high):
    return np.where(x >= low, g, 0.0)
""",
        Text(
            "Entries above high still get a gradient.",
            "大于 high 的元素仍得到了梯度。",
        ),
        Text(
            "If x is far above high and grows a little, does the result change?",
            "x 远大于 high 时稍微增大，结果会变吗？",
        ),
    ),
    Mutant(
        "clip.lower-forgotten",
        """
def clip_gradient(g, x, *, low, high):
    return np.where(x <= high, g, 0.0)
""",
        Text(
            "Entries below low still get a gradient.",
            "小于 low 的元素仍得到了梯度。",
        ),
        Text(
            "If x is far below low and grows a little, does the result change?",
            "x 远小于 low 时稍微增大，结果会变吗？",
        ),
    ),
    Mutant(
        "clip.inverted",
        """
def clip_gradient(g, x, *, low, high):
    return np.where((x < low) | (x > high), g, 0.0)
""",
        Text(
            "The mask is the wrong way round: g passes where x was cut.",
            "掩码反了：g 在 x 被截断处通过了。",
        ),
        Text("Where is the result still x itself?", "结果在哪里还是 x 本身？"),
    ),
    Mutant(
        "clip.as-relu",
        """
def clip_gradient(g, x, *, low, high):
    return np.where(x > 0, g, 0.0)
""",
        Text(
            "The mask asks whether x is positive, as in relu: the bounds here are low and high.",
            "掩码判断的是 x 是否为正，像 relu 一样：这里的界是 low 和 high。",
        ),
        Text("The rule gets both bounds.", "规则拿得到两个界。"),
    ),
    Mutant(
        "clip.value",
        """
def clip_gradient(g, x, *, low, high):
    return np.where((x >= low) & (x <= high), g * x, 0.0)
""",
        Text(
            "g is multiplied by the value of x: between the bounds the slope is 1.",
            "g 乘以了 x 的值：两界之间的斜率是 1。",
        ),
        Text(
            "If x grows by 1 between the bounds, by how much does the result?",
            "在两界之间 x 增加 1，结果增加多少？",
        ),
    ),
    Mutant(
        "clip.bounds-let-in",
        """
def clip_gradient(g, x, *, low, high):
    return np.where(x < low, low, np.where(x > high, high, g))
""",
        Text(
            "Where x was cut, the gradient is the bound: it must be 0, since nothing changes "
            "there.",
            "x 被截断处，梯度成了界值：应当为 0，因为那里什么都不变。",
        ),
        Text(
            "The bound is the value of the result. What is its slope?",
            "界值是结果的值。它的斜率是多少？",
        ),
    ),
    Mutant(
        "clip.in-place",
        """
def clip_gradient(g, x, *, low, high):
    g[(x < low) | (x > high)] = 0
    return g
""",
        Text(
            "clip_gradient writes into g: other rules may get the same array, and would find it "
            "changed.",
            "clip_gradient 写进了 g：别的规则可能收到同一个数组，会发现它被改动了。",
        ),
        Text(
            "Which function of NumPy chooses between two arrays and makes a new one?",
            "NumPy 的哪个函数在两个数组之间选择，并生成新数组？",
        ),
    ),
    Mutant(
        "clip.truth-of-an-array",
        """
def clip_gradient(g, x, *, low, high):
    return np.where(low <= x <= high, g, 0.0)
""",
        Text(
            "A chained comparison such as low <= x <= high asks an array for a single true or "
            "false; so do if, and, or and not.",
            "low <= x <= high 这样的连续比较要求数组给出单个真假值；if、and、or、not 也是如此。",
        ),
        Text(
            "What do the two comparisons give on their own, and which operator joins such arrays?",
            "两个比较各自得到什么？哪个运算符可以连接这样的数组？",
        ),
    ),
    Mutant(
        "relu.forward-leaky",
        """
def relu(x):
    return np.where(x > 0, x, 0.01 * x)
""",
        Text(
            "This is the leaky relu: relu is 0 for negative entries.",
            "这是 leaky relu：relu 对负的元素为 0。",
        ),
        Text(
            "What is relu(−3)?",
            "relu(−3) 是多少？",
        ),
    ),
    Mutant(
        "relu.forward-mask",
        """
def relu(x):
    return np.where(x > 0, 1.0, 0.0)
""",
        Text(
            "relu returns 1 where x is positive: that is its slope, and not its value.",
            "relu 在 x 为正处返回了 1：那是它的斜率，而不是值。",
        ),
        Text(
            "What is relu(3)?",
            "relu(3) 是多少？",
        ),
    ),
    Mutant(
        "relu.if",
        """
def relu(x):
    if x > 0:
        return x
    return 0.0
""",
        Text(
            "An if asks an array for a single true or false: the array has an answer for each "
            "entry.",
            "if 要求数组给出单个真假值：而数组的每个元素各有一个。",
        ),
        Text(
            "Which function of NumPy chooses entry by entry?",
            "NumPy 的哪个函数可以逐个元素选择？",
        ),
    ),
    Mutant(
        "max.axis-kept",
        """
def max_over(x, axis=-1):
    return x.max(axis=axis, keepdims=True)
""",
        Text(
            "The axis is still there, with length 1: max_over returns x without it.",
            "那个轴还在，长度为 1：max_over 的结果中不应有它。",
        ),
        Text(
            "What does keepdims keep?",
            "keepdims 保留了什么？",
        ),
    ),
    Mutant(
        "max.forward-minimum",
        """
def max_over(x, axis=-1):
    return x.min(axis=axis)
""",
        Text(
            "This is the smallest entry, and not the largest.",
            "这是最小的元素，而不是最大的。",
        ),
        Text(
            "Which of NumPy's reductions is wanted here?",
            "这里要用 NumPy 的哪个归约？",
        ),
    ),
    Mutant(
        "max.python",
        """
def max_over(x, axis=-1):
    return max(x)
""",
        Text(
            "Python's max compares whole rows, and wants a single true or false of each "
            "comparison.",
            "Python 自带的 max 比较的是整行，并要求每次比较给出单个真假值。",
        ),
        Text(
            "Which method of an array knows about axes?",
            "数组的哪个方法可以指定轴？",
        ),
    ),
    Mutant(
        "max.axis-put-last",
        """
def max_gradient(g, x, out, *, axis):
    top = x == out[..., None]
    return top * g[..., None] / np.maximum(top.sum(axis=axis, keepdims=True), 1)
""",
        Text(
            "out and g get their axis back at the end, whichever was taken.",
            "不论取最大值时用的是哪个轴，都把轴补在了最后。",
        ),
        Text(
            "axis tells where the axis of length 1 belongs.",
            "axis 说明了长度为 1 的轴应补在哪里。",
        ),
    ),
    Mutant(
        "max.argmax-in-rows",
        """
def max_gradient(g, x, out, *, axis):
    made = np.zeros_like(x)
    made[np.arange(len(x)), x.argmax(axis=axis)] = g
    return made
""",
        Text(
            "The places that argmax gives are used as columns, whichever axis was taken.",
            "不论取最大值时用的是哪个轴，argmax 给出的位置都被当成了列号。",
        ),
        Text(
            "If axis is 0, does argmax give rows or columns?",
            "axis 为 0 时，argmax 给出的是行号还是列号？",
        ),
    ),
    Mutant(
        "clip.value-of-result",
        """
def clip_gradient(g, x, *, low, high):
    return g * np.clip(x, low, high)
""",
        Text(
            "g is multiplied by the clipped value: it must be multiplied by the slope, which is "
            "1 or 0.",
            "g 乘以了截断后的值：应当乘以斜率，即 1 或 0。",
        ),
        Text(
            "If x grows by 1 between the bounds, by how much does the result?",
            "在两界之间 x 增加 1，结果增加多少？",
        ),
    ),
    Mutant(
        "clip.forward-zero",
        """
def clip(x, low, high):
    return np.where((x >= low) & (x <= high), x, 0.0)
""",
        Text(
            "Entries outside become 0: they must become the bound that they crossed.",
            "界外的元素变成了 0：应当变成它越过的那个界值。",
        ),
        Text(
            "What is 9, limited to the interval from 0 to 1?",
            "把 9 限制在 0 到 1 之间，得到多少？",
        ),
    ),
    Mutant(
        "clip.lower-bound-missing",
        """
def clip(x, low, high):
    return np.minimum(x, high)
""",
        Text(
            "clip stops at high, but not at low.",
            "clip 在 high 处截住了，在 low 处却没有。",
        ),
        Text(
            "What is clip(−9, 0, 1) in your function?",
            "在你的函数里，clip(−9, 0, 1) 是多少？",
        ),
    ),
    Mutant(
        "clip.input-overwritten",
        """
def clip(x, low, high):
    x[x < low] = low
    x[x > high] = high
    return x
""",
        Text(
            "clip writes into x: whoever made x still needs it, for its own gradient too.",
            "clip 写进了 x：产生 x 的地方还要用它，包括求它自己的梯度。",
        ),
        Text(
            "Which function makes a new array?",
            "哪个函数会生成新数组？",
        ),
    ),
    Mutant(
        "clip.and",
        """
def clip_gradient(g, x, *, low, high):
    return g * (x > low and x < high)
""",
        Text(
            "and asks an array for a single true or false: the array has an answer for each entry.",
            "and 要求数组给出单个真假值：而数组的每个元素各有一个。",
        ),
        Text(
            "Which operator joins two masks entry by entry?",
            "哪个运算符可以逐个元素连接两个掩码？",
        ),
    ),
    Mutant(
        "max.divided-by-length",
        """
def max_gradient(g, x, out, *, axis):
    top = x == np.expand_dims(out, axis)
    return np.where(top, np.expand_dims(g, axis) / x.shape[axis], 0.0)
""",
        Text(
            "g is divided by the length of the axis, as in a mean: the largest entry gets all of "
            "g, unless others tie with it.",
            "g 除以了那个轴的长度，像求平均一样：没有并列时，最大的元素应得到整个 g。",
        ),
        Text(
            "If the largest entry grows by 1, by how much does the maximum?",
            "最大元素增加 1，最大值增加多少？",
        ),
    ),
    Mutant(
        "relu.times-x",
        """
def relu_gradient(g, x):
    return g * x
""",
        Text(
            "relu_gradient multiplies g by x: it must be multiplied by the slope, which is 1 or 0.",
            "relu_gradient 用 g 乘了 x：应当乘以斜率，即 1 或 0。",
        ),
        Text("How steep is relu at 2, and at 20?", "relu 在 2 处和 20 处各有多陡？"),
    ),
    Mutant(
        "max.first-axis",
        """
def max_over(x, axis=-1):
    return x.max(axis=0)
""",
        Text(
            "max_over always goes along axis 0.",
            "max_over 总是沿轴 0。",
        ),
        Text(
            "What is the parameter axis for?",
            "参数 axis 是做什么用的？",
        ),
    ),
    Mutant(
        "clip.always-high",
        """
def clip(x, low, high):
    return np.maximum(np.minimum(x, low), high)
""",
        Text(
            "Every entry comes out as high, as when the bounds are swapped.",
            "每个元素都成了 high，就像上下界写反了。",
        ),
        Text(
            "What becomes of −9 in your function, step by step, with low = 0 and high = 1?",
            "low = 0、high = 1 时，−9 在你的函数里逐步变成了什么？",
        ),
    ),
    Mutant(
        "clip.brackets-missing",
        """
def clip_gradient(g, x, *, low, high):
    return g * (x >= low & x <= high)
""",
        Text(
            "& meets numbers, and is there for truth values. It binds more tightly than >= and <=: "
            "in x >= low & x <= high, low & x is worked out first.",
            "& 用在了数上，而它要的是真假值。它的优先级高于 >= 和 <=："
            "x >= low & x <= high 会先算 low & x。",
        ),
        Text(
            "When & is worked out, what stands on its left, and what on its right?",
            "计算 & 时，它的左边和右边各是什么？",
        ),
    ),
    Mutant(
        "max.default-first-axis",
        """
def max_over(x, axis=0):
    return x.max(axis=axis)
""",
        Text(
            "Where the caller does not say axis, max_over goes along axis 0; it must go along the "
            "last one.",
            "调用者没有给出 axis 时，max_over 沿的是轴 0；应当沿最后一个轴。",
        ),
        Text("What does the stub give as the default of axis?", "题目文件中 axis 的默认值是什么？"),
    ),
]
