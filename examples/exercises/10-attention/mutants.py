"""The classic mistakes of exercise 10."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    Mutant(
        "attention.scale-d_k",
        """
def factor_of(query, scale):
    return 1 / query.shape[-1] if scale is None else scale
""",
        Text(
            "You divide by d_k; a dot product of d_k terms has variance d_k, so its spread is "
            "√d_k.",
            "你除以了 d_k；d_k 项点积的方差是 d_k，标准差才是 √d_k。",
        ),
        Text("By what must q·k be divided to have spread 1?", "q·k 除以什么，标准差才为 1？"),
    ),
    Mutant(
        "attention.scale-queries",
        """
def factor_of(query, scale):
    return query.shape[-2] ** -0.5 if scale is None else scale
""",
        Text(
            "You divide by √L, the number of queries; the scale belongs to the width d_k over "
            "which the dot product sums.",
            "你除以了 √L，即查询的个数；缩放取决于点积求和的宽度 d_k。",
        ),
        Text("Which axis of query is summed in QKᵀ?", "QKᵀ 对 query 的哪个轴求和？"),
    ),
    Mutant(
        "attention.scale-keys",
        """
def scaled_scores(query, key, scale=None):
    return query @ key.mT * (key.shape[-2] ** -0.5 if scale is None else scale)
""",
        Text(
            "Your scores are divided by √S, the number of keys; the scale belongs to the width d_k "
            "over which the dot product sums.",
            "你的分数除以了 √S，即键的个数；缩放取决于点积求和的宽度 d_k。",
        ),
        Text("Which axis of key is summed in QKᵀ?", "QKᵀ 对 key 的哪个轴求和？"),
    ),
    Mutant(
        "attention.scale-first-axis",
        """
def factor_of(query, scale):
    return query.shape[0] ** -0.5 if scale is None else scale
""",
        Text(
            "You take d_k from the first axis of query; the width is the last axis, whatever "
            "stands before it.",
            "你从 query 的第一个轴取 d_k；无论前面有几个轴，宽度总在最后一个轴。",
        ),
        Text("Count axes from the end: −1 is the width.", "从后往前数轴：−1 是宽度。"),
    ),
    Mutant(
        "attention.scale-multiplied",
        """
def factor_of(query, scale):
    return query.shape[-1] ** 0.5 if scale is None else scale
""",
        Text(
            "You multiply by √d_k: the spread of the scores becomes d_k, when it should be 1.",
            "你乘以了 √d_k：分数的标准差变成 d_k，而它应为 1。",
        ),
        Text(
            "Is the scale for d_k = 4 above or below 1?", "d_k = 4 时，缩放因子大于 1 还是小于 1？"
        ),
    ),
    Mutant(
        "attention.scale-forgotten",
        """
def factor_of(query, scale):
    return 1.0 if scale is None else scale
""",
        Text(
            "There is no 1/√d_k in your scores: scale=None does not mean no scale.",
            "你的分数中没有 1/√d_k：scale=None 并不表示不缩放。",
        ),
        Text("What does the page say of scale=None?", "页面上 scale=None 是什么意思？"),
    ),
    Mutant(
        "attention.scale-nowhere",
        """
def factor_of(query, scale):
    return 1.0
""",
        Text(
            "Your scores are not scaled at all: neither by 1/√d_k nor by the scale that is given.",
            "你的分数完全没有缩放：既没有用 1/√d_k，也没有用传入的 scale。",
        ),
        Text(
            "How large is the typical dot product of two random vectors with d_k entries?",
            "两个 d_k 维随机向量的点积，通常有多大？",
        ),
    ),
    Mutant(
        "attention.scale-ignored",
        """
def factor_of(query, scale):
    return query.shape[-1] ** -0.5
""",
        Text(
            "The argument scale changes nothing: you always take 1/√d_k.",
            "参数 scale 不起作用：你总是用 1/√d_k。",
        ),
        Text(
            "For which values of scale is 1/√d_k right?",
            "scale 取什么值时才用 1/√d_k？",
        ),
    ),
    Mutant(
        "attention.scale-zero",
        """
def factor_of(query, scale):
    return scale or query.shape[-1] ** -0.5
""",
        Text(
            "A scale of 0 becomes 1/√d_k: `scale or …` and `if scale` take 0 for False, as they "
            "do None.",
            "scale 为 0 时你仍用了 1/√d_k：`scale or …` 和 `if scale` 会把 0 当作 False，"
            "与 None 一样。",
        ),
        Text("How do you ask whether scale is None?", "怎样判断 scale 是不是 None？"),
    ),
    Mutant(
        "attention.scale-d_k-always",
        """
def factor_of(query, scale):
    return 1 / query.shape[-1]
""",
        Text(
            "You always divide by d_k. The spread of a dot product is √d_k, and where a scale is "
            "given, it is the factor.",
            "你总是除以 d_k。点积的标准差是 √d_k；而给定 scale 时，因子就是 scale。",
        ),
        Text(
            "By what must q·k be divided to have spread 1, and what is the argument scale for?",
            "q·k 除以什么，标准差才为 1？参数 scale 又是做什么用的？",
        ),
    ),
    Mutant(
        "attention.scale-queries-always",
        """
