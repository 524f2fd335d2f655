"""The classic mistakes of exercise 11."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    Mutant(
        "mask.strict",
        """
def causal_mask(n_query, n_key):
    return np.tri(n_query, n_key, -1, dtype=bool)
""",
        Text(
            "Your mask ends one diagonal too early: a query may attend to its own position too, "
            "and query 0 to nothing else.",
            "你的掩码少了一条对角线：查询也可以看自己的位置，查询 0 只能看这里。",
        ),
        Text("Is key i allowed for query i?", "查询 i 能否看键 i？"),
    ),
    Mutant(
        "mask.next",
        """
def causal_mask(n_query, n_key):
    return np.tri(n_query, n_key, 1, dtype=bool)
""",
        Text(
            "Your mask ends one diagonal too late: each query sees the next position, which is "
            "just what it is to predict.",
            "你的掩码多了一条对角线：每个查询看到了下一个位置，而那正是它要预测的。",
        ),
        Text("Which is the last key for query 0?", "查询 0 能看的最后一个键是哪个？"),
    ),
    Mutant(
        "mask.upper",
        """
def causal_mask(n_query, n_key):
    return np.triu(np.ones((n_query, n_key), dtype=bool))
""",
        Text(
            "This is the upper triangle, the future: rows are queries, and query i sees the "
            "columns 0 … i.",
            "这是上三角，即未来：行是查询，查询 i 看到的是第 0 … i 列。",
        ),
        Text("Write down row 0 of the mask.", "写出掩码的第 0 行。"),
    ),
    Mutant(
        "mask.inverted",
        """
def causal_mask(n_query, n_key):
    return ~np.tri(n_query, n_key, dtype=bool)
""",
        Text(
            "Your mask is True where a query must not look; here True means that it may.",
            "你的掩码在不能看的地方为 True；这里 True 表示可以看。",
        ),
        Text(
            "What does True mean on this page?",
            "页面上 True 表示什么？",
        ),
    ),
    Mutant(
        "mask.lengths-swapped",
        """
def causal_mask(n_query, n_key):
    return np.tri(n_key, n_query, dtype=bool)
""",
        Text(
            "The lengths have changed places: rows are queries, columns are keys.",
            "两个长度互换了：行是查询，列是键。",
        ),
        Text("The shape is that of the scores, (L, S).", "形状与分数相同，为 (L, S)。"),
    ),
    Mutant(
        "mask.square",
        """
def causal_mask(n_query, n_key):
    return np.tri(n_query, dtype=bool)
""",
        Text(
            "Your mask is always a square of the number of queries; there may be more or fewer "
            "keys.",
            "你的掩码总是以查询个数为边长的方阵；而键可能更多，也可能更少。",
        ),
        Text("What becomes of n_key?", "n_key 用在哪里了？"),
    ),
    Mutant(
        "mask.bottom-right",
        """
def causal_mask(n_query, n_key):
    return np.tri(n_query, n_key, n_key - n_query, dtype=bool)
""",
        Text(
            "Your mask is aligned with the last key: query 0 sees S − L keys more than it may. "
            "Here positions are counted from the first one.",
            "你的掩码以最后一个键对齐：查询 0 多看（或少看）了 S − L 个键。"
            "这里的位置都从第一个数起。",
        ),
        Text("Query 0 and key 0 stand at the same position.", "查询 0 与键 0 处于同一位置。"),
    ),
    Mutant(
        "mask.symmetric",
        """
def causal_mask(n_query, n_key):
    return np.ones((n_query, n_key), dtype=bool)
""",
        Text("Your mask allows everything, the future too.", "你的掩码什么都允许，包括未来。"),
        Text("Which keys come later than query i?", "哪些键在查询 i 之后？"),
    ),
    Mutant(
        "mask.diagonal",
        """
def causal_mask(n_query, n_key):
    return np.eye(n_query, n_key, dtype=bool)
""",
        Text(
            "Each query sees only its own position; it may see all that came before, too.",
            "每个查询只看到自己的位置；它也可以看之前的所有位置。",
        ),
        Text("How many keys may query 2 attend to?", "查询 2 可以看几个键？"),
    ),
    Mutant(
        "mask.numbers",
        """
def causal_mask(n_query, n_key):
    return np.tril(np.ones((n_query, n_key)))
