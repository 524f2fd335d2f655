"""The classic mistakes of exercise 13."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    Mutant(
        "dropout.own-generator",
        """
def keep_mask(shape, p, rng):
    return np.random.random(shape) >= p
""",
        Text(
            "keep_mask does not draw from the generator that it is given, so no run can be "
            "repeated.",
            "keep_mask 没有使用传入的生成器，于是任何一次运行都无法重现。",
        ),
        Text(
            "What is the parameter rng for?",
            "参数 rng 是做什么用的？",
        ),
    ),
    Mutant(
        "dropout.same-mask-always",
        """
def keep_mask(shape, p, rng):
    return np.random.default_rng(0).random(shape) >= p
""",
        Text(
            "keep_mask gives the same mask every time, whatever the generator.",
            "不管用哪个生成器，keep_mask 总是给出同一个掩码。",
        ),
        Text(
            "Do the numbers that rng draws decide which entries are kept?",
            "保留哪些元素，是由 rng 抽出的数决定的吗？",
        ),
    ),
    Mutant(
        "dropout.p-and-keep-swapped",
        """
def keep_mask(shape, p, rng):
    return rng.random(shape) < p
""",
        Text(
            "Entries are kept with probability p; p is the probability of dropping.",
            "元素以概率 p 保留；而 p 是丢弃的概率。",
        ),
        Text(
            "How many entries must be left if p is 0.1?",
            "p 为 0.1 时，应当留下多少元素？",
        ),
    ),
    Mutant(
        "dropout.p-taken-as-keep",
        """
def keep_mask(shape, p, rng):
    return rng.random(shape) < p


def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * mask / p if training else x


def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g * mask / p if training else g
""",
        Text(
            "p is taken as the probability of keeping, in the mask and in the division; it is "
            "that of dropping.",
            "掩码和除法中都把 p 当成了保留的概率；而 p 是丢弃的概率。",
        ),
        Text(
            "How many entries must be left if p is 0.1?",
            "p 为 0.1 时，应当留下多少元素？",
        ),
    ),
    Mutant(
        "dropout.other-side",
        """
def keep_mask(shape, p, rng):
    return rng.random(shape) < 1 - p
""",
        Text(
            "As many entries are kept as should be, but not those where the number drawn is p "
            "or more, as the page says.",
            "保留的元素个数没有问题，但不是题目规定的那些：应当保留抽到的数不小于 p 的元素。",
        ),
        Text(
            "The checks compare masks entry by entry; the page says which side is kept.",
            "检查会逐个元素比较掩码；题目规定了保留哪一侧。",
        ),
    ),
    Mutant(
        "dropout.always-half",
        """
def keep_mask(shape, p, rng):
    return rng.random(shape) >= 0.5
""",
        Text(
            "Half of the entries are kept, whatever p is.",
            "不管 p 是多少，总是保留一半。",
        ),
        Text(
            "With what must the numbers drawn be compared?",
            "抽到的数应当与什么比较？",
        ),
    ),
    Mutant(
        "dropout.normal-numbers",
        """
def keep_mask(shape, p, rng):
    return rng.normal(size=shape) >= p
""",
        Text(
            "The numbers are drawn from a normal distribution; being p or more has the "
            "probability 1 − p for uniform numbers from 0 to 1.",
            "抽的是正态分布的数；只有 0 到 1 上均匀分布的数，不小于 p 的概率才是 1 − p。",
        ),
        Text(
            "Which method of the generator is uniform?",
            "生成器的哪个方法是均匀分布的？",
        ),
    ),
    Mutant(
        "dropout.one-mask-for-all-rows",
        """
def keep_mask(shape, p, rng):
    return np.broadcast_to(rng.random(shape[-1:]) >= p, shape)
""",
        Text(
            "All rows have the same mask; each entry must be drawn on its own.",
            "所有行用了同一个掩码；每个元素都应当单独抽取。",
        ),
        Text(
            "Which shape must the numbers have that are drawn?",
            "抽出的数应当是什么形状？",
        ),
    ),
    Mutant(
        "dropout.whole-rows",
        """
