"""The classic mistakes of exercise 14."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    Mutant(
        "heads.split-by-reshape",
        """
def split_heads(x, n_heads):
    *batch, length, width = x.shape
    return x.reshape(*batch, n_heads, length, width // n_heads)
""",
        Text(
            "You reshape to (n_heads, L, d) at once: the shape is right, but a head then holds "
            "pieces of few words, and not its columns of all words.",
            "你直接 reshape 成 (n_heads, L, d)：形状对了，但一个头里装的是少数词的片段，"
            "而不是所有词的对应列。",
        ),
        Text(
            "Does a reshape ever change the order of the numbers? Which axis has the columns of "
            "a head side by side?",
            "reshape 会改变数的先后次序吗？一个头的各列，在哪个轴上相邻？",
        ),
    ),
    Mutant(
        "heads.axes-not-swapped",
        """
def split_heads(x, n_heads):
    *batch, length, width = x.shape
    return x.reshape(*batch, length, n_heads, width // n_heads)
""",
        Text(
            "The last axis is split, but the heads still stand behind the words: attention would "
            "go over the heads of one word.",
            "最后一个轴拆开了，但头的轴仍在词的轴之后：注意力会在同一个词的各个头之间进行。",
        ),
        Text(
            "On which two axes does attention work, and what do they stand for here?",
            "注意力作用于哪两个轴？它们在这里代表什么？",
        ),
    ),
    Mutant(
        "heads.split-interleaved",
        """
def split_heads(x, n_heads):
    *batch, length, width = x.shape
    return x.reshape(*batch, length, width // n_heads, n_heads).swapaxes(-1, -2).swapaxes(-2, -3)
""",
        Text(
            "Your head h gets every n_heads-th column; its columns stand side by side, from h·d "
            "on.",
            "你的头 h 得到的是每隔 n_heads 取一列；它的列应当相邻，从 h·d 开始。",
        ),
        Text(
            "In which order does a reshape fill (n_heads, d), and in which (d, n_heads)?",
            "reshape 按什么顺序填充 (n_heads, d)？又按什么顺序填充 (d, n_heads)？",
        ),
    ),
    Mutant(
        "heads.split-transposed",
        """
def split_heads(x, n_heads):
    *batch, length, width = x.shape
    return x.mT.reshape(*batch, n_heads, width // n_heads, length)
""",
        Text(
            "In your heads the words are columns, (n_heads, d, L); they have to be rows.",
            "你的头里词成了列，即 (n_heads, d, L)；它们应当是行。",
        ),
        Text("Every head is a matrix (L, d).", "每个头都是矩阵 (L, d)。"),
    ),
    Mutant(
        "heads.split-first-axes",
        """
def split_heads(x, n_heads):
    *batch, length, width = x.shape
    return x.reshape(*batch, length, n_heads, width // n_heads).swapaxes(0, 1)
""",
        Text(
            "You swap the axes 0 and 1: with a batch in front these are other axes.",
            "你交换了轴 0 和轴 1：前面有批次时，它们就不是要交换的轴了。",
        ),
        Text("Count axes from the end.", "从后往前数轴。"),
    ),
    Mutant(
        "heads.split-into-width",
        """
def split_heads(x, n_heads):
    *batch, length, width = x.shape
    return x.reshape(*batch, length, width // n_heads, n_heads).swapaxes(-2, -3)
""",
        Text(
            "The number of heads and the width of a head have changed places.",
            "头的个数与每个头的宽度互换了。",
        ),
        Text(
            "n_heads heads of width d: (n_heads, L, d).",
            "n_heads 个宽度为 d 的头：(n_heads, L, d)。",
        ),
    ),
    Mutant(
        "heads.merge-by-reshape",
        """
def merge_heads(x):
    *batch, n_heads, length, width = x.shape
    return x.reshape(*batch, length, n_heads * width)
""",
        Text(
            "You reshape to (L, n_heads · d) at once: the shape is right, but a row then holds "
            "several words of one head.",
            "你直接 reshape 成 (L, n_heads · d)：形状对了，但一行里装的是同一个头的多个词。",
        ),
        Text("Which two axes must stand side by side first?", "哪两个轴要先相邻？"),
    ),
    Mutant(
        "heads.merge-interleaved",
        """
def merge_heads(x):
    *batch, n_heads, length, width = x.shape
    return x.swapaxes(-2, -3).swapaxes(-1, -2).reshape(*batch, length, n_heads * width)
""",
        Text(
            "Your heads are shuffled into each other, column by column; they have to stand side by "
            "side, each as a whole.",
            "你把各头逐列交错在一起了；它们应当各自完整、并排放置。",
        ),
        Text(
            "The last axis runs fastest: which is it before the reshape?",
            "最后一个轴变化最快：reshape 之前它是哪个轴？",
        ),
    ),
    Mutant(
        "heads.merge-sum",
        """
def merge_heads(x):
    return x.sum(axis=-3)
""",
        Text(
            "You add the heads up; side by side each keeps a place of its own, and W_O mixes them.",
            "你把各头相加了；应当并排放置、各占一处，再由 W_O 混合。",
        ),
        Text("The result is n_heads · d wide.", "结果的宽度是 n_heads · d。"),
    ),
    Mutant(
        "heads.merge-mean",
        """
def merge_heads(x):
    return x.mean(axis=-3)
""",
        Text(
            "You average the heads; side by side each keeps a place of its own, and W_O mixes "
            "them.",
            "你对各头取了平均；应当并排放置、各占一处，再由 W_O 混合。",
        ),
        Text("The result is n_heads · d wide.", "结果的宽度是 n_heads · d。"),
    ),
    Mutant(
        "heads.merge-first-axes",
        """
def merge_heads(x):
    *batch, n_heads, length, width = x.shape
    return x.swapaxes(0, 1).reshape(*batch, length, n_heads * width)
""",
        Text(
            "You swap the axes 0 and 1: with a batch in front these are not heads and words.",
            "你交换了轴 0 和轴 1：前面有批次时，它们就不是头和词了。",
        ),
        Text("Count axes from the end.", "从后往前数轴。"),
    ),
    Mutant(
        "heads.scale-of-all",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, W_Q.shape[-1] ** -0.5)) @ W_O
""",
        Text(
            "You scale by the width of all heads together; the dot products go over one head, d_k.",
            "你按所有头的总宽度缩放；而点积只在一个头的宽度 d_k 上求和。",
        ),
        Text("How many products does one score add up?", "一个分数由几个乘积相加？"),
    ),
    Mutant(
        "heads.scale-d_model",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, x.shape[-1] ** -0.5)) @ W_O
""",
        Text(
            "You scale by √d_model, the width of x; the dot products go over one head, d_k.",
            "你除以了 √d_model，即 x 的宽度；而点积只在一个头的宽度 d_k 上求和。",
        ),
        Text("How many products does one score add up?", "一个分数由几个乘积相加？"),
    ),
    Mutant(
        "heads.scale-share-of-d_model",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, (x.shape[-1] / n_heads) ** -0.5)) @ W_O
""",
        Text(
            "You take d_model / n_heads for d_k: it often is, but the columns of W_Q say how wide "
            "the queries are.",
            "你把 d_model / n_heads 当作 d_k：虽然常常如此，但查询的宽度由 W_Q 的列数决定。",
        ),
        Text("Ask the split query for its width.", "直接看拆分后的 query 有多宽。"),
    ),
    Mutant(
        "heads.scale-d_v",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, value.shape[-1] ** -0.5)) @ W_O
""",
        Text(
            "You scale by √d_v, the width of the values; dot products are of queries and keys.",
            "你除以了 √d_v，即值的宽度；而点积是查询与键的点积。",
        ),
        Text("Which width do queries and keys have?", "查询和键的宽度是多少？"),
    ),
    Mutant(
        "heads.scale-d_k",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, 1 / query.shape[-1])) @ W_O
""",
        Text("You scale by 1/d_k in place of 1/√d_k.", "你乘的是 1/d_k，而不是 1/√d_k。"),
        Text("See exercise 10.", "参见练习 10。"),
    ),
    Mutant(
        "heads.scale-missing",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, 1.0)) @ W_O