""",
        Text(
            "Your mask has the right entries, but as floats, and not as booleans: ~ is not defined "
            "for them.",
            "你的掩码元素正确，但它是浮点数而不是布尔值：浮点数不能取反（~）。",
        ),
        Text(
            "Which dtype answers a question with yes or no?",
            "回答“是或否”的 dtype 是哪种？",
        ),
    ),
    Mutant(
        "mask.integers",
        """
def causal_mask(n_query, n_key):
    return np.tri(n_query, n_key, dtype=int)
""",
        Text(
            "Your mask has the right entries, but as integers: ~1 is −2 and counts as True, so the "
            "mask turns around to nothing.",
            "你的掩码元素正确，但它是整数：~1 等于 −2，也算 True，取反就失效了。",
        ),
        Text(
            "Which dtype answers a question with yes or no?",
            "回答“是或否”的 dtype 是哪种？",
        ),
    ),
    Mutant(
        "mask.fill-inverted",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, mask, -np.inf))
    return weights @ value, weights
""",
        Text(
            "You fill with −∞ where the mask is True, that is where a query may look: it sees the "
            "future alone.",
            "你在掩码为 True 处填了 −∞，而那正是可以看的地方：它只看到了未来。",
        ),
        Text(
            "Where does masked_fill fill, and where must it?",
            "masked_fill 在哪里填充？应当在哪里填充？",
        ),
    ),
    Mutant(
        "mask.ignored",
        """
def masked_attention(scores, value, mask):
    weights = softmax(scores)
    return weights @ value, weights
""",
        Text(
            "The mask has no effect: every query sees every key.",
            "掩码没有起作用：每个查询都看到所有键。",
        ),
        Text("What enters your softmax?", "进入 softmax 的是什么？"),
    ),
    Mutant(
        "mask.after-softmax",
        """
def masked_attention(scores, value, mask):
    weights = masked_fill(softmax(scores), ~mask, 0.0)
    return weights @ value, weights
""",
        Text(
            "You mask behind the softmax: the future is still in the sum below the fraction, and "
            "the weights of a row do not sum to 1.",
            "你在 softmax 之后才遮：未来仍留在分母的和里，每行权重之和也不是 1。",
        ),
        Text("What does the softmax divide by?", "softmax 除以的是什么？"),
    ),
    Mutant(
        "mask.renormalised",
        """
def masked_attention(scores, value, mask):
    weights = masked_fill(softmax(scores), ~mask, 0.0)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ value, weights
""",
        Text(
            "You mask behind the softmax and divide by the sum again: on paper that is the same, "
            "but beside a masked score of 10⁶ all others are 0, and 0/0 is NaN.",
            "你在 softmax 之后才遮，再除以和：纸面上等价，但旁边若有被遮住的 10⁶，其余权重都成了 "
            "0，0/0 为 NaN。",
        ),
        Text(
            "Beside a masked score of 10⁶, how large are the other weights before you divide?",
            "旁边若有被遮住的 10⁶，相除之前其余的权重有多大？",
        ),
    ),
    Mutant(
        "mask.fill-minus-ten",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -10.0))
    return weights @ value, weights
""",
        Text(
            "A fill of −10 leaks: e⁻¹⁰ is 0.00005 and not 0.",
            "填 −10 会泄漏：e⁻¹⁰ 约为 0.00005，而不是 0。",
        ),
        Text("For which number is the exponential exactly 0?", "哪个数的指数恰为 0？"),
    ),
    Mutant(
        "mask.fill-zero",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -1e-9))
    return weights @ value, weights
""",
        Text(
            "Your masked scores are 0, or next to it as −1e-9 is, and 0 is a score like any other: "
            "masked keys get e⁰ = 1.",
            "被遮住的分数成了 0，或像 −1e-9 那样几乎为 0；而 0 分与其他分数无异：被遮住的键得到 "
            "e⁰ = 1。",
        ),
        Text(
            "For which score is the weight exactly 0?",
            "分数为多少时，权重恰为 0？",
        ),
    ),
    Mutant(
        "mask.added",
        """
def masked_attention(scores, value, mask):
    weights = softmax(scores + mask)
    return weights @ value, weights
""",
        Text(
            "You add the boolean mask: what may be seen gets 1 more, and nothing is hidden.",
            "你把布尔掩码加到了分数上：可见的分数只多了 1，什么也没有遮住。",
        ),
        Text(
            "Which number must be added to a score so that its weight becomes exactly 0?",
            "给分数加上哪个数，才能让它的权重恰好为 0？",
        ),
    ),
    Mutant(
        "mask.fill-hundred",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -100.0))
    return weights @ value, weights