def factor_of(query, scale):
    return query.shape[-2] ** -0.5
""",
        Text(
            "You always divide by √L, the square root of the number of queries. It is the width "
            "d_k that counts, and where a scale is given, it is the factor.",
            "你总是除以 √L，L 是查询的个数。起作用的是宽度 d_k；而给定 scale 时，因子就是 scale。",
        ),
        Text(
            "Which axis of query is summed in QKᵀ, and what is the argument scale for?",
            "QKᵀ 对 query 的哪个轴求和？参数 scale 又是做什么用的？",
        ),
    ),
    Mutant(
        "attention.keys-not-transposed",
        """
def scaled_scores(query, key, scale=None):
    return query @ key * factor_of(query, scale)
""",
        Text(
            "QK in place of QKᵀ: each query is to meet each key, row with row.",
            "写成了 QK 而不是 QKᵀ：每个查询的行要与每个键的行相乘。",
        ),
        Text(
            "Write (L, d_k) and (S, d_k) side by side: which axes have to meet?",
            "把 (L, d_k) 与 (S, d_k) 并排写下：哪两个轴要对上？",
        ),
    ),
    Mutant(
        "attention.all-axes-transposed",
        """
def scaled_scores(query, key, scale=None):
    return query @ key.T * factor_of(query, scale)
""",
        Text(
            ".T turns all axes around, also those of the heads; only the last two change places.",
            ".T 会颠倒所有轴，连多头的轴也颠倒了；只应交换最后两个轴。",
        ),
        Text(
            "How did exercise 5 transpose a batch of matrices?",
            "练习 5 中怎样转置一批矩阵？",
        ),
    ),
    Mutant(
        "attention.scores-transposed",
        """
def scaled_scores(query, key, scale=None):
    return key @ query.mT * factor_of(query, scale)
""",
        Text(
            "Your scores are KQᵀ, with a row for each key; there has to be a row for each query.",
            "你的分数是 KQᵀ，每行对应一个键；而每行应对应一个查询。",
        ),
        Text("S has shape (L, S), queries first.", "S 的形状是 (L, S)，查询在前。"),
    ),
    Mutant(
        "attention.softmax-over-queries",
        """
def attention(query, key, value, scale=None):
    return softmax(scaled_scores(query, key, scale), -2) @ value
""",
        Text(
            "Your softmax goes over the queries: the weights of each query, over its keys, have to "
            "sum to 1.",
            "你的 softmax 沿查询的轴计算；应让每个查询对各个键的权重之和为 1。",
        ),
        Text("Along which axis of S do the keys lie?", "键在 S 的哪个轴上？"),
    ),
    Mutant(
        "attention.scale-after-softmax",
        """
def attention(query, key, value, scale=None):
    return softmax(query @ key.mT) * factor_of(query, scale) @ value
""",
        Text(
            "The scale comes behind your softmax: the weights are as sharp as before, and no "
            "longer sum to 1.",
            "你在 softmax 之后才缩放：权重依旧尖锐，而且和不再是 1。",
        ),
        Text(
            "What is between QKᵀ and the softmax, and what behind it?",
            "QKᵀ 与 softmax 之间有什么？softmax 之后呢？",
        ),
    ),
    Mutant(
        "attention.scale-twice",
        """
def attention(query, key, value, scale=None):
    return softmax(scaled_scores(query, key, scale) * factor_of(query, scale)) @ value
""",
        Text(
            "The output has the scale twice: scaled_scores has it already.",
            "输出中缩放了两次：scaled_scores 里已经缩放过了。",
        ),
        Text(
            "Count the scales between QKᵀ and the softmax.",
            "数一数 QKᵀ 与 softmax 之间缩放了几次。",
        ),
    ),
    Mutant(
        "attention.scale-not-in-attention",
        """
def attention(query, key, value, scale=None):
    return softmax(query @ key.mT) @ value
""",
        Text(
            "attention takes the scores without any scale, though scaled_scores has it.",
            "attention 用的是完全没有缩放的分数，尽管 scaled_scores 里有缩放。",
        ),
        Text("What is S in P = softmax(S)?", "P = softmax(S) 中的 S 是什么？"),
    ),
    Mutant(
        "attention.scale-not-handed-to-scores",
        """
def attention(query, key, value, scale=None):
    return softmax(scaled_scores(query, key)) @ value
""",
        Text(
            "Where a scale is given, attention still takes the scores with 1/√d_k: it does not "
            "hand scale on.",
            "给定 scale 时，attention 用的仍是 1/√d_k 时的分数：没有把 scale 传下去。",
        ),
        Text("Which arguments does scaled_scores take?", "scaled_scores 有哪些参数？"),
    ),
    Mutant(
        "attention.no-softmax",
        """
def attention(query, key, value, scale=None):
    return scaled_scores(query, key, scale) @ value
""",
        Text(
            "The values are weighted by the scores themselves; the softmax is missing.",
            "你直接用分数给值加权，漏了 softmax。",
        ),
        Text("Weights are positive and sum to 1.", "权重为正，且和为 1。"),
    ),
    Mutant(
        "attention.diagonal-softmax",
        """
def softmax_gradient(g, weights):
    return g * weights * (1 - weights)
