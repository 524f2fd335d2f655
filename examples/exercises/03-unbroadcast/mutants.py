"""The classic mistakes of exercise 3."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    Mutant(
        "unbroadcast.not-summed",
        """
def unbroadcast(gradient, shape):
    return gradient
""",
        Text(
            "unbroadcast returns the gradient of all the copies: one array was copied, so one "
            "gradient must come back, the sum over its copies.",
            "unbroadcast 原样返回了所有拷贝的梯度：被拷贝的只有一个数组，"
            "应当传回各份拷贝的梯度之和。",
        ),
        Text(
            "Compare the shape that you return with the shape that you were given.",
            "比较你返回的形状与参数 shape。",
        ),
    ),
    Mutant(
        "unbroadcast.mean",
        """
def unbroadcast(gradient, shape):
    aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    axes = tuple(i for i, n in enumerate(aligned) if n == 1)
    return gradient.mean(axis=axes).reshape(shape)
""",
        Text(
            "Your gradient is 1/n of the right one, with n copies: unbroadcast averages over the "
            "copies, and must sum.",
            "梯度是正确值的 1/n，n 为拷贝的份数：unbroadcast 对各份取了平均，而应当求和。",
        ),
        Text(
            "If a number is used three times, does changing it move the loss by less or by more?",
            "一个数被用了三次，改变它对损失的影响是更小还是更大？",
        ),
    ),
    Mutant(
        "unbroadcast.one-copy",
        """
def unbroadcast(gradient, shape):
    aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    picked = tuple(slice(0, 1) if n == 1 else slice(None) for n in aligned)
    return gradient[picked].reshape(shape)
""",
        Text(
            "unbroadcast keeps the gradient of the first copy only: the others count as well.",
            "unbroadcast 只保留了第一份拷贝的梯度：其余各份同样要算。",
        ),
        Text(
            "Each copy moves the loss on its own. What do they do together?",
            "每份拷贝都各自影响损失。合起来是多少？",
        ),
    ),
    Mutant(
        "unbroadcast.last-copy",
        """
def unbroadcast(gradient, shape):
    aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    picked = tuple(slice(-1, None) if n == 1 else slice(None) for n in aligned)
    return gradient[picked].reshape(shape)
""",
        Text(
            "unbroadcast keeps the gradient of the last copy only, as if each copy overwrote the "
            "one before.",
            "unbroadcast 只保留了最后一份拷贝的梯度，好像后一份覆盖了前一份。",
        ),
        Text(
            "What becomes of the gradients of the other copies?",
            "其余各份拷贝的梯度到哪里去了？",
        ),
    ),
    Mutant(
        "unbroadcast.cut-off",
        """
import numpy as np


def unbroadcast(gradient, shape):
    return np.resize(gradient, shape)
""",
        Text(
            "unbroadcast cuts the gradient to size: as np.resize does, it keeps the first entries "
            "in memory and drops the others.",
            "unbroadcast 把梯度截成了所需的大小："
            "像 np.resize 那样，只留下内存中靠前的元素，丢掉其余。",
        ),
        Text(
            "No entry of the gradient may get lost: the sum of all must stay the same.",
            "梯度的任何元素都不能丢：所有元素之和应当不变。",
        ),
    ),
    Mutant(
        "unbroadcast.everything",
        """
import numpy as np


def unbroadcast(gradient, shape):
    return np.full(shape, gradient.sum())
""",
        Text(
            "unbroadcast sums the whole gradient and puts the total everywhere: only the axes that "
            "were copied along are summed.",
            "unbroadcast 把整个梯度求和，再把总和填到各处：只应沿被拷贝的轴求和。",
        ),
        Text(
            "Which entries of the gradient belong to copies of the same number?",
            "梯度中哪些元素属于同一个数的拷贝？",
        ),
    ),
    Mutant(
        "unbroadcast.leading-only",
        """
