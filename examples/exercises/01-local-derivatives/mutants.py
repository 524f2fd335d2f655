"""The classic mistakes of exercise 1."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    Mutant(
        "tanh.upstream-ignored",
        """
def tanh_gradient(g, out):
    return 1 - out * out
""",
        Text(
            "tanh_gradient returns the slope 1 − out² itself: it does not depend on g, so nothing "
            "of what comes after tanh gets through.",
            "tanh_gradient 返回的只是斜率 1 − out²：它与 g 无关，tanh 之后的一切都传不回来。",
        ),
        Text(
            "A slope is only the local half of the chain rule. What is the other half?",
            "斜率只是链式法则中局部的那一半。另一半是什么？",
        ),
    ),
    Mutant(
        "tanh.local-missing",
        """
def tanh_gradient(g, out):
    return g * 1.0
""",
        Text(
            "tanh_gradient hands g on unchanged: the slope of tanh is missing, as if tanh were x.",
            "tanh_gradient 原样传下了 g：少了 tanh 的斜率，好像 tanh(x) 就是 x。",
        ),
        Text(
            "How much does tanh(x) change if x grows by a little? Multiply by that.",
            "x 增加一点点，tanh(x) 变化多少？要乘以这个比率。",
        ),
    ),
    Mutant(
        "tanh.added",
        """
def tanh_gradient(g, out):
    return g + (1 - out * out)
""",
        Text(
            "tanh_gradient adds the slope to g: the chain rule multiplies them.",
            "tanh_gradient 把斜率加到了 g 上：链式法则是把二者相乘。",
        ),
        Text(
            "If the upstream gradient is 0, what must arrive at x?",
            "如果上游梯度是 0，传到 x 的应当是多少？",
        ),
    ),
    Mutant(
        "tanh.parentheses",
        """
def tanh_gradient(g, out):
    return g * 1 - out * out
""",
        Text(
            "tanh_gradient computes g − out²: without parentheses g multiplies only the 1.",
            "tanh_gradient 算的是 g − out²：没有括号，g 只乘到了 1 上。",
        ),
        Text(
            "In Python * binds tighter than −. Which part must g multiply?",
            "在 Python 中 * 比 − 优先。g 应当乘以哪一部分？",
        ),
    ),
    Mutant(
        "tanh.input",
        """
def tanh_gradient(g, x):
    return g * (1 - x * x)
""",
        Text(
            "tanh_gradient uses 1 − x²: the slope is 1 minus the square of the result tanh(x), not "
            "of the input.",
            "tanh_gradient 用了 1 − x²：斜率是 1 减去结果 tanh(x) 的平方，而不是输入的平方。",
        ),
        Text(
            "At x = 3 the slope of tanh is nearly 0. What does your formula give there?",
            "x = 3 处 tanh 的斜率几乎为 0。你的公式在那里给出多少？",
        ),
    ),
    Mutant(
        "tanh.applied-twice",
        """
def tanh_gradient(g, out):
    return g * (1 - np.tanh(out) ** 2)
""",
        Text(
            "Your gradient is the slope of tanh at out, as if tanh were taken of it once more; but "
            "out is tanh(x) already.",
            "你得到的是 tanh 在 out 处的斜率，相当于对 out 又取了一次 tanh；而 out 已经是 "
            "tanh(x)。",
        ),
        Text(
            "out is what the forward returned. What of 1 − tanh(x)² does it stand for?",
            "out 是前向的返回值。在 1 − tanh(x)² 中，它就是哪一部分？",
        ),
    ),
    Mutant(
        "tanh.sign",
        """
def tanh_gradient(g, out):
    return g * (1 + out * out)
""",
        Text(
            "tanh_gradient uses 1 + out²: tanh gets flatter towards its ends, so the square is "
            "taken away.",
            "tanh_gradient 用了 1 + out²：tanh 越往两端越平，所以应当减去平方。",
        ),
        Text(
            "Where is tanh steepest, at 0 or far out? Compare your slope there.",
            "tanh 在哪里最陡，是 0 处还是远处？比较一下你的斜率。",
        ),
    ),
    Mutant(
        "tanh.not-squared",
        """
def tanh_gradient(g, out):
    return g * (1 - out)
""",
        Text(
            "tanh_gradient uses 1 − out: the square is missing, so x and −x get different slopes "
            "although tanh is equally steep at both.",
            "tanh_gradient 用了 1 − out：少了平方，于是 x 和 −x 处斜率不同，而 tanh 在两处一样陡。",
        ),
        Text(
            "Differentiate sinh(x) / cosh(x) with the quotient rule, and look at the powers.",
            "用商的求导法则对 sinh(x) / cosh(x) 求导，留意各项的幂次。",
        ),
    ),
    Mutant(
        "tanh.square-of-difference",
        """