""",
        Text(
            "Your ∂L/∂S has only the diagonal of the softmax's Jacobian, p (1 − p): every weight "
            "also depends on the other scores of its row.",
            "你的 ∂L/∂S 只用了 softmax 雅可比矩阵的对角线 p (1 − p)："
            "每个权重还依赖同一行的其他分数。",
        ),
        Text(
            "What does softmax_gradient, which is given, do more than yours?",
            "题目给出的 softmax_gradient 比你写的多做了什么？",
        ),
    ),
    Mutant(
        "attention.softmax-skipped",
        """
def scaled_scores_gradient(g, query, key, value, *, scale):
    return g @ value.mT
""",
        Text(
            "Your ∂L/∂S is g Vᵀ, the gradient behind the softmax: it has not come through the "
            "softmax yet.",
            "你的 ∂L/∂S 是 g Vᵀ，那是 softmax 输出处的梯度，还没有穿过 softmax。",
        ),
        Text(
            "Which function leads from ∂L/∂P back to ∂L/∂S?",
            "从 ∂L/∂P 回到 ∂L/∂S 要经过哪个函数？",
        ),
    ),
    Mutant(
        "attention.softmax-of-scores",
        """
def scaled_scores_gradient(g, query, key, value, *, scale):
    return softmax_gradient(g @ value.mT, scaled_scores(query, key, scale))
""",
        Text(
            "The rule of the softmax got its input, the scores; it wants its output, the weights.",
            "softmax 的规则得到的是输入（分数），而它要的是输出（权重）。",
        ),
        Text(
            "What is `weights` in softmax_gradient(g, weights)?",
            "softmax_gradient(g, weights) 的 weights 是什么？",
        ),
    ),
    Mutant(
        "attention.softmax-gradient-over-queries",
        """
def softmax_gradient(g, weights):
    return softmax.primitive.rules[0].function(g, weights, axis=-2)
""",
        Text(
            "Your rule of the softmax sums over the queries: the sum Σ g ⊙ p goes over the keys of "
            "one query.",
            "你的 softmax 规则沿查询的轴求和；Σ g ⊙ p 应在同一查询的各个键上求和。",
        ),
        Text("The rows of ∂L/∂S have to sum to 0.", "∂L/∂S 每行之和应为 0。"),
    ),
    Mutant(
        "attention.softmax-term-missing",
        """
def softmax_gradient(g, weights):
    return g * weights
""",
        Text(
            "Your ∂L/∂S is g Vᵀ ⊙ p without − p Σ (g Vᵀ ⊙ p): its rows do not sum to 0.",
            "你的 ∂L/∂S 是 g Vᵀ ⊙ p，少了 − p Σ (g Vᵀ ⊙ p)：每行之和不为 0。",
        ),
        Text(
            "What does softmax_gradient, which is given, do more than yours?",
            "题目给出的 softmax_gradient 比你写的多做了什么？",
        ),
    ),
    Mutant(
        "attention.value-not-transposed",
        """
def scaled_scores_gradient(g, query, key, value, *, scale):
    return softmax_gradient(g @ value, softmax(scaled_scores(query, key, scale)))
""",
        Text(
            "g V in place of g Vᵀ on the way to ∂L/∂S: out = P V gives ∂L/∂P = g Vᵀ.",
            "求 ∂L/∂S 时写成了 g V 而不是 g Vᵀ：由 out = P V 得 ∂L/∂P = g Vᵀ。",
        ),
        Text(
            "∂L/∂P has the shape of P, (L, S); g is (L, d_v), V is (S, d_v).",
            "∂L/∂P 与 P 同形，为 (L, S)；g 是 (L, d_v)，V 是 (S, d_v)。",
        ),
    ),
    Mutant(
        "attention.scale-at-scores",
        """
def scaled_scores_gradient(g, query, key, value, *, scale):
    weights = softmax(scaled_scores(query, key, scale))
    return softmax_gradient(g @ value.mT, weights) * factor_of(query, scale)


def query_gradient(g, query, key, value, *, scale):
    return scaled_scores_gradient(g, query, key, value, scale=scale) @ key


def key_gradient(g, query, key, value, *, scale):
    return scaled_scores_gradient(g, query, key, value, scale=scale).mT @ query
""",
        Text(
            "Your ∂L/∂S is the gradient at QKᵀ, in front of the scale: it has the factor 1/√d_k, "
            "which the input of the softmax does not see.",
            "你的 ∂L/∂S 是缩放之前 QKᵀ 处的梯度：多了因子 1/√d_k，而 softmax 的输入处没有它。",
        ),
        Text(
            "S is what enters the softmax. The scale comes on the way from S to Q and K.",
            "S 是进入 softmax 的量；缩放出现在从 S 到 Q、K 的路上。",
        ),
    ),
    Mutant(
        "attention.scale-twice-backward",
        """
def scaled_scores_gradient(g, query, key, value, *, scale):
    weights = softmax(scaled_scores(query, key, scale))
    return softmax_gradient(g @ value.mT, weights) * factor_of(query, scale)