def unbroadcast(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    return gradient
""",
        Text(
            "unbroadcast sums the axes that broadcasting put in front, but not those of length 1 "
            "that it stretched.",
            "unbroadcast 对广播在前面新增的轴求了和，却没有对被拉长的、原长为 1 的轴求和。",
        ),
        Text(
            "Try shape (3, 1) under a gradient of shape (3, 5).",
            "用形状 (3, 1) 和形状为 (3, 5) 的梯度试一试。",
        ),
    ),
    Mutant(
        "unbroadcast.stretched-only",
        """
def unbroadcast(gradient, shape):
    extra = gradient.ndim - len(shape)
    axes = tuple(extra + i for i, n in enumerate(shape) if n == 1)
    return gradient.sum(axis=axes, keepdims=True)
""",
        Text(
            "unbroadcast sums the axes of length 1 that were stretched, but not those that "
            "broadcasting put in front.",
            "unbroadcast 对被拉长的、原长为 1 的轴求了和，却没有对广播在前面新增的轴求和。",
        ),
        Text(
            "Try shape (5,) under a gradient of shape (3, 5).",
            "用形状 (5,) 和形状为 (3, 5) 的梯度试一试。",
        ),
    ),
    Mutant(
        "unbroadcast.kept-axis",
        """
def unbroadcast(gradient, shape):
    aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    axes = tuple(i for i, n in enumerate(aligned) if n == 1)
    return gradient.sum(axis=axes, keepdims=True)
""",
        Text(
            "The axes that broadcasting put in front are still there, with length 1: (1, 5) is not "
            "(5,).",
            "广播在前面新增的轴还在，长度为 1：(1, 5) 不是 (5,)。",
        ),
        Text(
            "keepdims=True keeps every axis. Which ones should go?",
            "keepdims=True 会保留每个轴。哪些轴应当去掉？",
        ),
    ),
    Mutant(
        "unbroadcast.dropped-axis",
        """
def unbroadcast(gradient, shape):
    aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    axes = tuple(i for i, n in enumerate(aligned) if n == 1)
    return gradient.sum(axis=axes)
""",
        Text(
            "Axes of length 1 are gone: (5,) is not (1, 5), and would be broadcast along another "
            "axis later.",
            "长度为 1 的轴不见了：(5,) 不是 (1, 5)，之后会沿别的轴广播。",
        ),
        Text(
            "sum takes an axis away unless it is told to keep it.",
            "sum 默认会去掉求和的轴，除非要求它保留。",
        ),
    ),
    Mutant(
        "unbroadcast.from-the-left",
        """
def unbroadcast(gradient, shape):
    extra = gradient.ndim - len(shape)
    aligned = tuple(shape) + (1,) * extra
    axes = tuple(i for i, n in enumerate(aligned) if n == 1)
    made = gradient.sum(axis=axes, keepdims=True)
    return made.reshape(made.shape[: len(shape)])
""",
        Text(
            "unbroadcast lines the shapes up from the left, so it sums the wrong axes: NumPy lines "
            "them up from the right.",
            "unbroadcast 从左边对齐形状，于是对错误的轴求了和：NumPy 是从右边对齐的。",
        ),
        Text(
            "Write (3, 5) and (5,) one below the other. Which 5 is which?",
            "把 (3, 5) 与 (5,) 上下对齐写出来。哪个 5 对应哪个？",
        ),
    ),
    Mutant(
        "unbroadcast.first-axis",
        """
def unbroadcast(gradient, shape):
    return gradient if gradient.shape == tuple(shape) else gradient.sum(axis=0)
""",
        Text(
            "unbroadcast always sums axis 0: that is right for one axis in front (a bias under a "
            "batch), and for nothing else.",
            "unbroadcast 总是对轴 0 求和：只有前面恰好多一个轴时（如一批数据加偏置）才对。",
        ),
        Text(
            "Which axes were copied along follows from both shapes together.",
            "沿哪些轴拷贝过，要由两个形状共同决定。",
        ),
    ),
    Mutant(
        "unbroadcast.last-axis",
        """
def unbroadcast(gradient, shape):
    if gradient.shape == tuple(shape):
        return gradient
    return gradient.sum(axis=-1, keepdims=len(shape) == gradient.ndim)
""",
        Text(
            "unbroadcast always sums the last axis, whichever was copied along.",
            "unbroadcast 总是对最后一个轴求和，不管沿哪个轴拷贝过。",
        ),
        Text(
            "Which axes were copied along follows from both shapes together.",
            "沿哪些轴拷贝过，要由两个形状共同决定。",
        ),
    ),
    Mutant(
        "unbroadcast.wrong-axis",
        """
def unbroadcast(gradient, shape):
    aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    axes = tuple(i for i, n in enumerate(aligned) if n != 1)
    return gradient.sum(axis=axes, keepdims=len(shape) == gradient.ndim)
""",
        Text(
            "unbroadcast sums the axes that were there before and keeps the copies: it must be the "
            "other way round.",
            "unbroadcast 对原有的轴求了和，却保留了拷贝的轴：应当反过来。",
        ),
        Text(
            "Write shape under the shape of the gradient, from the right: at which axes do they "
            "differ?",
            "把 shape 从右边对齐写在梯度的形状下面：哪些轴的长度不同？",
        ),
    ),
    Mutant(
        "unbroadcast.by-length",
        """
import numpy as np


def unbroadcast(gradient, shape):
    axes = [i for i, n in enumerate(gradient.shape) if n not in shape]
    made = gradient.sum(axis=tuple(axes), keepdims=True)
    return made.reshape(shape) if made.size == np.prod(shape) else made
""",
        Text(
            "unbroadcast finds the axes by their lengths: where two axes are equally long, as in "
            "(4, 4), it cannot tell them apart and does not sum.",
            "unbroadcast 按长度寻找轴：两个轴一样长时（如 (4, 4)）它分不清，就没有求和。",
        ),
        Text(
            "What counts is where an axis stands, counted from the right.",
            "要看的是轴的位置，从右边数起。",
        ),
    ),
    Mutant(
        "unbroadcast.one-axis",
        """
def unbroadcast(gradient, shape):
    aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    axes = [i for i, n in enumerate(aligned) if n == 1 and gradient.shape[i] != 1]
    if not axes:
        return gradient
    made = gradient.sum(axis=axes[0], keepdims=True)
    return made.reshape(made.shape[gradient.ndim - len(shape) :]) if len(axes) == 1 else made
""",
        Text(
            "unbroadcast sums the first copied axis and stops: there may be several.",
            "unbroadcast 只对第一个拷贝的轴求和就停了：这样的轴可能有好几个。",
        ),
        Text(
            "Try shape (3, 1) under a gradient of shape (2, 3, 5).",
            "用形状 (3, 1) 和形状为 (2, 3, 5) 的梯度试一试。",
        ),
    ),
    Mutant(
        "unbroadcast.axes-move",
        """
def unbroadcast(gradient, shape):
    aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    for i, n in enumerate(aligned):
        if n == 1:
            gradient = gradient.sum(axis=i)
    return gradient.reshape(shape)
""",
        Text(
            "unbroadcast sums one axis after the other, and each sum takes an axis away: the "
            "numbers of those behind it are no longer right.",
            "unbroadcast 逐个对轴求和，而每次求和都去掉一个轴：后面各轴的编号就不对了。",
        ),
        Text(
            "After one axis is summed away, which number has the next one?",
            "去掉一个轴之后，下一个轴的编号是几？",
        ),
    ),
    Mutant(
        "unbroadcast.scalar-forgotten",
        """
def unbroadcast(gradient, shape):
    if not shape:
        return gradient
    aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    axes = tuple(i for i, n in enumerate(aligned) if n == 1)
    return gradient.sum(axis=axes).reshape(shape)
""",
        Text(
            "For the shape () unbroadcast returns the gradient as it came: () is the shape of a "
            "number, which was copied along every axis.",
            "形状为 () 时 unbroadcast 原样返回了梯度：() 是一个数的形状，它沿所有的轴都拷贝过。",
        ),
        Text(
            "An empty tuple is false in Python, but it is a shape.",
            "空元组在 Python 中为假，但它也是一个形状。",
        ),
    ),
    Mutant(
        "unbroadcast.in-place",
        """
import numpy as np


def unbroadcast(gradient, shape):
    aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    for i, n in enumerate(aligned):
        if n == 1 and gradient.shape[i] != 1:
            np.cumsum(gradient, axis=i, out=gradient)
            gradient = gradient.take([-1], axis=i)
    return gradient.reshape(shape).copy()
""",
        Text(
            "unbroadcast writes into the gradient that it was given: the other operand of the sum "
            "gets the same array.",
            "unbroadcast 写进了传入的梯度：加法的另一个操作数拿到的是同一个数组。",
        ),
        Text(
            "Which of your operations write into an array that is there already?",
            "你的哪些运算会写进已有的数组？",
        ),
    ),
    Mutant(
        "product.not-unbroadcast",
        """
def multiply_gradients(g, a, b):
    return g * b, g * a
""",
        Text(
            "Both gradients of a * b have the shape of the product: each must be brought back to "
            "the shape of its own operand.",
            "a * b 的两个梯度都是乘积的形状：各自都要变回自己操作数的形状。",
        ),
        Text("You have written the function for it.", "做这件事的函数你已经写好了。"),
    ),
    Mutant(
        "product.first-only",
        """
def multiply_gradients(g, a, b):
    return unbroadcast(g * b, a.shape), g * a
""",
        Text(
            "Only ∂L/∂a is brought back to its shape: b may have been broadcast as well.",
            "只有 ∂L/∂a 变回了原来的形状：b 也可能被广播过。",
        ),
        Text(
            "Either operand can be the smaller one, or both, as in (3, 1) times (1, 5).",
            "哪个操作数都可能较小，也可能两个都是，如 (3, 1) 乘 (1, 5)。",
        ),
    ),
    Mutant(
        "product.second-only",
        """
def multiply_gradients(g, a, b):
    return g * b, unbroadcast(g * a, b.shape)
""",
        Text(
            "Only ∂L/∂b is brought back to its shape: a may have been broadcast as well.",
            "只有 ∂L/∂b 变回了原来的形状：a 也可能被广播过。",
        ),
        Text(
            "Either operand can be the smaller one, or both, as in (3, 1) times (1, 5).",
            "哪个操作数都可能较小，也可能两个都是，如 (3, 1) 乘 (1, 5)。",
        ),
    ),
    Mutant(
        "product.summed-first",
        """
def multiply_gradients(g, a, b):
    return unbroadcast(g, a.shape) * b, unbroadcast(g, b.shape) * a
""",
        Text(
            "g is summed first and multiplied afterwards: each copy has a factor of its own, so "
            "the product comes first and the sum last.",
            "先对 g 求和、后相乘了：每份拷贝各有自己的因子，所以应当先乘，最后求和。",
        ),
        Text(
            "Write ∂L/∂a₁ for a of shape (3, 1) and b of shape (3, 5): a sum of five products.",
            "对形状 (3, 1) 的 a 和 (3, 5) 的 b 写出 ∂L/∂a₁：它是五个乘积之和。",
        ),
    ),
    Mutant(
        "product.own-factor",
        """
def multiply_gradients(g, a, b):
    return unbroadcast(g * a, a.shape), unbroadcast(g * b, b.shape)
""",
        Text(
            "A gradient of a * b holds its own operand as a factor: the slope along a is b, and "
            "along b it is a.",
            "a * b 的梯度中乘的是操作数自己：沿 a 的斜率是 b，沿 b 的斜率是 a。",
        ),
        Text(
            "If a grows by 1, by how much does a * b grow?",
            "a 增加 1，a * b 增加多少？",
        ),
    ),
    Mutant(
        "product.order",
        """
def multiply_gradients(g, a, b):
    return unbroadcast(g * a, b.shape), unbroadcast(g * b, a.shape)
""",
        Text(
            "A gradient of a * b stands in the place of the other: ∂L/∂a comes first, and ∂L/∂b "
            "second.",
            "a * b 的两个梯度中，有一个放在了另一个的位置上：∂L/∂a 在前，∂L/∂b 在后。",
        ),
        Text(
            "Which operand does the first gradient of the tuple belong to?",
            "元组中的第一个梯度属于哪个操作数？",
        ),
    ),
    Mutant(
        "product.shapes-swapped",
        """
def multiply_gradients(g, a, b):
    def back(gradient, shape):
        aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
        axes = tuple(i for i, n in enumerate(aligned) if n == 1)
        return gradient.sum(axis=axes).reshape(shape)

    return back(g * b, b.shape), back(g * a, a.shape)
""",
        Text(
            "The factors are right, but the shapes are swapped: ∂L/∂a has the shape of b.",
            "因子是对的，但形状写反了：∂L/∂a 用了 b 的形状。",
        ),
        Text(
            "Which shape must the gradient of a have?",
            "a 的梯度应当是什么形状？",
        ),
    ),
    Mutant(
        "product.factor-missing",
        """
def multiply_gradients(g, a, b):
    return unbroadcast(g, a.shape), unbroadcast(g, b.shape)
""",
        Text(
            "These are the gradients of a + b: in a product, g is multiplied by the other operand.",
            "这是 a + b 的梯度：对于乘积，g 还要乘以另一个操作数。",
        ),
        Text(
            "If a grows by 1, by how much does a * b grow?",
            "a 增加 1，a * b 增加多少？",
        ),
    ),
    Mutant(
        "product.upstream-ignored",
        """
import numpy as np


def multiply_gradients(g, a, b):
    ones = np.ones_like(g)
    return unbroadcast(ones * b, a.shape), unbroadcast(ones * a, b.shape)
""",
        Text(
            "Your gradients of a * b do not depend on g: the other operand is only the local "
            "slope.",
            "你算出的 a * b 的梯度与 g 无关：另一个操作数只是局部的斜率。",
        ),
        Text("What does the chain rule do with g?", "链式法则怎样用到 g？"),
    ),
    Mutant(
        "unbroadcast.reshaped",
        """
def unbroadcast(gradient, shape):
    return gradient.reshape(shape)
""",
        Text(
            "Where one axis was copied along, unbroadcast reshapes the gradient with all its "
            "entries, but there are more than fit: the copies must be summed first.",
            "沿一个轴拷贝过时，unbroadcast 直接把整个梯度 reshape 成目标形状，可元素比放得下的多："
            "要先把各份拷贝的梯度相加。",
        ),
        Text(
            "Which axes of the gradient stand for copies?",
            "梯度的哪些轴对应拷贝？",
        ),
    ),
    Mutant(
        "unbroadcast.broadcast-again",
        """
import numpy as np


def unbroadcast(gradient, shape):
    return np.broadcast_to(gradient, shape)
""",
        Text(
            "unbroadcast broadcasts once more: backward it goes from the large shape to the "
            "small one.",
            "unbroadcast 又广播了一次：反向时应当从大的形状变回小的形状。",
        ),
        Text(
            "What was copied forward. What happens to the copies' gradients?",
            "前向时拷贝了几份，各份的梯度该怎样处理？",
        ),
    ),
    Mutant(
        "unbroadcast.total",
        """
def unbroadcast(gradient, shape):
    return gradient.sum()
""",
        Text(
            "unbroadcast sums the whole gradient to a single number: only the axes that were "
            "copied along are summed.",
            "unbroadcast 把整个梯度加成了一个数：只应沿被拷贝的轴求和。",
        ),
        Text(
            "Which axes were copied along?",
            "拷贝是沿哪些轴进行的？",
        ),
    ),
    Mutant(
        "unbroadcast.axes-in-a-list",
        """
def unbroadcast(gradient, shape):
    aligned = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    axes = [i for i, n in enumerate(aligned) if n == 1]
    return gradient.sum(axis=axes).reshape(shape)
""",
        Text(
            "The axes come in a list: NumPy's sum wants a number or a tuple.",
            "轴放在了列表里：NumPy 的 sum 要的是一个数或元组。",
        ),
        Text(
            "How does Python turn a list into a tuple?",
            "Python 中怎样把列表变成元组？",
        ),
    ),
    Mutant(
        "product.both-factors",
        """
def multiply_gradients(g, a, b):
    return unbroadcast(g * a * b, a.shape), unbroadcast(g * a * b, b.shape)
""",
        Text(
            "g is multiplied by the whole product a * b: its value is not its slope.",
            "g 乘以了整个乘积 a * b：那是它的值，而不是斜率。",
        ),
        Text(
            "If a grows by 1, by how much does a * b grow?",
            "a 增加 1，a * b 增加多少？",
        ),
    ),
    Mutant(
        "product.in-place",
        """
def multiply_gradients(g, a, b):
    first = unbroadcast(g * b, a.shape)
    g *= a
    return first, unbroadcast(g, b.shape)
""",
        Text(
            "The gradients are right, but multiply_gradients writes g ⊙ a into g, which others may "
            "get too.",
            "梯度是对的，但 multiply_gradients 把 g ⊙ a 写进了 g，而别的规则也可能收到 g。",
        ),
        Text(
            "Operators such as *= write into the array on their left. Make a new array.",
            "*= 之类的运算会写进左边的数组。请新建一个数组。",
        ),
    ),
    Mutant(
        "product.upstream-overwritten",
        """
def multiply_gradients(g, a, b):
    g *= b
    return unbroadcast(g, a.shape), unbroadcast(g * a, b.shape)
""",
        Text(
            "multiply_gradients writes g ⊙ b into g, so ∂L/∂b has the factor b as well.",
            "multiply_gradients 把 g ⊙ b 写进了 g，于是 ∂L/∂b 也多了因子 b。",
        ),
        Text(
            "Operators such as *= write into the array on their left. What does g hold afterwards?",
            "*= 之类的运算会写进左边的数组。之后 g 里是什么？",
        ),
    ),
    Mutant(
        "product.summed-first-and-again",
        """
def multiply_gradients(g, a, b):
    first = unbroadcast(unbroadcast(g, a.shape) * b, a.shape)
    return first, unbroadcast(unbroadcast(g, b.shape) * a, b.shape)
""",
        Text(
            "g is summed before it is multiplied: each copy has a factor of its own, so the "
            "product comes first. Summing once more afterwards does not mend it.",
            "相乘之前先对 g 求和了：每份拷贝各有自己的因子，所以应当先乘。"
            "之后再求一次和也无法补救。",
        ),
        Text(
            "Write ∂L/∂a₁ for a of shape (3, 1) and b of shape (3, 5): a sum of five products.",
            "对形状 (3, 1) 的 a 和 (3, 5) 的 b 写出 ∂L/∂a₁：它是五个乘积之和。",
        ),
    ),
    *[
        Mutant(
            f"unbroadcast.by-length-{name}",
            f"""
def unbroadcast(gradient, shape):
    axes = tuple(i for i, n in enumerate(gradient.shape) if n not in shape)
    return gradient.sum(axis=axes{end}
""",
            Text(
                "unbroadcast finds the axes by their lengths: where two axes are equally long, as "
                "in (4, 4), it cannot tell them apart and does not sum.",
                "unbroadcast 按长度寻找轴：两个轴一样长时（如 (4, 4)）它分不清，就没有求和。",
            ),
            Text(
                "What counts is where an axis stands, counted from the right.",
                "要看的是轴的位置，从右边数起。",
            ),
        )
        for name, end in (
            ("reshaped", ").reshape(shape)"),
            ("kept", ", keepdims=True)"),
            ("dropped", ")"),
        )
    ],
    Mutant(
        "unbroadcast.first-of-a-length",
        """
def unbroadcast(gradient, shape):
    kept = [gradient.shape.index(n) for n in shape if n != 1]
    axes = tuple(i for i in range(gradient.ndim) if i not in kept)
    return gradient.sum(axis=axes).reshape(shape)
""",
        Text(
            "unbroadcast finds the axes by their lengths: where two axes are equally long, as in "
            "(4, 4), it always keeps the first of them.",
            "unbroadcast 按长度寻找轴：两个轴一样长时（如 (4, 4)），它总是保留前一个。",
        ),
        Text(
            "What counts is where an axis stands, counted from the right.",
            "要看的是轴的位置，从右边数起。",
        ),
    ),
    *[
        Mutant(
            f"unbroadcast.first-axis-{name}",
            f"""
def unbroadcast(gradient, shape):
    return gradient if gradient.shape == tuple(shape) else gradient.sum(axis=0{end}
""",
            Text(
                "unbroadcast always sums axis 0, whichever was copied along.",
                "unbroadcast 总是对轴 0 求和，不管沿哪个轴拷贝过。",
            ),
            Text(
                "Which axes were copied along follows from both shapes together.",
                "沿哪些轴拷贝过，要由两个形状共同决定。",
            ),
        )
        for name, end in (("reshaped", ").reshape(shape)"), ("kept", ", keepdims=True)"))
    ],
    Mutant(
        "unbroadcast.from-the-left-reshaped",
        """
def unbroadcast(gradient, shape):
    aligned = tuple(shape) + (1,) * (gradient.ndim - len(shape))
    axes = tuple(i for i, n in enumerate(aligned) if n == 1)
    return gradient.sum(axis=axes).reshape(shape)
""",
        Text(
            "unbroadcast lines the shapes up from the left, so it sums the wrong axes: NumPy lines "
            "them up from the right.",
            "unbroadcast 从左边对齐形状，于是对错误的轴求了和：NumPy 是从右边对齐的。",
        ),
        Text(
            "Write (3, 5) and (5,) one below the other. Which 5 is which?",
            "把 (3, 5) 与 (5,) 上下对齐写出来。哪个 5 对应哪个？",
        ),
    ),
    Mutant(
        "unbroadcast.zipped",
        """
def unbroadcast(gradient, shape):
    for i, (large, small) in enumerate(zip(gradient.shape, shape)):
        if large != small:
            gradient = gradient.sum(axis=i, keepdims=True)
    return gradient
""",
        Text(
            "unbroadcast compares the shapes from the left and keeps every axis: NumPy lines them "
            "up from the right, and axes that were put in front must go away.",
            "unbroadcast 从左边比较两个形状，又保留了每个轴：NumPy 是从右边对齐的，"
            "前面新增的轴应当去掉。",
        ),
        Text(
            "Write (3, 5) and (5,) one below the other. Which 5 is which?",
            "把 (3, 5) 与 (5,) 上下对齐写出来。哪个 5 对应哪个？",
        ),
    ),
]
