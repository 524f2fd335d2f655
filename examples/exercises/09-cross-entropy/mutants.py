"""The classic mistakes of exercise 9."""

from minigrad.coursework import Mutant, Text

MUTANTS = [
    # ------------------------------------------------------------------------------- the gradient
    Mutant(
        "cross-entropy.mean-not-divided",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    return (g * counted)[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            'Your ∂L/∂logits is exactly N times too large for "mean": the division by the number '
            "of targets that count is missing in backward.",
            '"mean" 时你的 ∂L/∂logits 恰好是正确值的 N 倍：反向时漏了除以参与计算的目标数。',
        ),
        Text(
            "By how much does the mean of N losses move if one of them moves by 1?",
            "N 个损失中有一个变化 1，平均值变化多少？",
        ),
    ),
    Mutant(
        "cross-entropy.divided-by-classes",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / (logits.shape[-1] if reduction == "mean" else 1)
    return share[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            "The gradient of the mean is divided by the number of classes; the mean is over the "
            "targets.",
            "平均损失的梯度除以了类别数；而平均是对各个目标取的。",
        ),
        Text("How many losses does the mean add up?", "求平均时一共加了多少个损失？"),
    ),
    Mutant(
        "cross-entropy.divided-by-size",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, reduction)
    if reduction == "mean":
        share = share / logits.shape[-1]
    return share[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            "The gradient of the mean is divided by targets times classes, so it is C times too "
            "small.",
            "平均损失的梯度除以了目标数与类别数之积，因此只有正确值的 1/C。",
        ),
        Text(
            "A row has one loss, not one for each class.",
            "一行只有一个损失，不是每个类别一个。",
        ),
    ),
    Mutant(
        "cross-entropy.always-divided",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, "mean")
    return share[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            'The rule divides by N for every reduction; "sum" and "none" divide by nothing.',
            '规则对每种 reduction 都除以 N；而 "sum" 和 "none" 什么也不除。',
        ),
        Text("The rule gets reduction too.", "规则也会得到 reduction。"),
    ),
    Mutant(
        "cross-entropy.sum-divided",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, "none" if reduction == "none" else "mean")
    return share[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            'The rule divides by N for "sum" as it does for "mean".',
            '规则对 "sum" 也像 "mean" 那样除以了 N。',
        ),
        Text(
            "Which reductions have a division in the forward pass?",
            "前向计算中，哪些 reduction 做了除法？",
        ),
    ),
    Mutant(
        "cross-entropy.one-hot-missing",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    share = g * counted / divisor(counted, reduction)
    return share[..., None] * np.exp(log_softmax(logits))
""",
        Text(
            "The gradient is p alone: the 1 at the target is not subtracted, so nothing tells "
            "right classes from wrong ones.",
            "梯度只有 p：目标处没有减去 1，于是对的类别和错的类别没有区别。",
        ),
        Text(
            "The loss is log Σ exp(x) minus the logit of the target; differentiate both.",
            "损失是 log Σ exp(x) 减去目标的 logit；两项都要求导。",
        ),
    ),
    Mutant(
        "cross-entropy.target-alone",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, reduction)
    return share[..., None] * one_hot * (np.exp(log_softmax(logits)) - 1)
""",
        Text(
            "Only the logit of the target gets a gradient; the others are in Σ exp(x) too, and "
            "must be pushed down.",
            "只有目标的 logit 得到了梯度；其余 logits 也在 Σ exp(x) 中，应当被压低。",
        ),
        Text("Add up a row of your gradient: it must be 0.", "把你的梯度按行相加：结果应为 0。"),
    ),
    Mutant(
        "cross-entropy.minus-one-hot",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, reduction)
    return -share[..., None] * one_hot