""",
        Text(
            "The scale is in your backward twice: once in ∂L/∂S, where it does not belong, and "
            "again in ∂L/∂Q and ∂L/∂K.",
            "反向中缩放了两次：一次在 ∂L/∂S（不该有），一次在 ∂L/∂Q 与 ∂L/∂K。",
        ),
        Text("Forward has the scale once; so has backward.", "前向只缩放一次，反向也是一次。"),
    ),
    Mutant(
        "attention.scale-missing-query",
        """
def query_gradient(g, query, key, value, *, scale):
    return scaled_scores_gradient(g, query, key, value, scale=scale) @ key
""",
        Text(
            "Your ∂L/∂Q is the right one times √d_k (1/scale): the scale is missing in its rule.",
            "你的 ∂L/∂Q 恰好是正确值的 √d_k 倍（1/scale）：它的规则里漏了缩放。",
        ),
        Text(
            "S is a constant times QKᵀ. What becomes of the constant when you differentiate?",
            "S 是一个常数乘以 QKᵀ。求导时这个常数到哪里去了？",
        ),
    ),
    Mutant(
        "attention.scale-missing-key",
        """
def key_gradient(g, query, key, value, *, scale):
    return scaled_scores_gradient(g, query, key, value, scale=scale).mT @ query
""",
        Text(
            "Your ∂L/∂K is the right one times √d_k (1/scale): the scale is missing in its rule.",
            "你的 ∂L/∂K 恰好是正确值的 √d_k 倍（1/scale）：它的规则里漏了缩放。",
        ),
        Text(
            "S is a constant times QKᵀ. What becomes of the constant when you differentiate?",
            "S 是一个常数乘以 QKᵀ。求导时这个常数到哪里去了？",
        ),
    ),
    Mutant(
        "attention.scale-missing-backward",
        """
def query_gradient(g, query, key, value, *, scale):
    return scaled_scores_gradient(g, query, key, value, scale=scale) @ key


def key_gradient(g, query, key, value, *, scale):
    return scaled_scores_gradient(g, query, key, value, scale=scale).mT @ query
""",
        Text(
            "Your ∂L/∂Q and ∂L/∂K are the right ones times √d_k (1/scale): the scale is missing in "
            "backward.",
            "你的 ∂L/∂Q 与 ∂L/∂K 恰好是正确值的 √d_k 倍（1/scale）：反向中漏了缩放。",
        ),
        Text(
            "S is a constant times QKᵀ. What becomes of the constant when you differentiate?",
            "S 是一个常数乘以 QKᵀ。求导时这个常数到哪里去了？",
        ),
    ),
    Mutant(
        "attention.scale-d_k-backward",
        """
def query_gradient(g, query, key, value, *, scale):
    factor = 1 / query.shape[-1] if scale is None else scale
    return scaled_scores_gradient(g, query, key, value, scale=scale) @ key * factor


def key_gradient(g, query, key, value, *, scale):
    factor = 1 / query.shape[-1] if scale is None else scale
    return scaled_scores_gradient(g, query, key, value, scale=scale).mT @ query * factor
""",
        Text(
            "Backward divides by d_k where forward divides by √d_k: ∂L/∂Q and ∂L/∂K are 1/√d_k "
            "of what they should be.",
            "前向除以 √d_k，反向却除以 d_k：∂L/∂Q 与 ∂L/∂K 只有正确值的 1/√d_k。",
        ),
        Text("It is the same factor, on both ways.", "来回两个方向是同一个因子。"),
    ),
    Mutant(
        "attention.scale-keys-backward",
        """
def query_gradient(g, query, key, value, *, scale):
    factor = key.shape[-2] ** -0.5 if scale is None else scale
    return scaled_scores_gradient(g, query, key, value, scale=scale) @ key * factor


def key_gradient(g, query, key, value, *, scale):
    factor = key.shape[-2] ** -0.5 if scale is None else scale
    return scaled_scores_gradient(g, query, key, value, scale=scale).mT @ query * factor
""",
        Text(
            "Backward divides by √S, the number of keys, where forward divides by √d_k.",
            "前向除以 √d_k，反向却除以 √S，即键的个数。",
        ),
        Text("It is the same factor, on both ways.", "来回两个方向是同一个因子。"),
    ),
    Mutant(
        "attention.scale-inverted-backward",
        """
def query_gradient(g, query, key, value, *, scale):
    return scaled_scores_gradient(g, query, key, value, scale=scale) @ key / factor_of(query, scale)


def key_gradient(g, query, key, value, *, scale):
    at_scores = scaled_scores_gradient(g, query, key, value, scale=scale)
    return at_scores.mT @ query / factor_of(query, scale)
""",
        Text(
            "Backward multiplies by √d_k where forward divides: what is multiplied by a number is "
            "multiplied by the same number on the way back.",
            "前向除以 √d_k，反向却乘以 √d_k：前向乘以某数，反向也乘以同一个数。",
        ),
        Text(
            "If y = 3 x, is ∂L/∂x three times g, or a third of it?",
            "如果 y = 3 x，∂L/∂x 是 g 的三倍，还是三分之一？",
        ),
    ),
    Mutant(
        "attention.ignored-option-backward",
        """
def query_gradient(g, query, key, value, *, scale):
    factor = factor_of(query, None)
    return scaled_scores_gradient(g, query, key, value, scale=scale) @ key * factor


