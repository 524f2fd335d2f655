"""The classic mistakes of exercise 2."""

from minigrad.coursework import Mutant, Text

# What most of them have in common: a right beginning of backward.
FRESH = """
def backward(root, upstream):
    order = topological_order(root)
    for node in order:
        if node.parents:
            node.grad = None
    receive(root, upstream)
"""

MUTANTS = [
    Mutant(
        "walk.overwritten",
        f"""{FRESH}
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                parent.grad = contribution
""",
        Text(
            "Each contribution overwrites the one before: of several paths only the last one "
            "counts.",
            "每份贡献都覆盖了前一份：有多条路径时，只剩最后一条。",
        ),
        Text(
            "What happens to a gradient that is there already when the next contribution arrives?",
            "下一份贡献到来时，已有的梯度应当怎样处理？",
        ),
    ),
    Mutant(
        "walk.first-path",
        f"""{FRESH}
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                if parent.grad is None:
                    parent.grad = contribution
""",
        Text(
            "A node that has a gradient takes no further contribution: only the first path counts.",
            "节点有了梯度之后就不再接收贡献：只有第一条路径算数。",
        ),
        Text(
            "A node is done when its turn comes in the order, not when the first contribution is "
            "there.",
            "节点要等到在顺序中轮到它时才算完成，而不是收到第一份贡献就完成。",
        ),
    ),
    Mutant(
        "walk.averaged",
        f"""{FRESH}
    arrived = dict.fromkeys(order, 0)
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                arrived[parent] += 1
                before = 0 if parent.grad is None else parent.grad
                parent.grad = before + (contribution - before) / arrived[parent]
""",
        Text(
            "The contributions of several paths are averaged; by the chain rule they add up.",
            "多条路径的贡献被取了平均；按链式法则应当相加。",
        ),
        Text(
            "How does x + x change when x grows by 1?",
            "x 增加 1 时，x + x 变化多少？",
        ),
    ),
    Mutant(
        "walk.same-parent-once",
        f"""{FRESH}
    for node in order:
        if node.parents:
            for parent, contribution in dict(zip(node.parents, node.rule(node.grad))).items():
                receive(parent, contribution)
""",
        Text(
            "A node that stands twice among the parents gets only one of its two contributions.",
            "一个节点在 parents 中出现两次时，两份贡献只收到了一份。",
        ),
        Text(
            "Take x · x: parents is (x, x), and a set or dict of it has only one entry.",
            "以 x · x 为例：parents 是 (x, x)，放进集合或字典就只剩一个。",
        ),
    ),
    Mutant(
        "walk.no-order",
        f"""{FRESH}
    def visit(node):
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution)
            for parent in node.parents:
                visit(parent)

    visit(root)
""",
        Text(
            "There is no topological order: a node passes its sum on once for every path that "
            "reaches "
            "it, so 2, 3, 4 doublings give 8, 48, 416 in place of 4, 8, 16.",
            "没有按拓扑序：有几条路径到达一个节点，它就把自己的和往下传几次，因此翻倍 2、3、4 "
            "次得到 "
            "8、48、416，而不是 4、8、16。",
        ),
        Text(
            "Which function of yours says in what order the nodes take their turns, and is it "
            "used here?",
            "你的哪个函数规定了节点的先后？这里用到它了吗？",
        ),
    ),
    Mutant(
        "walk.no-order-in-turns",
        f"""{FRESH}
    def visit(node):
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution)
                visit(parent)

    visit(root)
""",
        Text(
            "There is no topological order: a node passes its gradient on after every "
            "contribution, "
            "so the earlier ones are passed on again with each that follows.",
            "没有按拓扑序：节点每收到一份贡献就往下传一次，先到的贡献又随后到的重复传递。",
        ),
        Text(
            "When is a node's gradient complete, so that it may be passed on?",
            "节点的梯度到什么时候才算齐全，可以往下传？",
        ),
    ),
    Mutant(
        "walk.queue",
        f"""{FRESH}
    queue = [root]
    while queue:
        node = queue.pop(0)
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution)
                queue.append(parent)
""",
        Text(
            "A queue is no topological order: a node that two paths reach is in it twice, and "
            "passes "
            "its sum on twice.",
            "队列不是拓扑序：两条路径都到达的节点在队列中出现两次，于是把它的和传了两次。",
        ),
        Text(
            "How often may a node take its turn, and which list holds each node once?",
            "每个节点可以轮到几次？哪个列表里每个节点只出现一次？",
        ),
    ),
    Mutant(
        "walk.path-by-path",
        f"""{FRESH}
    waiting = [(root, root.grad)]
    while waiting:
        node, g = waiting.pop()
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(g)):
                receive(parent, contribution)
                waiting.append((parent, contribution))
""",
        Text(
            "The numbers are right, but every path is walked on its own: n doublings have 2ⁿ "
            "paths, "
            "and the rules are run as often.",
            "数值正确，但每条路径各走了一遍：翻倍 n 次就有 2ⁿ 条路径，规则也运行这么多次。",
        ),
        Text(
            "A node lies on many paths. Until when would it have to wait so that one call of its "
            "rule is enough?",
            "一个节点在许多条路径上。要等到什么时候，只运行一次规则就够了？",
        ),
    ),
    Mutant(
        "walk.on-discovery",
        """
def topological_order(root):
    order, seen, waiting = [], set(), [root]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            order.append(node)
            waiting.extend(reversed(node.parents))
    return order
""",
        Text(
            "The order lists nodes as a depth-first search finds them: one that a short path finds "
            "early stands before others that are made from it.",
            "顺序按深度优先搜索发现节点的先后排列：由短路径先发现的节点，"
            "会排在由它算出的其他节点之前。",
        ),
        Text(
            "When is it certain that all other nodes made from this one are in the list already?",
            "什么时候才能确定，由这个节点算出的其他节点都已经列入了？",
        ),
    ),
    Mutant(
        "walk.breadth-first",
        """
def topological_order(root):
    order, seen = [root], {root}
    for node in order:
        for parent in node.parents:
            if parent not in seen:
                seen.add(parent)
                order.append(parent)
    return order
""",
        Text(
            "The order goes by distance from the root: a node that a short and a long path lead to "
            "stands too early.",
            "顺序按与根的距离排列：既有短路径又有长路径通向的节点排得太早。",
        ),
        Text(
            "Two paths lead to the node. How long must it wait: as long as the shorter one, or "
            "the longer one?",
            "有两条路径通向这个节点。它要等较短的那条，还是较长的那条？",
        ),
    ),
    Mutant(
        "walk.leaves-first",
        """
_order = topological_order


def topological_order(root):
    return _order(root)[::-1]
""",
        Text(
            "The order has the leaves first and the root last; the walk back starts at the root.",
            "顺序是叶子在前、根在后；而反向遍历要从根开始。",
        ),
        Text(
            "A depth-first search that enters a node after its parents gives the list the other "
            "way "
            "round.",
            "深度优先搜索若在来源之后才列入节点，得到的列表方向正好相反。",
        ),
    ),
    Mutant(
        "walk.listed-again",
        """
def topological_order(root):
    order = [root]
    for node in order:
        if len(order) < 5000:
            order.extend(node.parents)
    return order
""",
        Text(
            "A node is listed once for every path that leads to it, and must be listed once.",
            "有几条路径通向一个节点，它就被列了几次；每个节点只应列一次。",
        ),
        Text(
            "How can the search notice that it has been at a node before?",
            "搜索时怎样才能知道自己已经到过某个节点？",
        ),
    ),
    Mutant(
        "walk.root-missing",
        """
_order = topological_order


def topological_order(root):
    return _order(root)[1:]
""",
        Text(
            "The root is not in the order, so its rule is never run.",
            "顺序中没有根，于是根的规则不会运行。",
        ),
        Text(
            "With which node does the walk back begin?",
            "反向遍历从哪个节点开始？",
        ),
    ),
    Mutant(
        "walk.not-seeded",
        """
def backward(root, upstream):
    order = topological_order(root)
    for node in order:
        if node.parents:
            node.grad = None
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution)
""",
        Text(
            "The root is never given its gradient, so the walk has nothing to start from.",
            "根没有得到梯度，遍历无从开始。",
        ),
        Text(
            "Before the loop: what is ∂L/∂root?",
            "循环之前：∂L/∂root 是什么？",
        ),
    ),
    Mutant(
        "walk.seeded-with-zeros",
        """
def backward(root, upstream):
    order = topological_order(root)
    for node in order:
        if node.parents or node.grad is None:
            node.grad = 0.0 * node.value
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution)
""",
        Text(
            "The root starts with a gradient of 0, so every gradient is 0.",
            "根的梯度从 0 开始，于是所有梯度都是 0。",
        ),
        Text(
            "Zeros are a fine start for sums; the root has received something already.",
            "求和从 0 开始没有问题；但根在一开始就已经收到了梯度。",
        ),
    ),
    Mutant(
        "walk.seeded-with-ones",
        """
_backward = backward


def backward(root, upstream):
    _backward(root, 0.0 * upstream + 1.0)
""",
        Text(
            "The root starts with ones: the upstream gradient that was passed is not used.",
            "根从全 1 开始：没有用到传入的上游梯度。",
        ),
        Text(
            "ones are right only where L is the root itself; here ∂L/∂root is an argument.",
            "只有当 L 就是根时才是全 1；这里 ∂L/∂root 是一个参数。",
        ),
    ),
    Mutant(
        "walk.same-upstream",
        f"""{FRESH}
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(upstream)):
                receive(parent, contribution)
""",
        Text(
            "Every rule is given the root's upstream gradient; it needs that of its own node.",
            "每条规则得到的都是根的上游梯度；它需要的是自己那个节点的梯度。",
        ),
        Text(
            "Upstream of a node is what has arrived at this node.",
            "一个节点的上游梯度，就是到达这个节点的梯度。",
        ),
    ),
    Mutant(
        "walk.from-the-leaves",
        f"""{FRESH}
    for node in reversed(order):
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution)
""",
        Text(
            "The walk begins at the leaves, where no gradient has arrived yet.",
            "遍历从叶子开始，而那里还没有梯度到达。",
        ),
        Text(
            "topological_order has the root first already; it is reversed once too often.",
            "topological_order 的第一个已经是根了，多反转了一次。",
        ),
    ),
    Mutant(
        "walk.shared-arrays",
        f"""{FRESH}
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                if parent.grad is None:
                    parent.grad = contribution
                else:
                    parent.grad += contribution
""",
        Text(
            "Two nodes hold the same array, and += changes it for both: a sum hands one g to both "
            "of "
            "its parents.",
            "两个节点共用同一个数组，+= 同时改了两者：加法把同一个 g 交给了两个来源。",
        ),
        Text(
            "Which operation on two arrays makes a new one, and which writes into an old one?",
            "对两个数组，哪种写法得到新数组，哪种写法会写进原来的数组？",
        ),
    ),
    Mutant(
        "walk.upstream-kept",
        """
def receive(node, contribution):
    if node.grad is None:
        node.grad = contribution
    elif node.parents:
        node.grad = node.grad + contribution
    else:
        node.grad += contribution


def backward(root, upstream):
    order = topological_order(root)
    for node in order:
        if node.parents:
            node.grad = None
    receive(root, upstream)
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution if parent.parents else contribution.copy())
""",
        Text(
            "A root keeps the caller's own array as its gradient, and += writes into it later.",
            "根把调用者的数组直接当作自己的梯度，之后的 += 就写进了那个数组。",
        ),
        Text(
            "Call backward twice on a leaf, and print your upstream array before and after.",
            "对一个叶子调用两次 backward，打印前后的 upstream 数组看看。",
        ),
    ),
    Mutant(
        "walk.stale",
        """
def backward(root, upstream):
    receive(root, upstream)
    for node in topological_order(root):
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution)
""",
        Text(
            "On a second backward the nodes in between still hold the gradients of the first, and "
            "pass them on once more.",
            "第二次 backward 时，中间节点还留着第一次的梯度，又往下传了一遍。",
        ),
        Text(
            "Only leaves add up over several calls. What must happen to the others before the "
            "walk?",
            "只有叶子跨多次调用累加。遍历之前，其他节点要怎样处理？",
        ),
    ),
    Mutant(
        "walk.stale-root",
        """
def backward(root, upstream):
    order = topological_order(root)
    for node in order[1:]:
        if node.parents:
            node.grad = None
    receive(root, upstream)
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution)
""",
        Text(
            "On a second backward from the same root its old gradient is still there, and counts "
            "again.",
            "从同一个根第二次 backward 时，根的旧梯度还在，又算了一次。",
        ),
        Text(
            "Is the root a leaf? What does the page say of all other nodes?",
            "根是叶子吗？对于叶子以外的节点，页面上是怎么说的？",
        ),
    ),
    Mutant(
        "walk.leaves-afresh",
        """
_backward = backward


def backward(root, upstream):
    for node in topological_order(root):
        node.grad = None
    _backward(root, upstream)
""",
        Text(
            "A second backward throws away what the leaves had from the first; leaves add up.",
            "第二次 backward 丢掉了叶子上第一次的梯度；叶子应当累加。",
        ),
        Text(
            "Which nodes does the page tell to start afresh?",
            "页面上说哪些节点要重新开始？",
        ),
    ),
    Mutant(
        "walk.recursive",
        """
def topological_order(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(root)
    return order[::-1]
""",
        Text(
            "A function calls itself once for every node of a path, and Python stops at about a "
            "thousand calls: a long chain ends in a RecursionError.",
            "函数沿路径每个节点都调用一次自身，而 Python 递归到一千层左右就会停止：长链以 "
            "RecursionError 告终。",
        ),
        Text(
            "Where can a loop keep the nodes that are still to be visited?",
            "如果改用循环，还没访问的节点可以放在哪里？",
        ),
    ),
    Mutant(
        "walk.node-missing",
        """
del Node
""",
        Text(
            "The class Node is not there any more: the checks make their graphs of it.",
            "Node 类不见了：检查要用它来构造计算图。",
        ),
        Text(
            "Was it deleted, or has it another name now?",
            "是被删掉了，还是改了名字？",
        ),
    ),
    Mutant(
        "walk.iterator",
        """
_listed = topological_order


def topological_order(root):
    return reversed(_listed(root)[::-1])
""",
        Text(
            "topological_order returns an iterator: after one loop it is empty, and a second "
            "loop does nothing.",
            "topological_order 返回的是迭代器：循环一遍之后它就空了，第二次循环什么也不做。",
        ),
        Text(
            "What does list(...) make of it?",
            "对它用 list(...) 会得到什么？",
        ),
    ),
    Mutant(
        "walk.on-discovery-last-first",
        """
def topological_order(root):
    order, seen, waiting = [], set(), [root]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            order.append(node)
            waiting.extend(node.parents)
    return order
""",
        Text(
            "The order lists nodes as a search with a stack finds them: one that a short path "
            "finds early stands before others that are made from it.",
            "顺序按用栈搜索时发现节点的先后排列：由短路径先发现的节点，会排在由它算出的其他节点之"
            "前。",
        ),
        Text(
            "When is it certain that no other node made from this one is still to come?",
            "什么时候才能确定，由这个节点算出的其他节点都已经列入了？",
        ),
    ),
    Mutant(
        "walk.without-leaves",
        """
_listed = topological_order


def topological_order(root):
    return [node for node in _listed(root) if node.parents]
""",
        Text(
            "The leaves are not in the order: it has to hold every node, also those that have no "
            "rule.",
            "顺序中没有叶子：所有节点都应当列入，没有规则的也不例外。",
        ),
        Text(
            "Which nodes does the page want in the list?",
            "页面要求列表中有哪些节点？",
        ),
    ),
    Mutant(
        "walk.rule-of-a-leaf",
        """
def backward(root, upstream):
    order = topological_order(root)
    for node in order:
        if node.parents:
            node.grad = None
    receive(root, upstream)
    for node in order:
        for parent, contribution in zip(node.parents, node.rule(node.grad)):
            receive(parent, contribution)
""",
        Text(
            "The rule of a leaf is called, but a leaf has none: it is None.",
            "对叶子也调用了规则，而叶子没有规则：它是 None。",
        ),
        Text(
            "What does a leaf have to pass on, and to whom?",
            "叶子要把什么传给谁？",
        ),
    ),
    Mutant(
        "walk.leaf-root-overwritten",
        """
def backward(root, upstream):
    order = topological_order(root)
    for node in order:
        if node.parents:
            node.grad = None
    root.grad = upstream.copy()
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution)
""",
        Text(
            "The root's grad is set to the upstream gradient; a root that is a leaf adds it to "
            "what it has.",
            "根的 grad 被直接设成了上游梯度；如果根本身是叶子，应当加到已有的梯度上。",
        ),
        Text(
            "What does the page say of a leaf that has a grad from before?",
            "对于已经有 grad 的叶子，页面上是怎么说的？",
        ),
    ),
    Mutant(
        "walk.nodes-between-add-up",
        """
def backward(root, upstream):
    receive(root, upstream)
    waiting = [(root, upstream)]
    while waiting:
        node, g = waiting.pop()
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(g)):
                receive(parent, contribution)
                waiting.append((parent, contribution))
""",
        Text(
            "On a second backward the leaves are right, but the nodes in between add to their "
            "gradients of the first; only leaves do that.",
            "第二次 backward 时，叶子是对的，但中间节点把新的梯度加到了第一次的梯度上；只有叶子才"
            "累加。",
        ),
        Text(
            "What must happen to all other nodes before the walk begins?",
            "遍历开始之前，其他节点要怎样处理？",
        ),
    ),
    Mutant(
        "walk.rule-for-each-parent",
        """
def backward(root, upstream):
    order = topological_order(root)
    for node in order:
        if node.parents:
            node.grad = None
    receive(root, upstream)
    for node in order:
        for place, parent in enumerate(node.parents):
            receive(parent, node.rule(node.grad)[place])
""",
        Text(
            "The numbers are right, but each rule is run once for every parent: one call returns "
            "the contributions to all of them.",
            "数值正确，但每条规则对每个来源各运行了一次：运行一次就能得到给所有来源的贡献。",
        ),
        Text(
            "Where can the result of the call be kept while you go through the parents?",
            "逐个处理来源时，规则的返回值可以放在哪里？",
        ),
    ),
    Mutant(
        "walk.squared",
        """
def backward(root, upstream):
    order = topological_order(root)
    for node in order:
        if node.parents:
            node.grad = None
    receive(root, upstream)
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution * node.grad)
""",
        Text(
            "The contributions are multiplied by the node's gradient, but the rule has done that "
            "already.",
            "贡献又乘了一次节点的梯度，而规则已经乘过了。",
        ),
        Text(
            "What does rule(g) return: the local derivative, or what is to be passed on?",
            "rule(g) 返回的是局部导数，还是要往下传的贡献？",
        ),
    ),
    Mutant(
        "walk.ones-to-rules",
        """
def backward(root, upstream):
    order = topological_order(root)
    for node in order:
        if node.parents:
            node.grad = None
    receive(root, upstream)
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(0 * node.grad + 1)):
                receive(parent, contribution)
""",
        Text(
            "The rules are given ones in place of the gradient of their node, so every node gets "
            "local derivatives alone.",
            "传给规则的是全 1，而不是该节点的梯度，于是各节点得到的只是局部导数。",
        ),
        Text(
            "What is ∂L/∂node, and where is it kept?",
            "∂L/∂node 是什么？它存放在哪里？",
        ),
    ),
    Mutant(
        "walk.reversed-in-backward",
        """
_listed, _backward = topological_order, backward


def topological_order(root):
    return _listed(root)[::-1]


def backward(root, upstream):
    order = topological_order(root)[::-1]
    for node in order:
        if node.parents:
            node.grad = None
    receive(root, upstream)
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                receive(parent, contribution)
""",
        Text(
            "The order has the leaves first and the root last; topological_order itself must begin "
            "with the root, even where backward turns the list around.",
            "顺序是叶子在前、根在后；即使 backward 会把列表反过来，topological_order 返回的列表"
            "本身也应当从根开始。",
        ),
        Text(
            "In which of the two functions does the turning around belong?",
            "反转应当放在哪个函数里？",
        ),
    ),
    Mutant(
        "walk.first-parent-only",
        f"""{FRESH}
    for node in order:
        if node.parents:
            receive(node.parents[0], node.rule(node.grad)[0])
""",
        Text(
            "Only the first parent of a node receives something, but every parent has a "
            "contribution of its own.",
            "只有第一个来源收到了贡献，而每个来源都有自己的一份。",
        ),
        Text(
            "In z = x + y, what does y receive?",
            "z = x + y 中，y 应当收到什么？",
        ),
    ),
    Mutant(
        "walk.last-parent-only",
        f"""{FRESH}
    for node in order:
        if node.parents:
            receive(node.parents[-1], node.rule(node.grad)[-1])
""",
        Text(
            "Only the last parent of a node receives something, but every parent has a "
            "contribution of its own.",
            "只有最后一个来源收到了贡献，而每个来源都有自己的一份。",
        ),
        Text(
            "In z = x + y, what does x receive? Is everything in the loop that belongs there?",
            "z = x + y 中，x 应当收到什么？该放在循环里的语句都在循环里吗？",
        ),
    ),
    Mutant(
        "walk.two-parents-only",
        f"""{FRESH}
    for node in order:
        if node.parents:
            for parent, contribution in list(zip(node.parents, node.rule(node.grad)))[:2]:
                receive(parent, contribution)
""",
        Text(
            "The first two parents receive their contributions, but a third one receives nothing.",
            "前两个来源收到了贡献，第三个却什么也没有收到。",
        ),
        Text(
            "How many parents may a node have? Which loop goes through all of them?",
            "一个节点可以有几个来源？怎样的循环能走遍所有来源？",
        ),
    ),
    Mutant(
        "walk.parents-reversed",
        f"""{FRESH}
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents[::-1], node.rule(node.grad)):
                receive(parent, contribution)
""",
        Text(
            "The contributions go to the parents in the reverse order: the first one belongs to "
            "the first parent.",
            "各份贡献按相反的次序给了来源：第一份属于第一个来源。",
        ),
        Text(
            "In which order does rule(g) return the contributions?",
            "rule(g) 按什么次序返回各份贡献？",
        ),
    ),
    Mutant(
        "walk.first-contribution-for-all",
        f"""{FRESH}
    for node in order:
        if node.parents:
            contribution = node.rule(node.grad)[0]
            for parent in node.parents:
                receive(parent, contribution)
""",
        Text(
            "All parents receive the first contribution; the rule returns one for each.",
            "所有来源收到的都是第一份贡献；而规则为每个来源各返回一份。",
        ),
        Text(
            "Which contribution belongs to the second parent?",
            "第二个来源应当收到哪一份贡献？",
        ),
    ),
    Mutant(
        "walk.sum-for-all",
        f"""{FRESH}
    for node in order:
        if node.parents:
            total = sum(node.rule(node.grad))
            for parent in node.parents:
                receive(parent, total)
""",
        Text(
            "All parents receive the sum of the contributions; each must receive its own alone.",
            "所有来源收到的都是各份贡献之和；每个来源只应收到自己的那一份。",
        ),
        Text(
            "What adds up: contributions to different parents, or to one and the same?",
            "相加的是给不同来源的贡献，还是给同一个来源的贡献？",
        ),
    ),
    Mutant(
        "walk.same-parent-first",
        f"""{FRESH}
    for node in order:
        if node.parents:
            contributions = node.rule(node.grad)
            for parent in dict.fromkeys(node.parents):
                receive(parent, contributions[node.parents.index(parent)])
""",
        Text(
            "A node that stands twice among the parents gets only the first of its two "
            "contributions.",
            "一个节点在 parents 中出现两次时，两份贡献只收到了第一份。",
        ),
        Text(
            "Take x · x: parents is (x, x), and a set or dict of it has only one entry.",
            "以 x · x 为例：parents 是 (x, x)，放进集合或字典就只剩一个。",
        ),
    ),
    Mutant(
        "walk.same-contribution-twice",
        f"""{FRESH}
    for node in order:
        if node.parents:
            contributions = node.rule(node.grad)
            for parent in node.parents:
                receive(parent, contributions[node.parents.index(parent)])
""",
        Text(
            "A node that stands twice among the parents gets the first of its two contributions "
            "twice.",
            "一个节点在 parents 中出现两次时，第一份贡献收到了两次，第二份没有收到。",
        ),
        Text(
            "Of (x, x), which position does index(x) return?",
            "对 (x, x)，index(x) 返回哪个位置？",
        ),
    ),
    Mutant(
        "walk.seeded-with-one",
        """
def backward(root, upstream):
    order = topological_order(root)
    for node in order:
        if node.parents:
            node.grad = None
    root.grad = 1.0
    for node in order:
        if node.parents:
            for parent, contribution in zip(node.parents, node.rule(node.grad)):
                parent.grad = contribution if parent.grad is None else parent.grad + contribution
""",
        Text(
            "The root starts with the number 1: the upstream gradient that was passed is not used.",
            "根从数 1 开始：没有用到传入的上游梯度。",
        ),
        Text(
            "1 is right only where L is the root itself; here ∂L/∂root is an argument.",
            "只有当 L 就是根时才是 1；这里 ∂L/∂root 是一个参数。",
        ),
    ),
]