""",
        Text(
            "The gradient is −1 at the target and 0 elsewhere: the derivative of log Σ exp(x) is "
            "missing.",
            "梯度在目标处为 −1，其余为 0：漏了 log Σ exp(x) 的导数。",
        ),
        Text(
            "What is the derivative of log Σ exp(x) with respect to one xⱼ?",
            "log Σ exp(x) 对某个 xⱼ 的导数是什么？",
        ),
    ),
    Mutant(
        "cross-entropy.sign",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, reduction)
    return share[..., None] * (one_hot - np.exp(log_softmax(logits)))
""",
        Text(
            "The gradient has the opposite sign: with it, training makes the target less likely.",
            "梯度的符号反了：用它训练，目标的概率会越来越小。",
        ),
        Text(
            "The loss falls as the target's logit grows; which sign has the gradient there?",
            "目标的 logit 变大，损失变小；那里的梯度是什么符号？",
        ),
    ),
    Mutant(
        "cross-entropy.upstream-ignored",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = counted / divisor(counted, reduction)
    return share[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            "The upstream gradient is not used: that is right only if the loss is the end of all.",
            "没有用到上游梯度：只有当这个损失就是最终结果时才对。",
        ),
        Text(
            "Let L be three times the loss. What must change?",
            "设 L 是这个损失的三倍，梯度该怎样变？",
        ),
    ),
    Mutant(
        "cross-entropy.upstream-averaged",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = np.mean(g) * counted / divisor(counted, reduction)
    return share[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            'For "none" the upstream is averaged over the rows; each row has an entry of its own '
            "in g.",
            '"none" 时把上游梯度对各行取了平均；而每一行在 g 中有自己的元素。',
        ),
        Text(
            "Which shape has g, and which must it broadcast to?", "g 是什么形状，要广播到什么形状？"
        ),
    ),
    Mutant(
        "cross-entropy.upstream-summed",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = np.sum(g) * counted / divisor(counted, reduction)
    return share[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            'For "none" the upstream is summed over the rows; each row has an entry of its own '
            "in g.",
            '"none" 时把上游梯度对各行求了和；而每一行在 g 中有自己的元素。',
        ),
        Text(
            "Which shape has g, and which must it broadcast to?", "g 是什么形状，要广播到什么形状？"
        ),
    ),
    Mutant(
        "cross-entropy.of-probabilities",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, reduction)
    return -share[..., None] * one_hot / np.exp(log_softmax(logits))
""",
        Text(
            "−1 / p at the target is the gradient with respect to the weights p, not to the "
            "logits.",
            "目标处的 −1 / p 是损失对权重 p 的梯度，不是对 logits 的梯度。",
        ),
        Text("The way back leads through the softmax too.", "往回走还要经过 softmax。"),
    ),
    Mutant(
        "cross-entropy.softmax-rule-again",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, reduction)
    p = np.exp(log_softmax(logits))
    d = share[..., None] * (p - one_hot)
    return p * (d - (d * p).sum(axis=-1, keepdims=True))
""",
        Text(
            "p − one-hot already is the gradient of the logits; the rule of the softmax is "
            "applied to it once more.",
            "p − 独热 已经是对 logits 的梯度；又对它用了一次 softmax 的规则。",
        ),
        Text(
            "Begin at the loss as a function of the logits, and count the softmaxes.",
            "从损失作为 logits 的函数出发，数一数有几个 softmax。",
        ),
    ),
    Mutant(
        "cross-entropy.backward-softmax-twice",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, reduction)
    p = np.exp(log_softmax(np.exp(log_softmax(logits))))
    return share[..., None] * (p - one_hot)