""",
        Text("Your heads are not scaled: 1/√d_k is missing.", "你的各头没有缩放：漏了 1/√d_k。"),
        Text("See exercise 10.", "参见练习 10。"),
    ),
    Mutant(
        "heads.scale-multiplied",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, query.shape[-1] ** 0.5)) @ W_O
""",
        Text(
            "The scores are multiplied by √d_k; they must be divided by it.",
            "分数乘以了 √d_k；应当除以它。",
        ),
        Text(
            "Is the factor that reaches the scores above or below 1?",
            "真正乘到分数上的因子，大于 1 还是小于 1？",
        ),
    ),
    Mutant(
        "heads.one-big-head",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = x @ W_Q, x @ W_K, x @ W_V
    return attention(query, key, value, query.shape[-1] ** -0.5) @ W_O
""",
        Text(
            "This is one head of full width: all columns share one set of weights, and n_heads "
            "has no effect.",
            "这是一个全宽的头：所有列共用一组权重，n_heads 不起作用。",
        ),
        Text(
            "Where in your function do the columns become separate heads?",
            "在你的函数里，各列在哪一步分成了不同的头？",
        ),
    ),
    Mutant(
        "heads.one-big-head-scaled",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = x @ W_Q, x @ W_K, x @ W_V
    return attention(query, key, value, (query.shape[-1] / n_heads) ** -0.5) @ W_O
""",
        Text(
            "This is one head of full width: only the scale knows of n_heads, and all columns "
            "share one set of weights.",
            "这是一个全宽的头：只有缩放用到了 n_heads，所有列共用一组权重。",
        ),
        Text(
            "Where in your function do the columns become separate heads?",
            "在你的函数里，各列在哪一步分成了不同的头？",
        ),
    ),
    Mutant(
        "heads.values-not-projected",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key = (split_heads(x @ W, n_heads) for W in (W_Q, W_K))
    value = split_heads(x @ W_K, n_heads)
    return merge_heads(attention(query, key, value, query.shape[-1] ** -0.5)) @ W_O
""",
        Text(
            "The weights average x W_K in place of x W_V: keys stand where values must.",
            "权重平均的是 x W_K 而不是 x W_V：该用值的地方用了键。",
        ),
        Text(
            "Which of the three products is to be averaged, and which meets the weights?",
            "三个乘积中，应当被平均的是哪个？与权重相乘的又是哪个？",
        ),
    ),
    Mutant(
        "heads.queries-and-keys-swapped",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    key, query, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, query.shape[-1] ** -0.5)) @ W_O
""",
        Text(
            "Queries and keys have changed places: S is transposed, and each word asks with what "
            "it should answer with.",
            "查询和键互换了：S 被转置，每个词用本该作答的内容去提问。",
        ),
        Text(
            "A row of S belongs to a query, which is made with W_Q.",
            "S 的一行属于一个查询，而查询由 W_Q 得来。",
        ),
    ),
    Mutant(
        "heads.output-not-mixed",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, query.shape[-1] ** -0.5))