def key_gradient(g, query, key, value, *, scale):
    factor = factor_of(query, None)
    return scaled_scores_gradient(g, query, key, value, scale=scale).mT @ query * factor
""",
        Text(
            "Where a scale is given, your ∂L/∂Q and ∂L/∂K still multiply by 1/√d_k.",
            "给定 scale 时，你的 ∂L/∂Q 与 ∂L/∂K 仍乘以 1/√d_k。",
        ),
        Text("Take the factor that forward took.", "用前向所用的那个因子。"),
    ),
    Mutant(
        "attention.key-not-transposed",
        """
def key_gradient(g, query, key, value, *, scale):
    at_scores = scaled_scores_gradient(g, query, key, value, scale=scale)
    return at_scores @ query * factor_of(query, scale)
""",
        Text(
            "∂L/∂S is not transposed in your ∂L/∂K: key j collects column j of ∂L/∂S.",
            "你的 ∂L/∂K 中 ∂L/∂S 没有转置：键 j 收集的是 ∂L/∂S 的第 j 列。",
        ),
        Text(
            "∂L/∂K is (S, d_k); ∂L/∂S is (L, S), Q is (L, d_k).",
            "∂L/∂K 是 (S, d_k)；∂L/∂S 是 (L, S)，Q 是 (L, d_k)。",
        ),
    ),
    Mutant(
        "attention.query-transposed",
        """
def query_gradient(g, query, key, value, *, scale):
    at_scores = scaled_scores_gradient(g, query, key, value, scale=scale)
    return at_scores.mT @ key * factor_of(query, scale)
""",
        Text(
            "∂L/∂S is transposed in your ∂L/∂Q: query i collects row i of ∂L/∂S, as it stands.",
            "你的 ∂L/∂Q 中 ∂L/∂S 多了转置：查询 i 收集的正是 ∂L/∂S 的第 i 行。",
        ),
        Text(
            "∂L/∂Q is (L, d_k); ∂L/∂S is (L, S), K is (S, d_k).",
            "∂L/∂Q 是 (L, d_k)；∂L/∂S 是 (L, S)，K 是 (S, d_k)。",
        ),
    ),
    Mutant(
        "attention.query-key-swapped",
        """
_query, _key = query_gradient, key_gradient


def query_gradient(g, query, key, value, *, scale):
    return _key(g, query, key, value, scale=scale)


def key_gradient(g, query, key, value, *, scale):
    return _query(g, query, key, value, scale=scale)
""",
        Text(
            "∂L/∂Q and ∂L/∂K have changed places.",
            "∂L/∂Q 与 ∂L/∂K 互换了。",
        ),
        Text(
            "Each gradient has the shape of its own input: (L, d_k) and (S, d_k).",
            "每个梯度与自己的输入同形：(L, d_k) 与 (S, d_k)。",
        ),
    ),
    Mutant(
        "attention.query-times-query",
        """
def query_gradient(g, query, key, value, *, scale):
    at_scores = scaled_scores_gradient(g, query, key, value, scale=scale)
    return at_scores @ query * factor_of(query, scale)
""",
        Text(
            "Your ∂L/∂Q multiplies by Q: the gradient of one factor holds the other factor, here "
            "K.",
            "你的 ∂L/∂Q 乘了 Q：一个因子的梯度里是另一个因子，这里是 K。",
        ),
        Text("How is it in exercise 5, for C = A B?", "练习 5 中 C = A B 是怎样的？"),
    ),
    Mutant(
        "attention.key-times-key",
        """
def key_gradient(g, query, key, value, *, scale):
    at_scores = scaled_scores_gradient(g, query, key, value, scale=scale)
    return at_scores.mT @ key * factor_of(query, scale)
""",
        Text(
            "Your ∂L/∂K multiplies by K: the gradient of one factor holds the other factor, here "
            "Q.",
            "你的 ∂L/∂K 乘了 K：一个因子的梯度里是另一个因子，这里是 Q。",
        ),
        Text("How is it in exercise 5, for C = A B?", "练习 5 中 C = A B 是怎样的？"),
    ),
    Mutant(
        "attention.weights-not-transposed",
        """
def value_gradient(g, query, key, *, scale):
    return softmax(scaled_scores(query, key, scale)) @ g
""",
        Text(
            "The weights are not transposed in your ∂L/∂V: value j collects column j of the "
            "weights.",
            "你的 ∂L/∂V 中权重没有转置：值 j 收集的是权重的第 j 列。",
        ),
        Text(
            "∂L/∂V is (S, d_v); the weights are (L, S), g is (L, d_v).",
            "∂L/∂V 是 (S, d_v)；权重是 (L, S)，g 是 (L, d_v)。",
        ),
    ),
    Mutant(
        "attention.value-by-scores",
        """
def value_gradient(g, query, key, *, scale):
    return scaled_scores(query, key, scale).mT @ g
""",
        Text(
            "Your ∂L/∂V is Sᵀ g, with the scores; out = P V holds the weights P.",
            "你的 ∂L/∂V 是 Sᵀ g，用的是分数；而 out = P V 中是权重 P。",
        ),
        Text("What was V multiplied with in forward?", "前向时与 V 相乘的是什么？"),
    ),
    Mutant(
        "attention.value-scaled",
        """