def keep_mask(shape, p, rng):
    return np.broadcast_to(rng.random((*shape[:-1], 1)) >= p, shape)
""",
        Text(
            "Rows are dropped as a whole; each entry must be drawn on its own.",
            "整行整行地丢弃；每个元素都应当单独抽取。",
        ),
        Text(
            "Which shape must the numbers have that are drawn?",
            "抽出的数应当是什么形状？",
        ),
    ),
    Mutant(
        "dropout.mask-is-scaled",
        """
def keep_mask(shape, p, rng):
    return (rng.random(shape) >= p) / (1 - p)
""",
        Text(
            "keep_mask divides by 1 − p already; it says only what is kept, and dropout divides.",
            "keep_mask 里已经除以了 1 − p；它只说明哪些保留，除法由 dropout 来做。",
        ),
        Text(
            "A mask has only two values.",
            "掩码只有两种取值。",
        ),
    ),
    Mutant(
        "dropout.mask-of-numbers",
        """
def keep_mask(shape, p, rng):
    return (rng.random(shape) >= p).astype(float)
""",
        Text(
            "Your mask is right but for its dtype: it is made of numbers, and not of booleans.",
            "你的掩码除 dtype 之外都对：它由数组成，而不是由布尔值组成。",
        ),
        Text(
            "Which dtype answers a question with yes or no?",
            "回答“是或否”的 dtype 是哪种？",
        ),
    ),
    Mutant(
        "dropout.mask-inverted",
        """
def keep_mask(shape, p, rng):
    return rng.random(shape) < p


def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * ~mask / (1 - p) if training else x