""",
        Text(
            "A finite fill is low only beside scores that are higher: where those are −10⁶, the "
            "masked keys win.",
            "填入的有限数，只有在其他分数更高时才算低：若它们是 −10⁶，被遮住的键反而胜出。",
        ),
        Text("Which number is below all others?", "哪个数比所有数都小？"),
    ),
    Mutant(
        "mask.thousands-subtracted",
        """
def masked_attention(scores, value, mask):
    weights = softmax(scores - 1e4 * ~mask)
    return weights @ value, weights
""",
        Text(
            "What you take off the masked scores is not enough: a masked score of 10⁶ still stands "
            "above the others.",
            "从被遮住的分数中减去的数不够大：被遮住的 10⁶ 仍高于其他分数。",
        ),
        Text(
            "Which number may a score be, so that its weight is 0 whatever it was before?",
            "不管原来是多少，分数变成哪个数，权重才一定为 0？",
        ),
    ),
    Mutant(
        "mask.finite-fill",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -1e9))
    return weights @ value, weights
""",
        Text(
            "A query that may attend to nothing gets the same weight everywhere, the future "
            "included: that is what a large finite fill does to a whole row.",
            "什么都不能看的查询，对所有键（包括未来）的权重都相同："
            "整行填同一个很大的有限数就会这样。",
        ),
        Text(
            "minigrad's softmax gives weights of 0 to a row of −∞.",
            "minigrad 的 softmax 对一行 −∞ 给出权重 0。",
        ),
    ),
    Mutant(
        "mask.zero-times-infinity",
        """
def masked_attention(scores, value, mask):
    weights = softmax(scores + (1.0 - mask) * -np.inf)
    return weights @ value, weights
""",
        Text(
            "Every weight is NaN, as where ∞ meets 0 or another ∞: a mask of 0 and 1 times −∞ has "
            "0 · (−∞) in it.",
            "所有权重都是 NaN，∞ 遇到 0 或另一个 ∞ 时就会这样：0 和 1 的掩码乘以 −∞，"
            "其中就有 0 · (−∞)。",
        ),
        Text(
            "What is 0 · (−∞), and how can a number be chosen without multiplying?",
            "0 · (−∞) 是多少？不用乘法，怎样选择填入的数？",
        ),
    ),
    Mutant(
        "mask.softmax-over-queries",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -np.inf), -2)
    return weights @ value, weights