def tanh_gradient(g, out):
    return g * (1 - out) ** 2
""",
        Text(
            "tanh_gradient squares the difference, (1 − out)²: only out is squared.",
            "tanh_gradient 把整个差平方了，(1 − out)²：只有 out 需要平方。",
        ),
        Text(
            "(1 − t)² and 1 − t² differ. Try both at t = −1, where tanh is flat.",
            "(1 − t)² 与 1 − t² 不同。在 t = −1 处（tanh 是平的）把两者都试一下。",
        ),
    ),
    Mutant(
        "tanh.sigmoid",
        """
def tanh_gradient(g, out):
    return g * out * (1 - out)
""",
        Text(
            "out (1 − out) is the slope of the sigmoid: tanh has another one, 1 at x = 0.",
            "out (1 − out) 是 sigmoid 的斜率：tanh 的斜率不同，在 x = 0 处为 1。",
        ),
        Text(
            "tanh(x) is close to x near 0. Which slope must come out there?",
            "在 0 附近 tanh(x) 接近 x。那里的斜率应当是多少？",
        ),
    ),
    Mutant(
        "tanh.value",
        """
def tanh_gradient(g, out):
    return g * out
""",
        Text(
            "tanh_gradient multiplies g by the value of tanh: it must be multiplied by the slope.",
            "tanh_gradient 用 g 乘了 tanh 的值：应当乘的是斜率。",
        ),
        Text(
            "Only for eˣ are value and slope the same. What is the slope of tanh?",
            "只有 eˣ 的值与斜率相同。tanh 的斜率是什么？",
        ),
    ),
    Mutant(
        "tanh.in-place",
        """
def tanh_gradient(g, out):
    g *= 1 - out * out
    return g
""",
        Text(
            "tanh_gradient overwrites g: other rules may get the same array, and would find it "
            "changed.",
            "tanh_gradient 改写了 g：别的规则可能收到同一个数组，会发现它被改动了。",
        ),
        Text(
            "Operators such as *= write into the array on their left. Make a new array.",
            "*= 之类的运算会写进左边的数组。请新建一个数组。",
        ),
    ),
    Mutant(
        "tanh.result-overwritten",
        """
def tanh_gradient(g, out):
    out *= out
    return g * (1 - out)
""",
        Text(
            "tanh_gradient writes into out: the result of the forward is gone, and a second "
            "backward would be wrong.",
            "tanh_gradient 改写了 out：前向的结果没有了，再做一次反向就会出错。",
        ),
        Text(
            "out belongs to the graph. Read it, and write into something new.",
            "out 属于计算图。只读取它，把结果写到新数组里。",
        ),
    ),
    Mutant(
        "tanh.recomputed",
        """
def tanh_gradient(g, x):
    return g * (1 - np.tanh(x) ** 2)
""",
        Text(
            "Your gradient is right, but it starts from x again: the result tanh(x) was saved, so "
            "the rule need not keep x.",
            "梯度是对的，但又从 x 算起：结果 tanh(x) 已经保存，规则不必再留着 x。",
        ),
        Text(
            "What must the parameter of a rule be called so that it gets the result and not the "
            "input?",
            "规则的参数叫什么名字，得到的才是前向的结果而不是输入？",
        ),
    ),
    Mutant(
        "tanh.cosh",
        """
def tanh_gradient(g, x):
    return g / np.cosh(x) ** 2
""",
        Text(
            "1 / cosh²(x) is the right slope, but it needs x again, and cosh overflows for large "
            "x; the saved result gives the same without both.",
            "1 / cosh²(x) 确实是斜率，但又要用到 x，而且 x 大时 cosh 会溢出；"
            "用保存的结果则没有这些问题。",
        ),
        Text(
            "cosh² − sinh² = 1. Divide by cosh² and find tanh in it.",
            "cosh² − sinh² = 1。两边除以 cosh²，从中找出 tanh。",
        ),
    ),
    Mutant(
        "tanh.exponentials",
        """
def tanh(x):
    return (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))
""",
        Text(
            "tanh is computed as (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ): eˣ overflows for large x, and ∞ / ∞ is "
            "NaN.",
            "tanh 是按 (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ) 计算的：x 大时 eˣ 溢出，∞ / ∞ 就成了 NaN。",
        ),
        Text(
            "Which function of NumPy does this without overflowing?",
            "NumPy 里哪个现成的函数不会溢出？",
        ),
    ),
    Mutant(
        "power.upstream-ignored",
        """