def value_gradient(g, query, key, *, scale):
    return softmax(scaled_scores(query, key, scale)).mT @ g * factor_of(query, scale)
""",
        Text(
            "Your ∂L/∂V has the scale as a factor: V comes behind the softmax, and is never "
            "scaled.",
            "你的 ∂L/∂V 多乘了缩放：V 在 softmax 之后，从未被缩放。",
        ),
        Text("Write down out as a function of V alone.", "把 out 只看作 V 的函数写出来。"),
    ),
    Mutant(
        "attention.value-without-scale",
        """
def value_gradient(g, query, key, *, scale):
    return softmax(query @ key.mT).mT @ g
""",
        Text(
            "The weights in your ∂L/∂V are those without the scale; backward needs those of "
            "forward.",
            "你的 ∂L/∂V 用的是未缩放的权重；反向要用前向的权重。",
        ),
        Text("Compute the weights as forward does.", "按前向的方式计算权重。"),
    ),
    Mutant(
        "attention.weights-without-scale",
        """
def scaled_scores_gradient(g, query, key, value, *, scale):
    return softmax_gradient(g @ value.mT, softmax(query @ key.mT))
""",
        Text(
            "The weights in your ∂L/∂S are those without the scale; backward needs those of "
            "forward.",
            "你的 ∂L/∂S 用的是未缩放的权重；反向要用前向的权重。",
        ),
        Text("Compute the weights as forward does.", "按前向的方式计算权重。"),
    ),
    Mutant(
        "attention.in-place",
        """
def scaled_scores(query, key, scale=None):
    query *= factor_of(query, scale)
    return query @ key.mT
""",
        Text(
            "scaled_scores writes into the caller's query: backward and every later call get one "
            "that is scaled already.",
            "scaled_scores 写进了调用者的 query：反向和之后的调用得到的都是已缩放的 query。",
        ),
        Text(
            "Which of your operations write into an array that is there already? Those with *= "
            "or out= do.",
            "你的哪些运算会写进已有的数组？*= 和 out= 都会。",
        ),
    ),
    Mutant(
        "attention.scale-divided",
        """
def scaled_scores(query, key, scale=None):
    return query @ key.mT / (query.shape[-1] ** 0.5 if scale is None else scale)
""",
        Text(
            "Where a scale is given you divide by it; the scores are multiplied by the scale.",
            "给定 scale 时，你除以了它；分数应当乘以 scale。",
        ),
        Text(
            "What does the page say S is, with scale in it?",
            "页面上含有 scale 的 S 的公式是什么？",
        ),
    ),
    Mutant(
        "attention.first-axes-swapped",
        """
def scaled_scores(query, key, scale=None):
    return query @ key.swapaxes(0, 1) * factor_of(query, scale)
""",
        Text(
            "The first two axes of key are swapped, which is a transpose only while there is no "
            "batch axis.",
            "交换的是 key 的前两个轴；只有在没有批次轴时，这才是转置。",
        ),
        Text(
            "Which two axes belong to the matrix, counted from the end?",
            "从末尾数起，矩阵是哪两个轴？",
        ),
    ),
    Mutant(
        "attention.softmax-over-first-axis",
        """
def attention(query, key, value, scale=None):
    return softmax(scaled_scores(query, key, scale), 0) @ value
""",
        Text(
            "Your softmax goes over the first axis; the weights of each query, over its keys, "
            "have to sum to 1.",
            "你的 softmax 沿第一个轴计算；应让每个查询对各个键的权重之和为 1。",
        ),
        Text(
            "Along which axis of S do the keys lie?",
            "键在 S 的哪个轴上？",
        ),
    ),
    Mutant(
        "attention.weights-returned-too",
        """
def attention(query, key, value, scale=None):
    weights = softmax(scaled_scores(query, key, scale))
    return weights @ value, weights
""",
        Text(
            "attention returns the weights as well; it returns the output alone.",
            "attention 连权重也返回了；它只应返回输出。",
        ),
        Text(
            "What does the table on the page say is returned?",
            "页面的表格里，返回的是什么？",
        ),
    ),
    Mutant(
        "attention.values-missing",
        """
def attention(query, key, value, scale=None):
    return softmax(scaled_scores(query, key, scale))
""",
        Text(
            "These are the weights: the values are not averaged with them yet.",
            "这只是权重：还没有用它们对值取平均。",
        ),
        Text(
            "What is done with a set of weights and a set of values?",
            "有了一组权重和一组值，接下来做什么？",
        ),
    ),
    Mutant(
        "attention.keys-for-values",
        """
def attention(query, key, value, scale=None):
    return softmax(scaled_scores(query, key, scale)) @ key
""",
        Text(
            "The weights average the keys; it must be the values.",
            "权重被用来平均键；应当平均的是值。",
        ),
        Text(
            "What is value used for in your function?",
            "在你的函数里，value 用在哪里？",
        ),
    ),
    Mutant(
        "attention.softmax-rule-turned",
        """
def scaled_scores_gradient(g, query, key, value, *, scale):
    weights = softmax(scaled_scores(query, key, scale))
    return softmax_gradient(weights, g @ value.mT)