def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g * ~mask / (1 - p) if training else g
""",
        Text(
            "keep_mask is True where an entry is dropped; it must be where it is kept.",
            "keep_mask 在丢弃处为 True；应当在保留处为 True。",
        ),
        Text(
            "The name says what True means.",
            "名字说明了 True 的含义。",
        ),
    ),
    Mutant(
        "dropout.scale-missing",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * mask if training else x
""",
        Text(
            "What is kept is not divided by 1 − p, so the result is on average 1 − p times x in "
            "training, and x itself in evaluation.",
            "保留的元素没有除以 1 − p，于是训练时结果平均只有 x 的 1 − p 倍，而评估时就是 x。",
        ),
        Text(
            "What is the mean of the result over all masks?",
            "对所有可能的掩码取平均，结果是多少？",
        ),
    ),
    Mutant(
        "dropout.scale-in-evaluation",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * mask if training else x * (1 - p)
""",
        Text(
            "The scale is in evaluation: that is the older form of dropout. Here training "
            "divides, and evaluation does nothing.",
            "缩放放在了评估时：那是 dropout 较早的形式。这里在训练时做除法，评估时什么也不做。",
        ),
        Text(
            "What must dropout return if training is False?",
            "training 为 False 时，dropout 应返回什么？",
        ),
    ),
    Mutant(
        "dropout.divided-by-p",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * mask / np.float64(p) if training else x
""",
        Text(
            "What is kept is divided by p; it must be by 1 − p, the part that is kept.",
            "保留的元素除以了 p；应当除以 1 − p，即保留的比例。",
        ),
        Text(
            "If a tenth is dropped, by how much must the others grow?",
            "丢弃十分之一时，其余的应放大多少？",
        ),
    ),
    Mutant(
        "dropout.multiplied",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * mask * (1 - p) if training else x
""",
        Text(
            "What is kept is multiplied by 1 − p; it must be divided.",
            "保留的元素乘了 1 − p；应当除以它。",
        ),
        Text(
            "Must the others become larger or smaller?",
            "其余的元素应当变大还是变小？",
        ),
    ),
    Mutant(
        "dropout.divided-by-count",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * mask * (mask.size / mask.sum()) if training else x
""",
        Text(
            "What is kept is divided by the part that this mask happens to keep; it must be by "
            "1 − p, its probability.",
            "保留的元素除以了这个掩码实际保留的比例；应当除以概率 1 − p。",
        ),
        Text(
            "The scale is the same for every mask.",
            "对每个掩码，缩放都是一样的。",
        ),
    ),
    Mutant(
        "dropout.scale-without-mask",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x / (1 - p) if training else x
""",
        Text(
            "Nothing is dropped: x is divided by 1 − p, but the mask is missing.",
            "什么也没有丢弃：x 除以了 1 − p，但漏了掩码。",
        ),
        Text(
            "Which value has an entry that was dropped?",
            "被丢弃的元素，值是多少？",
        ),
    ),
    Mutant(
        "dropout.identity",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x if training else x
""",
        Text(
            "dropout returns x in training too.",
            "训练时 dropout 也返回了 x。",
        ),
        Text(
            "When is dropout the identity?",
            "dropout 什么时候是恒等的？",
        ),
    ),
    Mutant(
        "dropout.default-is-evaluation",
        """
def dropout(x, *, p, seed, training=False):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * mask / (1 - p) if training else x
""",
        Text(
            "Where the caller does not say training, dropout returns x; the default must be True.",
            "调用者没有给出 training 时，dropout 返回了 x；而它的默认值应为 True。",
        ),
        Text(
            "Which default does the page give training?",
            "题目中 training 的默认值是什么？",
        ),
    ),
    Mutant(
        "dropout.active-in-evaluation",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * mask / (1 - p) if training else x * mask / (1 - p)
""",
        Text(
            "Entries are dropped in evaluation too.",
            "评估时也在丢弃元素。",
        ),
        Text(
            "What is the parameter training for?",
            "参数 training 是做什么用的？",
        ),
    ),
    Mutant(
        "dropout.evaluation-scaled-up",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * mask / (1 - p) if training else x / (1 - p)
""",
        Text(
            "In evaluation x is divided by 1 − p, although nothing is dropped there.",
            "评估时什么也没有丢弃，x 却除以了 1 − p。",
        ),
        Text(
            "What must dropout return if training is False?",
            "training 为 False 时，dropout 应返回什么？",
        ),
    ),
    Mutant(
        "dropout.training-inverted",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x if training else x * mask / (1 - p)
""",
        Text(
            "Entries are dropped in evaluation and left alone in training: it must be the "
            "other way round.",
            "评估时在丢弃，训练时反而不丢：正好反了。",
        ),
        Text(
            "What does training=True mean?",
            "training=True 是什么意思？",
        ),
    ),
    Mutant(
        "dropout.seed-ignored",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng())
    return x * mask / (1 - p) if training else x
""",
        Text(
            "The same seed drops other entries each time, so the rule cannot know which.",
            "种子相同，每次丢弃的元素却不同，于是规则无从得知是哪些。",
        ),
        Text(
            "What alone may decide which entries are dropped?",
            "丢弃哪些元素，只能由什么决定？",
        ),
    ),
    Mutant(
        "dropout.writes-into-x",
        """
def dropout(x, *, p, seed, training=True):
    if training:
        x *= keep_mask(x.shape, p, np.random.default_rng(seed)) / (1 - p)
    return x
""",
        Text(
            "x is changed in place: whoever computed it has another one afterwards.",
            "x 被就地修改了：算出它的人，之后手里的值就变了。",
        ),
        Text(
            "Which of your operations write into x? x *= ... does, x * ... does not.",
            "你的哪些运算会写进 x？x *= ... 会，x * ... 不会。",
        ),
    ),
    Mutant(
        "dropout.new-mask-in-backward",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng())
    return g * mask / (1 - p) if training else g
""",
        Text(
            "Each time the rule is asked, its gradient is 0 at other entries. It must pass where "
            "x passed, so the mask is that of the forward pass.",
            "每次调用规则，梯度为 0 的元素都不同。x 从哪里通过，梯度就从哪里通过，"
            "所以要用前向的那个掩码。",
        ),
        Text(
            "What did forward make its mask from, and does the rule have it too?",
            "前向的掩码由什么得来？规则也有它吗？",
        ),
    ),
    Mutant(
        "dropout.last-mask",
        """