""",
        Text(
            "Your softmax goes over the queries; each query's weights over its keys must sum to 1.",
            "你的 softmax 沿查询的轴计算；应让每个查询对各个键的权重之和为 1。",
        ),
        Text("Along which axis of scores do the keys lie?", "键在 scores 的哪个轴上？"),
    ),
    Mutant(
        "mask.transposed",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask.T, -np.inf))
    return weights @ value, weights
""",
        Text(
            "The mask is transposed before it is used; it has the shape of the scores already.",
            "掩码在使用前被转置了；它的形状本来就与分数相同。",
        ),
        Text("Rows of both are queries.", "两者的行都是查询。"),
    ),
    Mutant(
        "mask.unmasked-weights",
        """
def masked_attention(scores, value, mask):
    return softmax(masked_fill(scores, ~mask, -np.inf)) @ value, softmax(scores)
""",
        Text(
            "The output is right, but the weights that you return are those without the mask.",
            "输出正确，但你返回的权重是未加掩码的。",
        ),
        Text(
            "With which weights was the output made?",
            "输出是用哪些权重算出来的？",
        ),
    ),
    Mutant(
        "mask.no-shift",
        """
def masked_attention(scores, value, mask):
    up = masked_fill(scores, ~mask, -np.inf).exp()
    weights = up / up.sum(axis=-1, keepdims=True)
    return weights @ value, weights
""",
        Text(
            "Your softmax does not subtract the largest score: where all scores are −10⁶ every "
            "exponential is 0, and 0/0 is NaN.",
            "你的 softmax 没有减去最大分数：若分数都是 −10⁶，所有指数都为 0，0/0 为 NaN。",
        ),
        Text("Exercise 8, or minigrad's softmax.", "参考练习 8，或直接用 minigrad 的 softmax。"),
    ),
    Mutant(
        "mask.nothing-is-nan",
        """
def masked_attention(scores, value, mask):
    filled = masked_fill(scores, ~mask, -np.inf)
    up = (filled - filled.numpy().max(axis=-1, keepdims=True)).exp()
    weights = up / up.sum(axis=-1, keepdims=True)
    return weights @ value, weights
""",
        Text(
            "A query that may attend to nothing gets NaN: its largest score is −∞, and −∞ − (−∞) "
            "is no number.",
            "什么都不能看的查询得到 NaN：它的最大分数是 −∞，而 −∞ − (−∞) 无定义。",
        ),
        Text(
            "minigrad's softmax gives weights of 0 to a row of −∞.",
            "minigrad 的 softmax 对一行 −∞ 给出权重 0。",
        ),
    ),
    Mutant(
        "mask.nan-hidden",
        """
def masked_attention(scores, value, mask):
    filled = masked_fill(scores, ~mask, -np.inf)
    up = (filled - filled.numpy().max(axis=-1, keepdims=True)).exp()
    weights = up / up.sum(axis=-1, keepdims=True)
    out = weights @ value
    clean = masked_fill(weights, np.isnan(weights.numpy()), 0.0)
    return masked_fill(out, np.isnan(out.numpy()), 0.0), clean
""",
        Text(
            "The output is clean, but the NaN that it hides comes back in ∂L/∂value: 0 · NaN is "
            "NaN. It must not arise in the first place.",
            "输出没有问题，但被掩盖的 NaN 在 ∂L/∂value 中又回来了：0 · NaN 仍是 NaN。"
            "应让它根本不出现。",
        ),
        Text(
            "minigrad's softmax gives weights of 0 to a row of −∞.",
            "minigrad 的 softmax 对一行 −∞ 给出权重 0。",
        ),
    ),
    Mutant(
        "mask.on-arrays",
        """
def masked_attention(scores, value, mask):
    weights = softmax(np.where(mask, scores.numpy(), -np.inf))
    return weights @ value, weights
""",
        Text(
            "No gradient reaches the scores: you compute with their array, and what is done with "
            "arrays is not recorded.",
            "没有梯度到达 scores：你用它的数组计算，而对数组的运算不会被记录。",
        ),
        Text(
            "Where does scores stop being a tensor?",
            "scores 从哪里开始不再是张量？",
        ),
    ),
    Mutant(
        "mask.value-on-arrays",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -np.inf))
    return weights @ value.numpy(), weights
""",
        Text(
            "No gradient reaches the values: you compute with their array, and what is done with "
            "arrays is not recorded.",
            "没有梯度到达 value：你用它的数组计算，而对数组的运算不会被记录。",
        ),
        Text(
            "Where does value stop being a tensor?",
            "value 从哪里开始不再是张量？",
        ),
    ),
    Mutant(
        "mask.square-of-keys",
        """
def causal_mask(n_query, n_key):
    return np.tri(n_key, dtype=bool)
""",
        Text(
            "Your mask is always a square of the number of keys; there may be more or fewer "
            "queries.",
            "你的掩码总是以键的个数为边长的方阵；而查询可能更多，也可能更少。",
        ),
        Text(
            "What becomes of n_query?",
            "n_query 用在哪里了？",
        ),
    ),
    Mutant(
        "mask.to-be-added",
        """
def causal_mask(n_query, n_key):
    return np.where(np.tri(n_query, n_key, dtype=bool), 0.0, -np.inf)