def power_gradient(g, x, *, n):
    return n * x ** (n - 1)
""",
        Text(
            "power_gradient returns the slope n xⁿ⁻¹ itself: it does not depend on g.",
            "power_gradient 返回的只是斜率 n xⁿ⁻¹：它与 g 无关。",
        ),
        Text(
            "The textbook's derivative is the local half. What does the chain rule do with g?",
            "课本上的导数只是局部的那一半。链式法则怎样用到 g？",
        ),
    ),
    Mutant(
        "power.local-missing",
        """
def power_gradient(g, x, *, n):
    return g * 1.0
""",
        Text(
            "power_gradient hands g on unchanged: the slope of xⁿ is missing.",
            "power_gradient 原样传下了 g：少了 xⁿ 的斜率。",
        ),
        Text("What is the derivative of xⁿ? Multiply by it.", "xⁿ 的导数是什么？要乘以它。"),
    ),
    Mutant(
        "power.added",
        """
def power_gradient(g, x, *, n):
    return g + n * x ** (n - 1)
""",
        Text(
            "power_gradient adds the slope to g: the chain rule multiplies them.",
            "power_gradient 把斜率加到了 g 上：链式法则是把二者相乘。",
        ),
        Text(
            "If the upstream gradient is 0, what must arrive at x?",
            "如果上游梯度是 0，传到 x 的应当是多少？",
        ),
    ),
    Mutant(
        "power.factor",
        """
def power_gradient(g, x, *, n):
    return g * x ** (n - 1)
""",
        Text(
            "Your gradient of power is exactly 1/n of the right one: the exponent also comes down "
            "as a factor.",
            "power 的梯度恰好是正确值的 1/n：指数还要作为因子乘到前面来。",
        ),
        Text(
            "x³ = x · x · x: the product rule gives one term for each factor. How many?",
            "x³ = x · x · x：积的求导法则对每个因子给出一项。一共几项？",
        ),
    ),
    Mutant(
        "power.exponent",
        """
def power_gradient(g, x, *, n):
    return g * n * x**n
""",
        Text(
            "Your gradient of power is x times the right one: the exponent is not lowered by 1.",
            "power 的梯度是正确值的 x 倍：指数没有减 1。",
        ),
        Text(
            "The slope of x² is a straight line. Which power of x is that?",
            "x² 的斜率是一条直线。那是 x 的几次方？",
        ),
    ),
    Mutant(
        "power.raised",
        """
def power_gradient(g, x, *, n):
    return g * n * x ** (n + 1)
""",
        Text(
            "Your gradient of power is x² times the right one: the exponent went up by 1, and must "
            "go down.",
            "power 的梯度是正确值的 x² 倍：指数加了 1，而应当减 1。",
        ),
        Text(
            "Differentiating takes one factor x away. Which way does the exponent go?",
            "求导会去掉一个因子 x。指数应当往哪个方向变？",
        ),
    ),
    Mutant(
        "power.lowered-factor",
        """
def power_gradient(g, x, *, n):
    return g * (n - 1) * x ** (n - 1)
""",
        Text(
            "The factor in your gradient of power is n − 1: it is the exponent before it was "
            "lowered.",
            "power 的梯度中因子是 n − 1：它应当是减 1 之前的指数。",
        ),
        Text(
            "Try n = 1: the slope of x is 1 everywhere. What does yours give?",
            "取 n = 1：x 的斜率处处为 1。你的公式给出多少？",
        ),
    ),
    Mutant(
        "power.parentheses",
        """
def power_gradient(g, x, *, n):
    return g * n * x**n - 1
""",
        Text(
            "power_gradient takes 1 off at the end, g n xⁿ − 1: the exponent n − 1 needs "
            "parentheses.",
            "power_gradient 最后减去了 1，即 g n xⁿ − 1：指数 n − 1 需要括号。",
        ),
        Text(
            "In Python ** binds tighter than −.",
            "在 Python 中 ** 比 − 优先。",
        ),
    ),
    Mutant(
        "power.exponential",
        """
def power_gradient(g, x, *, n):
    return g * x**n * np.log(x)
""",
        Text(
            "xⁿ ln x is the derivative by the exponent n: here x varies, and n is a fixed number.",
            "xⁿ ln x 是对指数 n 的导数：这里变的是 x，n 是固定的数。",
        ),
        Text(
            "Which of the two is the tensor, and which is an option?",
            "二者之中哪个是张量，哪个只是选项？",
        ),
    ),
    Mutant(
        "power.integral",
        """
def power_gradient(g, x, *, n):
    return g * x ** (n + 1) / (n + 1)