""",
        Text(
            "W_O is missing: the heads stand side by side, and nothing mixes them or brings them "
            "back to d_model.",
            "漏了 W_O：各头只是并排放着，没有混合，也没有变回 d_model 宽。",
        ),
        Text("What happens behind merge_heads?", "merge_heads 之后还有什么？"),
    ),
    Mutant(
        "heads.output-transposed",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, query.shape[-1] ** -0.5)) @ W_O.mT
""",
        Text(
            "W_O is transposed; rows are words, so all matrices stand on the right as they are.",
            "W_O 被转置了；行是词，所以所有矩阵都原样写在右边。",
        ),
        Text("Its shape is (n_heads · d_v, d_model).", "它的形状是 (n_heads · d_v, d_model)。"),
    ),
    Mutant(
        "heads.same-head",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    first = attention(query[..., :1, :, :], key[..., :1, :, :], value, query.shape[-1] ** -0.5)
    return merge_heads(first) @ W_O
""",
        Text(
            "All heads use the weights of head 0; each has queries and keys of its own.",
            "所有头都用了头 0 的权重；每个头都有自己的查询和键。",
        ),
        Text("Which columns of W_Q does head 1 use?", "头 1 用 W_Q 的哪些列？"),
    ),
    Mutant(
        "heads.residual",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return x + merge_heads(attention(query, key, value, query.shape[-1] ** -0.5)) @ W_O
""",
        Text(
            "You add x to the output: that belongs to a transformer's block, and not to attention.",
            "你把 x 加到了输出上：那是 Transformer 块的残差连接，不属于注意力本身。",
        ),
        Text("The output is a product with W_O, no more.", "输出只是与 W_O 的乘积。"),
    ),
    Mutant(
        "heads.weights-on-arrays",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key = (split_heads(x @ W.numpy(), n_heads) for W in (W_Q, W_K))
    value = split_heads(x @ W_V, n_heads)
    return merge_heads(attention(query, key, value, query.shape[-1] ** -0.5)) @ W_O
""",
        Text(
            "No gradient reaches W_Q and W_K: you compute with their arrays, and what is done with "
            "arrays is not recorded.",
            "没有梯度到达 W_Q 和 W_K：你用它们的数组计算，而对数组的运算不会被记录。",
        ),
        Text(
            "Where does the first array come into your computation?",
            "你的计算从哪里开始用了数组？",
        ),
    ),
    Mutant(
        "heads.split-on-arrays",
        """
def split_heads(x, n_heads):
    *batch, length, width = x.shape
    return Tensor(x.numpy().reshape(*batch, length, n_heads, width // n_heads).swapaxes(-2, -3))


from minigrad import Tensor
""",
        Text(
            "No gradient passes your split_heads: it makes a new tensor from an array, and so the "
            "record ends there.",
            "梯度无法穿过你的 split_heads：它由数组新建了张量，记录到此中断。",
        ),
        Text("Tensors have reshape and swapaxes too.", "张量也有 reshape 和 swapaxes。"),
    ),
    Mutant(
        "heads.merge-on-arrays",
        """
def merge_heads(x):
    *batch, n_heads, length, width = x.shape
    return Tensor(x.numpy().swapaxes(-2, -3).reshape(*batch, length, n_heads * width))


from minigrad import Tensor
""",
        Text(
            "No gradient passes your merge_heads: it makes a new tensor from an array, and so the "
            "record ends there. Only W_O, behind it, still gets one.",
            "梯度无法穿过你的 merge_heads：它由数组新建了张量，记录到此中断，只有其后的 W_O "
            "还有梯度。",
        ),
        Text("Tensors have reshape and swapaxes too.", "张量也有 reshape 和 swapaxes。"),
    ),
    Mutant(
        "heads.list-of-heads",
        """
def split_heads(x, n_heads):
    width = x.shape[-1] // n_heads
    return [x[..., h * width : (h + 1) * width] for h in range(n_heads)]
""",
        Text(
            "split_heads returns a list of heads; it has to be one tensor, with an axis for the "
            "heads.",
            "split_heads 返回的是由各头组成的列表；它应当是一个张量，其中有一个头的轴。",
        ),
        Text(
            "How can a single attention compute all heads at once?",
            "怎样只做一次注意力，就把所有头算完？",
        ),
    ),
    Mutant(
        "heads.all-axes-reversed",
        """
def split_heads(x, n_heads):
    *batch, length, width = x.shape
    return x.reshape(*batch, length, n_heads, width // n_heads).T
""",
        Text(
            ".T turns all axes around; only those of the words and of the heads change places.",
            ".T 会颠倒所有轴；只应交换词的轴与头的轴。",
        ),
        Text(
            "Which two axes must change places, counted from the end?",
            "从末尾数起，应当交换哪两个轴？",
        ),
    ),
    Mutant(
        "heads.split-wrong-axes-swapped",
        """
def split_heads(x, n_heads):
    *batch, length, width = x.shape
    return x.reshape(*batch, length, n_heads, width // n_heads).mT
""",
        Text(
            "The last two axes are swapped, heads and width; it must be words and heads.",
            "交换的是最后两个轴，即头与宽度；应当交换词与头。",
        ),
        Text(
            "What do the three axes stand for after the reshape?",
            "reshape 之后，三个轴分别代表什么？",
        ),
    ),
    Mutant(
        "heads.split-by-reshape-without-batch",
        """
def split_heads(x, n_heads):
    return x.reshape(n_heads, -1, x.shape[-1] // n_heads)
""",
        Text(
            "You reshape at once, with the heads in front: a head then holds pieces of few "
            "words, and not its columns of all words.",
            "你直接 reshape，把头放到了最前面：一个头里装的是少数词的片段，而不是所有词的对应列。",
        ),
        Text(
            "Does a reshape ever change the order of the numbers?",
            "reshape 会改变数的先后次序吗？",
        ),
    ),
    Mutant(
        "heads.split-without-batch",
        """
def split_heads(x, n_heads):
    length, width = x.shape
    return x.reshape(length, n_heads, width // n_heads).swapaxes(0, 1)
""",
        Text(
            "split_heads wants exactly two axes; there may be batch axes in front.",
            "split_heads 要求恰好两个轴；而前面还可能有批次轴。",
        ),
        Text(
            "How can the last two lengths be taken off a shape of any length?",
            "形状的长度不定时，怎样取出最后两个？",
        ),
    ),
    Mutant(
        "heads.merge-without-batch",
        """
def merge_heads(x):
    n_heads, length, width = x.shape
    return x.swapaxes(0, 1).reshape(length, n_heads * width)
""",
        Text(
            "merge_heads wants exactly three axes; there may be batch axes in front.",
            "merge_heads 要求恰好三个轴；而前面还可能有批次轴。",
        ),
        Text(
            "How can the last three lengths be taken off a shape of any length?",
            "形状的长度不定时，怎样取出最后三个？",
        ),
    ),
    Mutant(
        "heads.width-no-integer",
        """
def split_heads(x, n_heads):
    *batch, length, width = x.shape
    return x.reshape(*batch, length, n_heads, width / n_heads).swapaxes(-2, -3)
""",
        Text(
            "The width of a head is a float; a shape is made of integers (/ always gives a float).",
            "头的宽度是浮点数；而形状由整数组成（/ 总是得到浮点数）。",
        ),
        Text(
            "Which operations of Python give an integer for two integers?",
            "Python 的哪些运算，对两个整数得到的仍是整数？",
        ),
    ),
    Mutant(
        "heads.merge-wrong-axes-swapped",
        """
def merge_heads(x):
    *batch, n_heads, length, width = x.shape
    return x.swapaxes(-1, -2).reshape(*batch, length, n_heads * width)
""",
        Text(
            "The last two axes are swapped, words and width; heads must come to stand beside the "
            "width.",
            "交换的是最后两个轴，即词与宽度；应当让头与宽度相邻。",
        ),
        Text(
            "Which two axes must stand side by side before they become one?",
            "哪两个轴要先相邻，才能并成一个？",
        ),
    ),
    Mutant(
        "heads.merge-below-each-other",
        """
def merge_heads(x):
    *batch, n_heads, length, width = x.shape
    return x.reshape(*batch, n_heads * length, width)
""",
        Text(
            "The heads are put below each other, with more rows; they must stand side by side, "
            "with more columns.",
            "各头上下叠放，行变多了；应当左右并排，列变多。",
        ),
        Text(
            "How many rows has the result for five words?",
            "有五个词时，结果应当有几行？",
        ),
    ),
    Mutant(
        "heads.merge-only-swapped",
        """
def merge_heads(x):
    return x.swapaxes(-2, -3)
""",
        Text(
            "The axes are swapped, but heads and width are still two axes; they must become one.",
            "轴交换了，但头与宽度仍是两个轴；应当并成一个。",
        ),
        Text(
            "What is the shape of the result, (…, L, ?)?",
            "结果的形状是 (…, L, ?)？",
        ),
    ),
    Mutant(
        "heads.scale-heads",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, n_heads**-0.5)) @ W_O
""",
        Text(
            "You scale by the number of heads; the dot products go over the width of one head, "
            "d_k.",
            "你按头的个数缩放；而点积在一个头的宽度 d_k 上求和。",
        ),
        Text(
            "How many products does one score add up?",
            "一个分数由几个乘积相加？",
        ),
    ),
    Mutant(
        "heads.scale-length",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, query.shape[-2] ** -0.5)) @ W_O
""",
        Text(
            "You scale by the number of words; the dot products go over the width of one head, "
            "d_k.",
            "你按词的个数缩放；而点积在一个头的宽度 d_k 上求和。",
        ),
        Text(
            "How many products does one score add up?",
            "一个分数由几个乘积相加？",
        ),
    ),
    Mutant(
        "heads.scale-first-axis",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, query.shape[0] ** -0.5)) @ W_O
""",
        Text(
            "You take d_k from the first axis of the split query, that of the heads or of a batch; "
            "the width is the last axis.",
            "你从拆分后 query 的第一个轴取 d_k，那是头或批次的轴；宽度在最后一个轴。",
        ),
        Text("Count axes from the end: −1 is the width.", "从后往前数轴：−1 是宽度。"),
    ),
    Mutant(
        "heads.not-merged",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return attention(query, key, value, query.shape[-1] ** -0.5) @ W_O
""",
        Text(
            "The heads are not merged before W_O: it has a row for each column of all heads "
            "together.",
            "乘 W_O 之前没有合并各头：W_O 的行对应所有头合在一起的列。",
        ),
        Text(
            "W_O has n_heads · d_v rows. How wide is what you multiply it with?",
            "W_O 有 n_heads · d_v 行。与它相乘的量有多宽？",
        ),
    ),
    Mutant(
        "heads.mixed-before-merging",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, query.shape[-1] ** -0.5) @ W_O)
""",
        Text(
            "W_O comes before the heads are merged: it has a row for each column of all heads "
            "together.",
            "还没有合并各头就乘了 W_O：W_O 的行对应所有头合在一起的列。",
        ),
        Text(
            "W_O has n_heads · d_v rows. How wide is what you multiply it with?",
            "W_O 有 n_heads · d_v 行。与它相乘的量有多宽？",
        ),
    ),
    Mutant(
        "heads.weights-on-the-left",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(W @ x, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, query.shape[-1] ** -0.5)) @ W_O
""",
        Text(
            "The matrices stand on the left of x; rows are words, so they belong on the right.",
            "矩阵放在了 x 的左边；行是词，所以矩阵应当在右边。",
        ),
        Text(
            "x is (L, d_model) and W_Q (d_model, …): which axes have to meet?",
            "x 是 (L, d_model)，W_Q 是 (d_model, …)：哪两个轴要相邻？",
        ),
    ),
    Mutant(
        "heads.weights-transposed",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W.mT, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, query.shape[-1] ** -0.5)) @ W_O
""",
        Text(
            "W_Q, W_K and W_V are transposed; here they are (d_model, …), and stand as they are.",
            "W_Q、W_K、W_V 被转置了；这里它们的形状是 (d_model, …)，直接使用即可。",
        ),
        Text(
            "x is (L, d_model) and W_Q (d_model, …): which axes have to meet?",
            "x 是 (L, d_model)，W_Q 是 (d_model, …)：哪两个轴要相邻？",
        ),
    ),
    Mutant(
        "heads.keys-and-values-swapped",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, value, key = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    return merge_heads(attention(query, key, value, query.shape[-1] ** -0.5)) @ W_O
""",
        Text(
            "Keys and values have changed places: the scores are made with W_V, and W_K is "
            "averaged.",
            "键和值互换了：分数是用 W_V 算的，被平均的却是 W_K 的结果。",
        ),
        Text(
            "In which order are W_Q, W_K and W_V, and in which are your three results?",
            "W_Q、W_K、W_V 是什么顺序？你的三个结果又是什么顺序？",
        ),
    ),
    Mutant(
        "heads.result-on-arrays",
        """
def multi_head_attention(x, W_Q, W_K, W_V, W_O, n_heads):
    query, key, value = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
    made = merge_heads(attention(query, key, value, query.shape[-1] ** -0.5))
    return made.numpy() @ W_O.numpy()
""",
        Text(
            "The output is an array and no tensor: what led to it is not recorded, so there are "
            "no gradients.",
            "输出是数组而不是张量：它是怎样算出来的没有记录，所以没有梯度。",
        ),
        Text(
            "Where does the first array come into your computation?",
            "你的计算从哪里开始用了数组？",
        ),
    ),
]