""",
        Text(
            "Your mask is made of numbers to be added to the scores; asked for is True where a "
            "query may look.",
            "你的掩码是要加到分数上的数；而题目要的是布尔值，可以看的地方为 True。",
        ),
        Text(
            "What does the second function need the mask for?",
            "第二个函数要用掩码做什么？",
        ),
    ),
    Mutant(
        "mask.fill-inverted-finite",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, mask, -1e9))
    return weights @ value, weights
""",
        Text(
            "You fill where the mask is True, that is where a query may look: it sees the future "
            "alone, as long as there is one.",
            "你在掩码为 True 处填了数，而那正是可以看的地方：只要还有未来，它看到的就只是未来。",
        ),
        Text(
            "Where does masked_fill fill, and where must it?",
            "masked_fill 在哪里填充？应当在哪里填充？",
        ),
    ),
    Mutant(
        "mask.finite-subtracted",
        """
def masked_attention(scores, value, mask):
    weights = softmax(scores - 1e9 * ~mask)
    return weights @ value, weights
""",
        Text(
            "A query that may attend to nothing gets the weights of its scores, as if there were "
            "no mask.",
            "什么都不能看的查询，得到的权重与不加掩码时一样。",
        ),
        Text(
            "For such a query, what enters your softmax, and what does that make of it?",
            "对这样的查询，进入 softmax 的是什么？结果又是什么？",
        ),
    ),
    Mutant(
        "mask.renormalised-with-epsilon",
        """
def masked_attention(scores, value, mask):
    weights = softmax(scores) * mask
    weights = weights / (weights.sum(axis=-1, keepdims=True) + 1e-9)
    return weights @ value, weights
""",
        Text(
            "You mask behind the softmax and divide by the sum again, with a small number in it: "
            "the future has been in the first sum, and the small number lets it be seen.",
            "你在 softmax 之后才遮，再除以加了一个小数的和：未来已经进入第一次的和，而这个小数又"
            "让它显露出来。",
        ),
        Text(
            "How must the scores be changed so that the softmax itself gives 0 there?",
            "怎样改动分数，才能让 softmax 本身在那里给出 0？",
        ),
    ),
    Mutant(
        "mask.softmax-over-first-axis",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -np.inf), 0)
    return weights @ value, weights
""",
        Text(
            "Your softmax goes over the first axis; each query's weights over its keys must sum "
            "to 1.",
            "你的 softmax 沿第一个轴计算；应让每个查询对各个键的权重之和为 1。",
        ),
        Text(
            "Along which axis of scores do the keys lie?",
            "键在 scores 的哪个轴上？",
        ),
    ),
    Mutant(
        "mask.own-mask",
        """
def masked_attention(scores, value, mask):
    allowed = causal_mask(*scores.shape[-2:])
    weights = softmax(masked_fill(scores, ~allowed, -np.inf))
    return weights @ value, weights
""",
        Text(
            "masked_attention makes a causal mask of its own, and does not look at the one that "
            "it is given.",
            "masked_attention 自己又造了一个因果掩码，没有使用传入的那个。",
        ),
        Text(
            "What is the parameter mask for?",
            "参数 mask 是做什么用的？",
        ),
    ),
    Mutant(
        "mask.results-swapped",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -np.inf))
    return weights, weights @ value
""",
        Text(
            "The two results have changed places: the output comes first, and the weights second.",
            "两个返回值的顺序反了：输出在前，权重在后。",
        ),
        Text(
            "In which order does the page name them?",
            "页面上是按什么顺序列出的？",
        ),
    ),
    Mutant(
        "mask.output-alone",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -np.inf))
    return weights @ value
""",
        Text(
            "masked_attention returns one thing; it must return two, the output and the weights.",
            "masked_attention 只返回了一个结果；应当返回两个：输出和权重。",
        ),
        Text(
            "How does a Python function return two results?",
            "Python 函数怎样返回两个结果？",
        ),
    ),
    Mutant(
        "mask.weights-on-arrays",
        """
from minigrad import Tensor


def masked_attention(scores, value, mask):
    weights = softmax(Tensor(np.where(mask, scores.numpy(), -np.inf)))
    return weights @ value, weights
""",
        Text(
            "No gradient reaches the scores: on the way to the weights they become an array, and "
            "what is done with arrays is not recorded.",
            "没有梯度到达分数：在算出权重之前它们变成了数组，而对数组的运算不会被记录。",
        ),
        Text(
            "Where does scores stop being a tensor?",
            "scores 从哪里开始不再是张量？",
        ),
    ),
    Mutant(
        "mask.results-as-arrays",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -np.inf))
    return (weights @ value).numpy(), weights.numpy()
""",
        Text(
            "The output and the weights are arrays and no tensors: what led to them is not "
            "recorded, so there are no gradients.",
            "输出和权重是数组而不是张量：它们是怎样算出来的没有记录，所以没有梯度。",
        ),
        Text(
            "Where does the first array come into your computation?",
            "你的计算从哪里开始用了数组？",
        ),
    ),
    Mutant(
        "mask.output-as-array",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -np.inf))
    return (weights @ value).numpy(), weights