""",
        Text(
            "xⁿ⁺¹ / (n + 1) is the integral of xⁿ: the gradient needs the derivative.",
            "xⁿ⁺¹ / (n + 1) 是 xⁿ 的积分：梯度需要的是导数。",
        ),
        Text(
            "Differentiate what you have: you get the forward function back.",
            "对你写的式子求导，会得到前向函数本身。",
        ),
    ),
    Mutant(
        "power.only-squares",
        """
def power_gradient(g, x, *, n):
    return g * 2 * x
""",
        Text(
            "power_gradient gives 2x whatever n is: it is right for squares only.",
            "power_gradient 不论 n 是几都用 2x：只对平方是对的。",
        ),
        Text("Your rule gets n. Where must it appear?", "规则拿得到 n。它应当出现在哪里？"),
    ),
    Mutant(
        "power.value",
        """
def power_gradient(g, out):
    return g * out
""",
        Text(
            "power_gradient multiplies g by the value xⁿ: it must be multiplied by the slope.",
            "power_gradient 用 g 乘了 xⁿ 的值：应当乘的是斜率。",
        ),
        Text(
            "The value says how large the result is, the slope how fast it changes.",
            "值说的是结果有多大，斜率说的是它变化得多快。",
        ),
    ),
    Mutant(
        "power.zero-by-zero",
        """
def power_gradient(g, x, out, *, n):
    return g * n * out / x
""",
        Text(
            "n xⁿ / x is the slope everywhere but at x = 0: there it is 0 / 0, which is NaN.",
            "n xⁿ / x 在 x = 0 以外都是斜率：在 x = 0 处却是 0 / 0，得到 NaN。",
        ),
        Text(
            "Can the exponent be lowered without dividing by x?",
            "不除以 x，能不能让指数降 1？",
        ),
    ),
    Mutant(
        "power.in-place",
        """
def power_gradient(g, x, *, n):
    g *= n * x ** (n - 1)
    return g
""",
        Text(
            "power_gradient overwrites g: other rules may get the same array, and would find it "
            "changed.",
            "power_gradient 改写了 g：别的规则可能收到同一个数组，会发现它被改动了。",
        ),
        Text(
            "Operators such as *= write into the array on their left. Make a new array.",
            "*= 之类的运算会写进左边的数组。请新建一个数组。",
        ),
    ),
    Mutant(
        "power.product",
        """
def power(x, n):
    return x * n
""",
        Text(
            "power multiplies x by n: xⁿ is a product of n factors x, in Python x ** n.",
            "power 把 x 乘以了 n：xⁿ 是 n 个 x 相乘，在 Python 中写作 x ** n。",
        ),
        Text("What is 2 to the power 3?", "2 的 3 次方是多少？"),
    ),
    Mutant(
        "power.swapped",
        """
def power(x, n):
    return n**x
""",
        Text(
            "power computes nˣ: base and exponent are swapped.",
            "power 算的是 nˣ：底数和指数写反了。",
        ),
        Text(
            "2 to the power 3 is 8, and 3 to the power 2 is 9.",
            "2 的 3 次方是 8，3 的 2 次方是 9。",
        ),
    ),
    Mutant(
        "tanh.divided",
        """
def tanh_gradient(g, out):
    return g / (1 - out * out)
""",
        Text(
            "tanh_gradient divides by the slope: that is the slope of the inverse function, "
            "artanh.",
            "tanh_gradient 除以了斜率：那是反函数 artanh 的斜率。",
        ),
        Text(
            "Where tanh is flat, must ∂L/∂x be large or small?",
            "tanh 平坦的地方，∂L/∂x 应当大还是小？",
        ),
    ),
    Mutant(
        "tanh.forward-sigmoid",
        """
def tanh(x):
    return 1 / (1 + np.exp(-x))
""",
        Text(
            "This is the sigmoid, from 0 to 1: tanh goes from −1 to 1.",
            "这是 sigmoid，取值从 0 到 1：tanh 的取值从 −1 到 1。",
        ),
        Text(
            "What is tanh(0)?",
            "tanh(0) 是多少？",
        ),
    ),
    Mutant(
        "tanh.exponential-of-2x",
        """
def tanh(x):
    return (np.exp(2 * x) - 1) / (np.exp(2 * x) + 1)
""",
        Text(
            "tanh is computed from e²ˣ, which overflows for large x: ∞ / ∞ is NaN.",
            "tanh 是用 e²ˣ 计算的，x 很大时会溢出：∞ / ∞ 就成了 NaN。",
        ),
        Text(
            "Which function of NumPy does this for you?",
            "NumPy 里哪个函数可以直接算？",
        ),
    ),
    Mutant(
        "tanh.exponential-of-minus-2x",
        """