""",
        Text(
            "The rule of the softmax gets its arguments in the wrong order: the upstream comes "
            "first, and the weights second.",
            "softmax 的规则收到的两个参数顺序反了：上游梯度在前，权重在后。",
        ),
        Text(
            "softmax_gradient(g, weights): which is which?",
            "softmax_gradient(g, weights)：两个参数各是什么？",
        ),
    ),
    Mutant(
        "attention.value-all-axes-reversed",
        """
def scaled_scores_gradient(g, query, key, value, *, scale):
    return softmax_gradient(g @ value.T, softmax(scaled_scores(query, key, scale)))
""",
        Text(
            "value.T turns all axes around, also those of the heads; only the last two change "
            "places.",
            "value.T 会颠倒所有轴，连多头的轴也颠倒了；只应交换最后两个轴。",
        ),
        Text(
            "How did exercise 5 transpose a batch of matrices?",
            "练习 5 中怎样转置一批矩阵？",
        ),
    ),
    Mutant(
        "attention.weights-all-axes-reversed",
        """
def value_gradient(g, query, key, *, scale):
    return softmax(scaled_scores(query, key, scale)).T @ g
""",
        Text(
            "In your ∂L/∂V .T turns all axes of the weights around, also those of the heads; "
            "only the last two change places.",
            "你的 ∂L/∂V 中，.T 颠倒了权重的所有轴，连多头的轴也颠倒了；只应交换最后两个轴。",
        ),
        Text(
            "How did exercise 5 transpose a batch of matrices?",
            "练习 5 中怎样转置一批矩阵？",
        ),
    ),
    Mutant(
        "attention.value-gradient-turned",
        """
def value_gradient(g, query, key, *, scale):
    return g.mT @ softmax(scaled_scores(query, key, scale))
""",
        Text(
            "Your ∂L/∂V is gᵀ P, of shape (d_v, S): that is the transpose of what is wanted.",
            "你的 ∂L/∂V 是 gᵀ P，形状为 (d_v, S)：恰好是所求的转置。",
        ),
        Text(
            "∂L/∂V has the shape of V, (S, d_v). Which of the two factors must be transposed?",
            "∂L/∂V 与 V 同形，为 (S, d_v)。两个因子中哪一个要转置？",
        ),
    ),
    Mutant(
        "attention.key-gradient-turned",
        """
def key_gradient(g, query, key, value, *, scale):
    at_scores = scaled_scores_gradient(g, query, key, value, scale=scale)
    return query.mT @ at_scores * factor_of(query, scale)
""",
        Text(
            "Your ∂L/∂K is Qᵀ ∂L/∂S, of shape (d_k, S): that is the transpose of what is wanted.",
            "你的 ∂L/∂K 是 Qᵀ ∂L/∂S，形状为 (d_k, S)：恰好是所求的转置。",
        ),
        Text(
            "∂L/∂K has the shape of K, (S, d_k). Which of the two factors must be transposed?",
            "∂L/∂K 与 K 同形，为 (S, d_k)。两个因子中哪一个要转置？",
        ),
    ),
    Mutant(
        "attention.query-missing-in-key-gradient",
        """
def key_gradient(g, query, key, value, *, scale):
    return scaled_scores_gradient(g, query, key, value, scale=scale).mT
""",
        Text(
            "Your ∂L/∂K is (∂L/∂S)ᵀ: the queries are missing in it.",
            "你的 ∂L/∂K 只是 (∂L/∂S)ᵀ：漏了查询。",
        ),
        Text(
            "S = scale · QKᵀ. What was K multiplied with?",
            "S = scale · QKᵀ。与 K 相乘的是什么？",
        ),
    ),
    Mutant(
        "attention.key-transposed-for-query",
        """
def query_gradient(g, query, key, value, *, scale):
    at_scores = scaled_scores_gradient(g, query, key, value, scale=scale)
    return at_scores @ key.mT * factor_of(query, scale)
""",
        Text(
            "K is transposed in your ∂L/∂Q: it stood transposed in the product already, and "
            "stands as it is in the rule.",
            "你的 ∂L/∂Q 中 K 被转置了：它在前向的乘积里已经是转置的，在规则里应当原样使用。",
        ),
        Text(
            "∂L/∂Q is (L, d_k); ∂L/∂S is (L, S), K is (S, d_k).",
            "∂L/∂Q 是 (L, d_k)；∂L/∂S 是 (L, S)，K 是 (S, d_k)。",
        ),
    ),
    Mutant(
        "attention.none-as-factor",
        """
def query_gradient(g, query, key, value, *, scale):
    return scaled_scores_gradient(g, query, key, value, scale=scale) @ key * scale
""",
        Text(
            "The rule multiplies by scale as it came, but it may be None.",
            "规则直接乘了传入的 scale，而它可能是 None。",
        ),
        Text(
            "What does None stand for, in forward?",
            "在前向中，None 表示什么？",
        ),
    ),
    Mutant(
        "attention.scale-not-handed-on",
        """
def query_gradient(g, query, key, value, *, scale):
    at_scores = scaled_scores_gradient(g, query, key, value, scale=None)
    return at_scores @ key * factor_of(query, scale)