""",
        Text(
            "The output is an array and no tensor: what led to it is not recorded, so it has no "
            "gradients.",
            "输出是数组而不是张量：它是怎样算出来的没有记录，所以没有梯度。",
        ),
        Text("What does the table on the page say is returned?", "页面的表格里，返回的是什么？"),
    ),
    Mutant(
        "mask.weights-as-array",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -np.inf))
    return weights @ value, weights.numpy()
""",
        Text(
            "The weights come back as an array and no tensor, so no gradient passes through them.",
            "返回的权重是数组而不是张量，所以梯度无法穿过它们。",
        ),
        Text("What does the table on the page say is returned?", "页面的表格里，返回的是什么？"),
    ),
    Mutant(
        "mask.results-made-anew",
        """
from minigrad import Tensor


def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -np.inf))
    return Tensor((weights @ value).numpy()), Tensor(weights.numpy())
""",
        Text(
            "No gradient reaches scores or value: the output and the weights are tensors, but it "
            "is not recorded what they were made from, as when a tensor is made anew from an "
            "array.",
            "没有梯度到达 scores 和 value：输出和权重虽是张量，却没有记录它们由什么算出，"
            "用数组新建张量时就会这样。",
        ),
        Text(
            "Which of your steps make an array, or a tensor out of an array?",
            "你的哪一步得到了数组，或用数组新建了张量？",
        ),
    ),
    Mutant(
        "mask.output-made-anew",
        """
from minigrad import Tensor


def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -np.inf))
    return Tensor((weights @ value).numpy()), weights
""",
        Text(
            "No gradient reaches scores or value through the output: it is a tensor, but it is "
            "not recorded what it was made from, as when a tensor is made anew from an array.",
            "没有梯度经过输出到达 scores 和 value：输出虽是张量，却没有记录它由什么算出，"
            "用数组新建张量时就会这样。",
        ),
        Text(
            "Which of your steps make an array, or a tensor out of an array?",
            "你的哪一步得到了数组，或用数组新建了张量？",
        ),
    ),
    Mutant(
        "mask.weights-made-anew",
        """
from minigrad import Tensor


def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, -np.inf))
    return weights @ value, Tensor(weights.numpy())
""",
        Text(
            "The output is recorded, but no gradient reaches scores through the weights: they are "
            "a tensor of which it is not recorded what it was made from.",
            "输出有记录，但没有梯度经过权重到达 scores：返回的权重虽是张量，"
            "却没有记录它由什么算出。",
        ),
        Text(
            "Are the weights that you return the ones that the output was made with?",
            "你返回的权重，就是计算输出时用的那些吗？",
        ),
    ),
    Mutant(
        "mask.plus-infinity",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, ~mask, np.inf))
    return weights @ value, weights
""",
        Text(
            "Every query that has a masked key gets NaN, as where a masked score is +∞: then "
            "∞ − ∞ or ∞/∞ is in the softmax.",
            "只要有键被遮住，该查询就得到 NaN；被遮住的分数为 +∞ 时就会这样：softmax 中会出现 "
            "∞ − ∞ 或 ∞/∞。",
        ),
        Text(
            "Which score has a weight of exactly 0?",
            "分数为多少时，权重恰为 0？",
        ),
    ),
    Mutant(
        "mask.not-of-an-array",
        """
def masked_attention(scores, value, mask):
    weights = softmax(masked_fill(scores, not mask, -np.inf))
    return weights @ value, weights
""",
        Text(
            "not asks the mask for a single true or false, but it has one for each pair of a query "
            "and a key.",
            "not 要求给出单个真假值：而掩码中每对查询与键各有一个。",
        ),
        Text(
            "Which operator turns a boolean array around entry by entry?",
            "哪个运算符可以把布尔数组逐个元素取反？",
        ),
    ),
]