def tanh(x):
    return (1 - np.exp(-2 * x)) / (1 + np.exp(-2 * x))
""",
        Text(
            "tanh is computed from e⁻²ˣ, which overflows for large negative x: ∞ / ∞ is NaN.",
            "tanh 是用 e⁻²ˣ 计算的，x 是绝对值很大的负数时会溢出：∞ / ∞ 就成了 NaN。",
        ),
        Text(
            "Which function of NumPy does this for you?",
            "NumPy 里哪个函数可以直接算？",
        ),
    ),
    Mutant(
        "tanh.exponential-warns",
        """
def tanh(x):
    return 2 / (1 + np.exp(-2 * x)) - 1
""",
        Text(
            "The values are right, but an exponential overflows to ∞ on the way, and NumPy warns.",
            "值是对的，但中途有指数溢出成了 ∞，NumPy 因此发出警告。",
        ),
        Text(
            "Which function of NumPy does this for you?",
            "NumPy 里哪个函数可以直接算？",
        ),
    ),
    Mutant(
        "tanh.of-one-number",
        """
import math


def tanh(x):
    return math.tanh(x)
""",
        Text(
            "math.tanh takes a single number, and x is an array.",
            "math.tanh 只接受单个数，而 x 是数组。",
        ),
        Text(
            "Which library has functions of whole arrays?",
            "哪个库的函数可以作用于整个数组？",
        ),
    ),
    Mutant(
        "power.forward-exponent-cut",
        """
def power(x, n):
    return x ** int(n)
""",
        Text(
            "power cuts the exponent down to a whole number: n = 2.5 becomes 2.",
            "power 把指数截成了整数：n = 2.5 变成了 2。",
        ),
        Text(
            "Does ** need a whole exponent?",
            "** 的指数必须是整数吗？",
        ),
    ),
    Mutant(
        "power.exponent-cut",
        """
def power_gradient(g, x, *, n):
    return g * n * x ** int(n - 1)
""",
        Text(
            "power_gradient cuts the exponent down to a whole number: 1.5 becomes 1.",
            "power_gradient 把指数截成了整数：1.5 变成了 1。",
        ),
        Text(
            "Does ** need a whole exponent?",
            "** 的指数必须是整数吗？",
        ),
    ),
    Mutant(
        "power.loop",
        """
def power(x, n):
    out = 1.0
    for _ in range(n):
        out = out * x
    return out
""",
        Text(
            "A loop multiplies n times, but n need not be a whole number.",
            "用循环乘 n 次，但 n 不一定是整数。",
        ),
        Text(
            "Which operator takes any exponent?",
            "哪个运算符可以用任意指数？",
        ),
    ),
    Mutant(
        "power.through-logarithm",
        """
def power(x, n):
    return np.exp(n * np.log(x))
""",
        Text(
            "exp(n log x) is xⁿ only where x is positive: the logarithm of a negative number is "
            "NaN.",
            "exp(n log x) 只在 x 为正时等于 xⁿ：负数的对数是 NaN。",
        ),
        Text(
            "Which operator of Python does it directly?",
            "Python 的哪个运算符可以直接计算？",
        ),
    ),
    Mutant(
        "power.exclusive-or",
        """
def power(x, n):
    return x ^ n
""",
        Text(
            "In Python ^ is not a power: it combines the bits of whole numbers.",
            "在 Python 中 ^ 不是乘方，而是对整数按位异或。",
        ),
        Text(
            "How does Python write a power?",
            "Python 中乘方怎么写？",
        ),
    ),
    Mutant(
        "power.second-derivative",
        """
def power_gradient(g, x, *, n):
    return g * n * (n - 1) * x ** (n - 2)
""",
        Text(
            "n (n − 1) xⁿ⁻² is the second derivative: the gradient needs the first.",
            "n (n − 1) xⁿ⁻² 是二阶导数：梯度只需要一阶导数。",
        ),
        Text(
            "How often did the exponent come down?",
            "指数一共降了几次？",
        ),
    ),
    Mutant(
        "power.first-power",
        """
def power_gradient(g, x, *, n):
    return g * n * x
""",
        Text(
            "power_gradient has x to the first power whatever n is: it is right for squares only.",
            "不论 n 是几，power_gradient 中 x 都是一次方：只对平方是对的。",
        ),
        Text(
            "The slope of x³ is a parabola. Which power of x is that?",
            "x³ 的斜率是一条抛物线。那是 x 的几次方？",
        ),
    ),
]