def dropout(x, *, p, seed, training=True):
    global last
    if not training:
        return x
    last = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * last / (1 - p)


def dropout_gradient(g, *, p, seed, training):
    return g * last / (1 - p) if training else g
""",
        Text(
            "The rule uses the mask that was drawn last: with two dropouts in a graph the first "
            "gets the mask of the second.",
            "规则用的是最近一次调用抽出的掩码：图中有两次 dropout 时，第一次会用到第二次的掩码。",
        ),
        Text(
            "What tells the rule which mask belongs to its own call?",
            "规则如何知道哪个掩码属于自己的那次调用？",
        ),
    ),
    Mutant(
        "dropout.backward-scale-missing",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g * mask if training else g
""",
        Text(
            "Your ∂L/∂x is exactly 1 − p times what it must be: the division by 1 − p is "
            "missing in backward.",
            "你的 ∂L/∂x 恰好是应有值的 1 − p 倍：反向时漏了除以 1 − p。",
        ),
        Text(
            "What is ∂y/∂x where an entry is kept?",
            "保留的元素处，∂y/∂x 是多少？",
        ),
    ),
    Mutant(
        "dropout.backward-divided-by-p",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g * mask / np.float64(p) if training else g
""",
        Text(
            "∂L/∂x is divided by p; it must be by 1 − p, as in the forward pass.",
            "∂L/∂x 除以了 p；应当像前向那样除以 1 − p。",
        ),
        Text(
            "What is ∂y/∂x where an entry is kept?",
            "保留的元素处，∂y/∂x 是多少？",
        ),
    ),
    Mutant(
        "dropout.backward-multiplied",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g * mask * (1 - p) if training else g
""",
        Text(
            "∂L/∂x is multiplied by 1 − p; a derivative has the factor of the forward pass, "
            "and does not undo it.",
            "∂L/∂x 乘了 1 − p；导数里的因子与前向相同，而不是把它抵消。",
        ),
        Text(
            "What is ∂y/∂x where an entry is kept?",
            "保留的元素处，∂y/∂x 是多少？",
        ),
    ),
    Mutant(
        "dropout.backward-scaled-twice",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g * mask / (1 - p) ** 2 if training else g
""",
        Text(
            "∂L/∂x is divided by 1 − p twice.",
            "∂L/∂x 除以了两次 1 − p。",
        ),
        Text(
            "What is ∂y/∂x where an entry is kept?",
            "保留的元素处，∂y/∂x 是多少？",
        ),
    ),
    Mutant(
        "dropout.backward-mask-missing",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g / (1 - p) if training else g
""",
        Text(
            "∂L/∂x is not masked: an entry that was dropped has no influence on L, so its "
            "gradient is 0.",
            "∂L/∂x 没有乘掩码：被丢弃的元素对 L 没有影响，所以梯度为 0。",
        ),
        Text(
            "What is ∂y/∂x where an entry is dropped?",
            "丢弃的元素处，∂y/∂x 是多少？",
        ),
    ),
    Mutant(
        "dropout.backward-identity",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g if training else g
""",
        Text(
            "The rule returns g as it is: neither mask nor scale are in it.",
            "规则原样返回了 g：既没有乘掩码，也没有缩放。",
        ),
        Text(
            "What is ∂y/∂x where an entry is kept, and where it is dropped?",
            "保留处和丢弃处的 ∂y/∂x 各是多少？",
        ),
    ),
    Mutant(
        "dropout.backward-mask-inverted",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g * ~mask / (1 - p) if training else g
""",
        Text(
            "∂L/∂x is there where entries were dropped, and 0 where they were kept: the mask "
            "is inverted.",
            "∂L/∂x 在丢弃处有值，在保留处为 0：掩码用反了。",
        ),
        Text(
            "The gradient passes where x passed.",
            "x 从哪里通过，梯度就从哪里通过。",
        ),
    ),
    Mutant(
        "dropout.backward-active-in-evaluation",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g * mask / (1 - p) if training else g * mask / (1 - p)
""",
        Text(
            "The rule masks in evaluation too, where the forward pass changes nothing.",
            "评估时规则也乘了掩码，而那时前向什么也没有改变。",
        ),
        Text(
            "Which parameter of the rule tells whether anything was dropped?",
            "规则的哪个参数说明了有没有丢弃元素？",
        ),
    ),
    Mutant(
        "dropout.upstream-ignored",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return mask / (1 - p) if training else np.ones(g.shape)
""",
        Text(
            "The upstream gradient is not used: the rule returns ∂y/∂x alone.",
            "没有用到上游梯度：规则只返回了 ∂y/∂x。",
        ),
        Text(
            "By the chain rule the local derivative is multiplied by g.",
            "根据链式法则，局部导数要乘以 g。",
        ),
    ),
    Mutant(
        "dropout.backward-writes-into-g",
        """
def dropout_gradient(g, *, p, seed, training):
    if training:
        g *= keep_mask(g.shape, p, np.random.default_rng(seed)) / (1 - p)
    return g
""",
        Text(
            "The rule writes into g: other rules get the same array as their upstream.",
            "规则就地修改了 g：其他规则的上游梯度可能是同一个数组。",
        ),
        Text(
            "Which of your operations write into g? g *= ... does, g * ... does not.",
            "你的哪些运算会写进 g？g *= ... 会，g * ... 不会。",
        ),
    ),
    Mutant(
        "dropout.one-number",
        """
def keep_mask(shape, p, rng):
    return rng.random() >= p
""",
        Text(
            "One number is drawn for all entries; each is to be drawn on its own.",
            "所有元素只抽了一个数；每个元素都应当单独抽取。",
        ),
        Text(
            "What is the parameter shape for?",
            "参数 shape 是做什么用的？",
        ),
    ),
    Mutant(
        "dropout.legacy-generator",
        """
def dropout(x, *, p, seed, training=True):
    if not training:
        return x
    np.random.seed(seed)
    return x * (np.random.random(x.shape) >= p) / (1 - p)
""",
        Text(
            "The mask is drawn from NumPy's global generator, seeded anew: that gives other "
            "numbers than np.random.default_rng(seed), and changes what others draw.",
            "掩码来自重新设定种子的 NumPy 全局生成器：所抽的数与 np.random.default_rng(seed) 的不"
            "同，还会影响别处抽取的数。",
        ),
        Text(
            "Which generator does the page make from the seed?",
            "页面上用种子创建的是哪个生成器？",
        ),
    ),
    Mutant(
        "dropout.evaluation-scaled-down",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return x * mask / (1 - p) if training else x * (1 - p)
""",
        Text(
            "x is scaled in evaluation too, although training has divided by 1 − p already.",
            "训练时已经除以了 1 − p，评估时却又缩放了一次。",
        ),
        Text(
            "What is the mean of the result in training, over all masks?",
            "训练时，对所有可能的掩码取平均，结果是多少？",
        ),
    ),
    Mutant(
        "dropout.mask-returned-too",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(seed))
    return (x * mask / (1 - p), mask) if training else x
""",
        Text(
            "dropout returns the mask as well; it returns the result alone, and the rule draws "
            "the mask again.",
            "dropout 连掩码也返回了；它只应返回结果，掩码由规则重新抽取。",
        ),
        Text(
            "What can the rule make the mask from?",
            "规则可以由什么得到掩码？",
        ),
    ),
    Mutant(
        "dropout.backward-upstream-ignored",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return mask / (1 - p) if training else g
""",
        Text(
            "In training the rule returns the mask over 1 − p: it does not depend on g.",
            "训练时规则返回的是掩码除以 1 − p：它与 g 无关。",
        ),
        Text(
            "What passes where an entry was kept?",
            "保留的元素处，传下去的是什么？",
        ),
    ),
    Mutant(
        "dropout.backward-zero-in-evaluation",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g * mask / (1 - p) if training else np.zeros_like(g)
""",
        Text(
            "In evaluation the rule returns 0: there the result is x itself.",
            "评估时规则返回了 0：而评估时结果就是 x 本身。",
        ),
        Text(
            "If x grows by 1 in evaluation, by how much does the result?",
            "评估时 x 增加 1，结果增加多少？",
        ),
    ),
    Mutant(
        "dropout.backward-times-x",
        """
def dropout_gradient(g, x, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g * x * mask / (1 - p) if training else g
""",
        Text(
            "g is multiplied by x: the slope is the mask over 1 − p, however large x is.",
            "g 乘以了 x：斜率是掩码除以 1 − p，与 x 的大小无关。",
        ),
        Text(
            "If a kept entry grows by 1, by how much does the result?",
            "一个保留的元素增加 1，结果增加多少？",
        ),
    ),
    Mutant(
        "dropout.kept-from-one-minus-p",
        """
def keep_mask(shape, p, rng):
    return rng.random(shape) >= 1 - p
""",
        Text(
            "Entries are kept where the number drawn is 1 − p or more, so with probability p; p "
            "is the probability of dropping.",
            "保留的是抽到的数不小于 1 − p 的元素，即以概率 p 保留；而 p 是丢弃的概率。",
        ),
        Text(
            "How many entries must be left if p is 0.1?",
            "p 为 0.1 时，应当留下多少元素？",
        ),
    ),
    Mutant(
        "dropout.seed-zero",
        """
def dropout(x, *, p, seed, training=True):
    mask = keep_mask(x.shape, p, np.random.default_rng(0))
    return x * mask / (1 - p) if training else x
""",
        Text(
            "The mask is that of the seed 0, whichever seed is given.",
            "不论给出哪个种子，用的都是种子 0 的掩码。",
        ),
        Text("What is the parameter seed for?", "参数 seed 是做什么用的？"),
    ),
    *[
        Mutant(
            f"dropout.backward-seed-{name}",
            f"""
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng({seed}))
    return g * mask / (1 - p) if training else g
""",
            Text(
                f"The mask in the rule comes from {en}: the gradient must pass where x passed, so "
                "the mask is that of the forward pass.",
                f"规则中的掩码来自{zh}：x 从哪里通过，梯度就从哪里通过，所以要用前向的那个掩码。",
            ),
            Text("From which seed did forward make its mask?", "前向的掩码由哪个种子得来？"),
        )
        for name, seed, en, zh in (
            ("zero", "0", "the seed 0", "种子 0"),
            ("plus-one", "seed + 1", "the seed after the one given", "给定种子加 1"),
        )
    ],
    Mutant(
        "dropout.backward-second-draw",
        """
def dropout_gradient(g, *, p, seed, training):
    rng = np.random.default_rng(seed)
    keep_mask(g.shape, p, rng)
    mask = keep_mask(g.shape, p, rng)
    return g * mask / (1 - p) if training else g
""",
        Text(
            "The mask in the rule is the second that a generator of this seed gives: forward took "
            "the first.",
            "规则中的掩码是这个种子的生成器给出的第二个：前向用的是第一个。",
        ),
        Text(
            "How many numbers has the generator given before the rule draws its mask?",
            "规则抽取掩码之前，生成器已经给出了多少个数？",
        ),
    ),
    Mutant(
        "dropout.backward-scaled-in-evaluation",
        """
def dropout_gradient(g, *, p, seed, training):
    mask = keep_mask(g.shape, p, np.random.default_rng(seed))
    return g * mask / (1 - p) if training else g / (1 - p)
""",
        Text(
            "In evaluation the rule divides by 1 − p, where the forward pass changes nothing.",
            "评估时规则除以了 1 − p，而那时前向什么也没有改变。",
        ),
        Text(
            "If x grows by 1 in evaluation, by how much does the result?",
            "评估时 x 增加 1，结果增加多少？",
        ),
    ),
]