""",
        Text(
            "The rule applies softmax to weights that are softmaxed already.",
            "规则对已经取过 softmax 的权重又取了一次 softmax。",
        ),
        Text("What the rule gets are logits.", "规则得到的是 logits。"),
    ),
    Mutant(
        "cross-entropy.backward-logits-for-weights",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, reduction)
    return share[..., None] * (logits - one_hot)
""",
        Text(
            "The rule subtracts the one-hot row from the logits; it must be from the weights p.",
            "规则用 logits 减去了独热行；应当用权重 p 去减。",
        ),
        Text("What the rule gets are logits, not weights.", "规则得到的是 logits，不是权重。"),
    ),
    Mutant(
        "cross-entropy.backward-counts-ignored",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / (targets.size if reduction == "mean" else 1)
    return share[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            "The gradient of the mean is divided by all targets; only those that count belong "
            "into the divisor.",
            "平均损失的梯度除以了全部目标的个数；除数只应包含参与计算的目标。",
        ),
        Text("What does your forward pass divide by?", "你的前向计算除以了什么？"),
    ),
    Mutant(
        "cross-entropy.ignored-rows-get-gradient",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = (targets[..., None] == np.arange(logits.shape[-1])) & counted[..., None]
    share = g * np.ones(targets.shape) / divisor(counted, reduction)
    return share[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            "Rows whose target is ignored get the gradient p; their loss is 0 whatever the "
            "logits are, so their gradient is 0.",
            "目标被忽略的行得到了梯度 p；这些行的损失恒为 0，所以梯度也为 0。",
        ),
        Text(
            "How does the loss of an ignored row change with its logits?",
            "被忽略的行，损失怎样随 logits 变化？",
        ),
    ),
    Mutant(
        "cross-entropy.backward-index-fixed",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != -100
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, reduction)
    return share[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            "The rule ignores targets of −100 whatever ignore_index says.",
            "不管 ignore_index 是多少，规则总是忽略 −100。",
        ),
        Text("−100 is only the default of ignore_index.", "−100 只是 ignore_index 的默认值。"),
    ),
    Mutant(
        "cross-entropy.backward-overflow",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, reduction)
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    return share[..., None] * (p - one_hot)
""",
        Text(
            "exp overflows in backward for large logits, and ∞ / ∞ is NaN.",
            "logits 很大时反向中的 exp 会溢出，而 ∞ / ∞ 是 NaN。",
        ),
        Text(
            "What did forward take off each row before exp?",
            "前向在取 exp 之前，从每一行减去了什么？",
        ),
    ),
    Mutant(
        "cross-entropy.backward-none-counts",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / (counted.sum() if reduction == "mean" else 1)
    return share[..., None] * (np.exp(log_softmax(logits)) - one_hot)
""",
        Text(
            "If no target counts, the rule divides 0 by 0, and one such batch makes all "
            "parameters NaN.",
            "没有目标参与计算时，规则计算了 0 / 0；只要出现一个这样的批次，所有参数都会变成 NaN。",
        ),
        Text(
            "What is your divisor if all targets are ignored?",
            "所有目标都被忽略时，你的除数是多少？",
        ),
    ),
    # -------------------------------------------------------------------------------- the forward
    Mutant(
        "cross-entropy.forward-sign",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, picked, 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "The loss is negative: it is log p; a minus is missing, or there is one too many.",
            "损失是负的：得到的是 log p，漏了一个负号，或者多了一个。",
        ),
        Text("What is the loss of a certain and right guess?", "确信且正确的预测，损失应是多少？"),
    ),
    Mutant(
        "cross-entropy.through-probabilities",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p = weights / weights.sum(axis=-1, keepdims=True)
    losses = np.where(counted, -np.log(np.take_along_axis(p, chosen[..., None], -1)[..., 0]), 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "The loss goes through the weights: one that is too small becomes 0, and −log 0 is ∞.",
            "损失经过了权重：太小的权重会变成 0，而 −log 0 是 ∞。",
        ),
        Text(
            "What becomes of log (exp(x) / Σ exp(x)) if you simplify it on paper?",
            "在纸上把 log (exp(x) / Σ exp(x)) 化简，会得到什么？",
        ),
    ),
    Mutant(
        "cross-entropy.naive-probabilities",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    losses = np.where(counted, -np.log(np.take_along_axis(p, chosen[..., None], -1)[..., 0]), 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "The loss is −log of a softmax that itself is not safe: exp overflows, weights "
            "become 0 or NaN.",
            "损失是对一个本身就不安全的 softmax 取 −log：exp 会溢出，权重变成 0 或 NaN。",
        ),
        Text(
            "What becomes of log (exp(x) / Σ exp(x)) if you simplify it on paper, and which "
            "constant keeps exp from overflowing?",
            "在纸上把 log (exp(x) / Σ exp(x)) 化简，会得到什么？减去哪个常数能防止 exp 溢出？",
        ),
    ),
    Mutant(
        "cross-entropy.epsilon",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    p = np.exp(log_softmax(logits)) + 1e-12
    losses = np.where(counted, -np.log(np.take_along_axis(p, chosen[..., None], -1)[..., 0]), 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "A small number keeps the weights away from 0: the loss is finite then, but wrong, "
            "since it stops growing.",
            "加一个小数使权重不为 0：损失虽然有限，却是错的，因为它不再增大。",
        ),
        Text(
            "No such number is needed if the logarithm is simplified first.",
            "先化简对数，就不需要这个小数。",
        ),
    ),
    Mutant(
        "cross-entropy.overflow",
        """
def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
""",
        Text(
            "exp overflows for large logits: nothing is subtracted before it.",
            "logits 很大时 exp 会溢出：取 exp 之前没有减去任何东西。",
        ),
        Text(
            "Which constant can be taken off each row without changing the loss?",
            "每一行减去哪个常数，损失不变而 exp 不会溢出？",
        ),
    ),
    Mutant(
        "cross-entropy.forward-overflow",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    shifted = logits
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    picked = np.take_along_axis(logs, chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "In the forward pass, exp overflows for large logits: nothing is subtracted before it.",
            "前向计算中，logits 很大时 exp 会溢出：取 exp 之前没有减去任何东西。",
        ),
        Text(
            "Which constant can be taken off each row without changing the loss?",
            "每一行减去哪个常数，损失不变而 exp 不会溢出？",
        ),
    ),
    Mutant(
        "cross-entropy.one-maximum-for-all",
        """
def log_softmax(logits):
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
""",
        Text(
            "One maximum is subtracted from all rows: in a row far below it the sum of exp is 0, "
            "and its logarithm −∞.",
            "所有行都减去同一个最大值：远低于它的那一行，exp 之和为 0，对数为 −∞。",
        ),
        Text(
            "Along which axis must the maximum be taken, so that at least one exponent of every "
            "row is 0?",
            "沿哪个轴取最大值，才能让每一行至少有一个指数为 0？",
        ),
    ),
    Mutant(
        "cross-entropy.forward-one-maximum-for-all",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    shifted = logits - logits.max()
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    picked = np.take_along_axis(logs, chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "In the forward pass, one maximum is subtracted from all rows: in a row far "
            "below it the sum of exp is 0, "
            "and its logarithm −∞.",
            "前向计算中，所有行都减去同一个最大值：远低于它的那一行，exp 之和为 0，对数为 −∞。",
        ),
        Text(
            "Along which axis must the maximum be taken, so that at least one exponent of every "
            "row is 0?",
            "沿哪个轴取最大值，才能让每一行至少有一个指数为 0？",
        ),
    ),
    Mutant(
        "cross-entropy.softmax-twice",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    logs = log_softmax(np.exp(log_softmax(logits)))
    losses = np.where(counted, -np.take_along_axis(logs, chosen[..., None], axis=-1)[..., 0], 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "Softmax is applied twice, so even a certain guess keeps a large loss.",
            "softmax 用了两次，于是再确信的预测也有很大的损失。",
        ),
        Text(
            "Count the softmaxes between logits and loss.", "数一数从 logits 到损失有几个 softmax。"
        ),
    ),
    Mutant(
        "cross-entropy.normaliser-missing",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(logits, chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "The loss is minus the logit of the target; log Σ exp(x) is missing, so it can be "
            "made as small as one likes.",
            "损失只是目标 logit 的相反数；漏了 log Σ exp(x)，于是它可以无限变小。",
        ),
        Text(
            "What is log (exp(x) / Σ exp(x)), simplified?", "log (exp(x) / Σ exp(x)) 化简后是什么？"
        ),
    ),
    Mutant(
        "cross-entropy.probability-for-logarithm",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    p = np.exp(log_softmax(logits))
    losses = np.where(counted, -np.take_along_axis(p, chosen[..., None], axis=-1)[..., 0], 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "The loss is −p; the logarithm is missing.",
            "损失是 −p：漏了对数。",
        ),
        Text("What is the loss of a weight of 1/2?", "权重为 1/2 时损失是多少？"),
    ),
    Mutant(
        "cross-entropy.base-2",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0) / np.log(2)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "The logarithm is to the base 2; it must be the natural one.",
            "用了以 2 为底的对数；应当用自然对数。",
        ),
        Text(
            "What is the loss of a weight of 1/e?",
            "权重为 1/e 时损失是多少？",
        ),
    ),
    Mutant(
        "cross-entropy.ignored-in-divisor",
        """
def divisor(counted, reduction):
    return counted.size if reduction == "mean" else 1
""",
        Text(
            "The mean divides by all targets; those that are ignored must not count.",
            "求平均时除以了全部目标的个数；被忽略的目标不应计入。",
        ),
        Text(
            "How many losses are added up if two of seven targets are ignored?",
            "七个目标中有两个被忽略时，一共加了几个损失？",
        ),
    ),
    Mutant(
        "cross-entropy.forward-ignored-in-divisor",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    divided_by = targets.size if reduction == "mean" else 1
    return losses if reduction == "none" else losses.sum() / divided_by
""",
        Text(
            "In the forward pass, the mean divides by all targets; those that are ignored "
            "must not count.",
            "前向计算中，求平均时除以了全部目标的个数；被忽略的目标不应计入。",
        ),
        Text(
            "How many losses are added up if two of seven targets are ignored?",
            "七个目标中有两个被忽略时，一共加了几个损失？",
        ),
    ),
    Mutant(
        "cross-entropy.first-axis-in-divisor",
        """
def divisor(counted, reduction):
    return len(counted) if reduction == "mean" else 1
""",
        Text(
            "The mean divides by the length of the first axis, not by the number of targets "
            "that count.",
            "求平均时除以了第一个轴的长度，而不是参与计算的目标数。",
        ),
        Text(
            "Targets may have several axes, and some may be ignored.",
            "targets 可以有多个轴，其中有些可能被忽略。",
        ),
    ),
    Mutant(
        "cross-entropy.forward-first-axis-in-divisor",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    divided_by = len(targets) if reduction == "mean" else 1
    return losses if reduction == "none" else losses.sum() / divided_by
""",
        Text(
            "In the forward pass, the mean divides by the length of the first axis, not by "
            "the number of targets "
            "that count.",
            "前向计算中，求平均时除以了第一个轴的长度，而不是参与计算的目标数。",
        ),
        Text(
            "Targets may have several axes, and some may be ignored.",
            "targets 可以有多个轴，其中有些可能被忽略。",
        ),
    ),
    Mutant(
        "cross-entropy.forward-shape-in-divisor",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    divided_by = targets.shape[0] if reduction == "mean" else 1
    return losses if reduction == "none" else losses.sum() / divided_by
""",
        Text(
            "In the forward pass, the mean divides by the length of the first axis, not by "
            "the number of targets "
            "that count.",
            "前向计算中，求平均时除以了第一个轴的长度，而不是参与计算的目标数。",
        ),
        Text(
            "Targets may have several axes, and some may be ignored.",
            "targets 可以有多个轴，其中有些可能被忽略。",
        ),
    ),
    Mutant(
        "cross-entropy.forward-first-side-in-divisor",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    divided_by = logits.shape[0] if reduction == "mean" else 1
    return losses if reduction == "none" else losses.sum() / divided_by
""",
        Text(
            "In the forward pass, the mean divides by the length of the first axis of the logits, "
            "not by the number of targets that count.",
            "前向计算中，求平均时除以了 logits 第一个轴的长度，而不是参与计算的目标数。",
        ),
        Text(
            "There may be several axes of rows, or none, and some targets may be ignored.",
            "行的轴可以有多个，也可以没有；有些目标还可能被忽略。",
        ),
    ),
    Mutant(
        "cross-entropy.mean-over-classes",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    total = losses.sum() / (logits.shape[-1] if reduction == "mean" else 1)
    return losses if reduction == "none" else total
""",
        Text(
            "The mean divides by the number of classes; it is a mean over targets.",
            "求平均时除以了类别数；应当对目标取平均。",
        ),
        Text("How many losses are added up?", "一共加了多少个损失？"),
    ),
    Mutant(
        "cross-entropy.ignored-loss-counts",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    losses = -np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "Ignored targets are taken as class 0, and their losses are added up with the others.",
            "被忽略的目标被当成类别 0，其损失也加了进去。",
        ),
        Text(
            "The loss of an ignored target is 0, before anything is summed.",
            "被忽略目标的损失是 0，求和之前就应如此。",
        ),
    ),
    Mutant(
        "cross-entropy.ignored-used-as-index",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    logs = log_softmax(logits).reshape(-1, logits.shape[-1])
    losses = -logs[np.arange(targets.size), targets.ravel()].reshape(targets.shape)
    losses = np.where(counted, losses, 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "Targets are used as an index before the ignored ones are taken out; −100 is no class.",
            "还没有排除被忽略的目标，就把 targets 当作下标；而 −100 不是类别。",
        ),
        Text(
            "Which class can stand in for an ignored target, and what must its loss become?",
            "可以用哪个类别代替被忽略的目标？它的损失之后应变成多少？",
        ),
    ),
    Mutant(
        "cross-entropy.index-fixed",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != -100
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "Targets of −100 are ignored whatever ignore_index says.",
            "不管 ignore_index 是多少，总是忽略 −100。",
        ),
        Text("−100 is only the default of ignore_index.", "−100 只是 ignore_index 的默认值。"),
    ),
    Mutant(
        "cross-entropy.sum-is-mean",
        """
def divisor(counted, reduction):
    return max(int(counted.sum()), 1)
""",
        Text(
            '"sum" is divided by the number of targets, as "mean" is.',
            '"sum" 也像 "mean" 那样除以了目标数。',
        ),
        Text("Only one of the two divides.", "两者之中只有一个做除法。"),
    ),
    Mutant(
        "cross-entropy.forward-sum-is-mean",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    divided_by = max(int(counted.sum()), 1)
    return losses if reduction == "none" else losses.sum() / divided_by
""",
        Text(
            'In the forward pass, "sum" is divided by the number of targets, as "mean" is.',
            '前向计算中，"sum" 也像 "mean" 那样除以了目标数。',
        ),
        Text("Only one of the two divides.", "两者之中只有一个做除法。"),
    ),
    Mutant(
        "cross-entropy.mean-is-sum",
        """
def divisor(counted, reduction):
    return 1
""",
        Text(
            '"mean" is the sum: nothing is divided.',
            '"mean" 返回的是和：没有做除法。',
        ),
        Text(
            "How many losses are added up, and what must be done with that number?",
            "一共加了几个损失？求平均时这个个数怎么用？",
        ),
    ),
    Mutant(
        "cross-entropy.forward-mean-is-sum",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    divided_by = 1
    return losses if reduction == "none" else losses.sum() / divided_by
""",
        Text(
            'In the forward pass, "mean" is the sum: nothing is divided.',
            '前向计算中，"mean" 返回的是和：没有做除法。',
        ),
        Text(
            "How many losses are added up, and what must be done with that number?",
            "一共加了几个损失？求平均时这个个数怎么用？",
        ),
    ),
    Mutant(
        "cross-entropy.none-counts",
        """
def divisor(counted, reduction):
    return counted.sum() if reduction == "mean" else 1
""",
        Text(
            "If no target counts, the mean is 0 / 0, which is NaN; it must be 0.",
            "没有目标参与计算时，平均是 0 / 0，即 NaN；应当为 0。",
        ),
        Text(
            "What is your divisor if all targets are ignored?",
            "所有目标都被忽略时，你的除数是多少？",
        ),
    ),
    Mutant(
        "cross-entropy.forward-none-counts",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    divided_by = counted.sum() if reduction == "mean" else 1
    return losses if reduction == "none" else losses.sum() / divided_by
""",
        Text(
            "In the forward pass, if no target counts, the mean is 0 / 0, which is NaN; it "
            "must be 0.",
            "前向计算中，没有目标参与计算时，平均是 0 / 0，即 NaN；应当为 0。",
        ),
        Text(
            "What is your divisor if all targets are ignored?",
            "所有目标都被忽略时，你的除数是多少？",
        ),
    ),
    Mutant(
        "cross-entropy.writes-into-logits",
        """
def log_softmax(logits):
    logits -= logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
""",
        Text(
            "The logits are changed in place: whoever computed them has others afterwards.",
            "logits 被就地修改了：算出它们的人，之后手里的值就变了。",
        ),
        Text(
            "x -= ... changes x itself; x = x - ... does not.",
            "x -= ... 会改变 x 本身，x = x - ... 不会。",
        ),
    ),
    Mutant(
        "cross-entropy.writes-into-targets",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    targets[~counted] = 0
    picked = np.take_along_axis(log_softmax(logits), targets[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "The targets are overwritten in place: the rule gets others than the forward pass did.",
            "targets 被就地改写了：规则得到的就不再是前向得到的那些。",
        ),
        Text(
            "Which of your operations write into an array that is there already?",
            "你的哪些运算会写进已有的数组？",
        ),
    ),
    Mutant(
        "cross-entropy.reduction-ignored",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    return np.where(counted, -picked, 0.0).sum() / divisor(counted, "mean")
""",
        Text(
            "The result is always the mean, whatever reduction says.",
            "不管 reduction 是什么，返回的总是平均值。",
        ),
        Text(
            "Which three values may reduction have?",
            "reduction 可以取哪三个值？",
        ),
    ),
    Mutant(
        "cross-entropy.ignored-left-out",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = np.take_along_axis(log_softmax(logits), chosen[..., None], axis=-1)[..., 0]
    losses = -picked[counted]
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            'With "none" the ignored targets are left out; each must keep its place, with the '
            "loss 0.",
            '"none" 时，被忽略的目标直接去掉了；它们应当各占一位，损失为 0。',
        ),
        Text(
            'How many losses must "none" return for seven targets?',
            '有七个目标时，"none" 应当返回几个损失？',
        ),
    ),
    Mutant(
        "cross-entropy.one-axis-of-rows",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    picked = log_softmax(logits)[np.arange(len(targets)), chosen]
    losses = np.where(counted, -picked, 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "np.arange(len(targets)) numbers the rows only where there is a single axis of them.",
            "只有一个行轴时，np.arange(len(targets)) 才能给各行编号。",
        ),
        Text(
            "What is left of several axes if you flatten them first?",
            "如果先把多个轴展平，还剩几个轴？",
        ),
    ),
    Mutant(
        "cross-entropy.all-pairs",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    losses = np.where(counted, -log_softmax(logits)[..., chosen], 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "Every row is looked up at all targets; each row has only its own.",
            "每一行都按全部目标取了值；而每一行只有自己的那个目标。",
        ),
        Text(
            "How many entries must be picked out of five rows?",
            "从五行中一共应当取出几个元素？",
        ),
    ),
    Mutant(
        "cross-entropy.first-axis",
        """
def log_softmax(logits):
    shifted = logits - logits.max(axis=0, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=0, keepdims=True))
""",
        Text(
            "The softmax goes along the first axis, across rows; classes lie along the last one.",
            "softmax 沿第一个轴、跨各行计算；而类别在最后一个轴上。",
        ),
        Text(
            "The weights of which entries must sum to 1?",
            "哪些元素的权重之和应为 1？",
        ),
    ),
    Mutant(
        "cross-entropy.forward-first-axis",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    chosen = np.where(counted, targets, 0)
    shifted = logits - logits.max(axis=0, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=0, keepdims=True))
    picked = np.take_along_axis(logs, chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counted, -picked, 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "In the forward pass the softmax goes along the first axis, across rows; classes lie "
            "along the last one.",
            "前向计算中，softmax 沿第一个轴、跨各行计算；而类别在最后一个轴上。",
        ),
        Text(
            "The weights of which entries must sum to 1?",
            "哪些元素的权重之和应为 1？",
        ),
    ),
    Mutant(
        "cross-entropy.binary",
        """
def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    p = np.exp(log_softmax(logits))
    losses = np.where(counted, -np.log(np.where(one_hot, p, 1 - p)).sum(axis=-1), 0.0)
    return losses if reduction == "none" else losses.sum() / divisor(counted, reduction)
""",
        Text(
            "The loss also has −log (1 − p) of the other classes: that is the binary "
            "cross-entropy, of each class on its own.",
            "损失里还有其他类别的 −log (1 − p)：那是二元交叉熵，把每个类别单独看待。",
        ),
        Text(
            "Which weights does the formula on the page use?",
            "页面上的公式用到了哪些权重？",
        ),
    ),
    Mutant(
        "cross-entropy.backward-g-not-spread",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = counted[..., None] / divisor(counted, reduction)
    return (np.exp(log_softmax(logits)) - one_hot) * g * share
""",
        Text(
            'With "none" g has one entry for each row, but no axis for the classes, so it does '
            "not line up with the rows.",
            '"none" 时 g 的每个元素对应一行，却没有类别的轴，因此与各行对不上。',
        ),
        Text(
            "What must the shape of g become, so that each row meets its own entry?",
            "g 应当变成什么形状，才能让每一行对上自己的那个元素？",
        ),
    ),
    Mutant(
        "cross-entropy.backward-all-pairs",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    p = np.exp(log_softmax(logits))
    p[..., np.where(counted, targets, 0)] -= 1
    return (g * counted / divisor(counted, reduction))[..., None] * p
""",
        Text(
            "1 is subtracted in every row at the classes of all targets; each row has only its "
            "own.",
            "每一行都在全部目标的类别处减了 1；而每一行只有自己的那个目标。",
        ),
        Text(
            "How many entries change, for five rows with five targets?",
            "五行各有一个目标时，一共应当有几个元素减 1？",
        ),
    ),
    Mutant(
        "cross-entropy.backward-log-for-weights",
        """
def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    counted = targets != ignore_index
    one_hot = targets[..., None] == np.arange(logits.shape[-1])
    share = g * counted / divisor(counted, reduction)
    return share[..., None] * (log_softmax(logits) - one_hot)
""",
        Text(
            "The rule subtracts the one-hot row from log p; it must be from p itself.",
            "规则用 log p 减去了独热行；应当用 p 本身去减。",
        ),
        Text(
            "Which function undoes the logarithm?",
            "哪个函数与对数互逆？",
        ),
    ),
]