""",
        Text(
            "Where a scale is given, your ∂L/∂Q takes ∂L/∂S of the attention with 1/√d_k: scale "
            "is not handed on.",
            "给定 scale 时，你的 ∂L/∂Q 用的仍是 1/√d_k 时的 ∂L/∂S：没有把 scale 传下去。",
        ),
        Text(
            "Which weights did forward use?",
            "前向用的是哪种缩放下的权重？",
        ),
    ),
    Mutant(
        "attention.scale-not-handed-on-by-key",
        """
def key_gradient(g, query, key, value, *, scale):
    at_scores = scaled_scores_gradient(g, query, key, value, scale=None)
    return at_scores.mT @ query * factor_of(query, scale)
""",
        Text(
            "Where a scale is given, your ∂L/∂K takes ∂L/∂S of the attention with 1/√d_k: scale "
            "is not handed on.",
            "给定 scale 时，你的 ∂L/∂K 用的仍是 1/√d_k 时的 ∂L/∂S：没有把 scale 传下去。",
        ),
        Text("Which weights did forward use?", "前向用的是哪种缩放下的权重？"),
    ),
    Mutant(
        "attention.scale-not-handed-on-by-value",
        """
def value_gradient(g, query, key, *, scale):
    return softmax(scaled_scores(query, key)).mT @ g
""",
        Text(
            "Where a scale is given, your ∂L/∂V takes the weights of the attention with 1/√d_k: "
            "scale is not handed on.",
            "给定 scale 时，你的 ∂L/∂V 用的仍是 1/√d_k 时的权重：没有把 scale 传下去。",
        ),
        Text("Which weights did forward use?", "前向用的是哪种缩放下的权重？"),
    ),
    Mutant(
        "attention.scale-not-handed-on-to-weights",
        """
def scaled_scores_gradient(g, query, key, value, *, scale):
    weights = softmax(scaled_scores(query, key))
    return softmax_gradient(g @ value.mT, weights)
""",
        Text(
            "Where a scale is given, your ∂L/∂S takes the weights of the attention with 1/√d_k: "
            "scale is not handed on.",
            "给定 scale 时，你的 ∂L/∂S 用的仍是 1/√d_k 时的权重：没有把 scale 传下去。",
        ),
        Text("Which weights did forward use?", "前向用的是哪种缩放下的权重？"),
    ),
    *[
        Mutant(
            f"attention.scale-ignored-by-{name}{mark}",
            f"""
def {name}_gradient(g, query, key, value, *, scale):
    at_scores = scaled_scores_gradient(g, query, key, value, scale={handed})
    return {product} * factor_of(query, None)
""",
            Text(
                f"Where a scale is given, your ∂L/∂{letter} still multiplies by 1/√d_k{more}.",
                f"给定 scale 时，你的 ∂L/∂{letter} 仍乘以 1/√d_k{zh}。",
            ),
            Text("Take the factor that forward took.", "用前向所用的那个因子。"),
        )
        for name, letter, product in (
            ("query", "Q", "at_scores @ key"),
            ("key", "K", "at_scores.mT @ query"),
        )
        for mark, handed, more, zh in (
            ("", "scale", "", ""),
            (
                "-throughout",
                "None",
                ", and takes ∂L/∂S of the attention with 1/√d_k too",
                "，所用的 ∂L/∂S 也是 1/√d_k 时的",
            ),
        )
    ],
    *[
        Mutant(
            f"attention.softmax-skipped-in-{name}",
            f"""
def {name}_gradient(g, query, key, value, *, scale):
    at_weights = g @ value.mT
    return {product} * factor_of(query, scale)
""",
            Text(
                f"Your ∂L/∂{letter} is made from g Vᵀ, the gradient behind the softmax, in place "
                "of ∂L/∂S: it has not come through the softmax yet.",
                f"你的 ∂L/∂{letter} 用的是 g Vᵀ，即 softmax 之后的梯度，而不是 ∂L/∂S："
                "它还没有穿过 softmax。",
            ),
            Text(
                "What lies between S and the product with V?",
                "S 与同 V 的乘积之间隔着什么？",
            ),
        )
        for name, letter, product in (
            ("query", "Q", "at_weights @ key"),
            ("key", "K", "at_weights.mT @ query"),
        )
    ],
    Mutant(
        "attention.scores-gradient-in-place",
        """
_right = scaled_scores_gradient


def scaled_scores_gradient(g, query, key, value, *, scale):
    out = _right(g, query, key, value, scale=scale)
    g *= 0.0
    return out


def query_gradient(g, query, key, value, *, scale):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return scaled_scores_gradient(g.copy(), query, key, value, scale=scale) @ key * scale


def key_gradient(g, query, key, value, *, scale):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return scaled_scores_gradient(g.copy(), query, key, value, scale=scale).mT @ query * scale
""",
        Text(
            "scaled_scores_gradient writes into the g that it was given.",
            "scaled_scores_gradient 改写了传给它的 g。",
        ),
        Text(
            "Which of your operators end in =, as *= does, and on whose array?",
            "哪些运算符以 = 结尾（例如 *=）？它们作用在谁的数组上？",
        ),
    ),
]
