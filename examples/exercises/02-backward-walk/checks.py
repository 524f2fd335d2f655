"""What is looked at in exercise 2.

The graphs are made of weighted sums, so that any graph can be drawn at random: the rule of a node
multiplies g by the weight of each parent, or hands g itself on where the weight is None. Nodes are
called a, b, c, ... in the order in which they are made; the last one is the root.
"""

from itertools import islice

import numpy as np

from minigrad.coursework import Check, Exercise, Failure, Text, as_the_reference

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MOST = 20_000  # calls of rules in one graph, so that 2ⁿ paths come to an end
DEEP = 5_000


class Graph:
    """Nodes of the student's own class, whose rules count how often they are run."""

    def __init__(self, module, shape):
        self.module, self.shape = module, shape
        self.nodes, self.edges, self.calls = [], [], []
        self.run = 0

    def leaf(self, value):
        """A node that was made from none."""
        self.nodes.append(self.module.Node(value))
        self.calls.append(0)
        return len(self.nodes) - 1

    def made(self, parents, weights):
        """The weighted sum of nodes that are there; a weight of None hands g itself on."""
        number = len(self.nodes)

        def rule(g):
            self.calls[number] += 1
            self.run += 1
            if self.run > MOST:
                raise RuntimeError(f"{len(self.nodes)} nodes, and rules were run {MOST:,} times")
            if g is None:
                raise TypeError(f"the rule of {name_of(number)} was given None for its gradient")
            return [g if weight is None else g * weight for weight in weights]

        nodes = [self.nodes[p] for p in parents]
        terms = [
            node.value if weight is None else node.value * weight
            for node, weight in zip(nodes, weights, strict=True)
        ]
        self.nodes.append(self.module.Node(sum(terms), tuple(nodes), rule))
        self.calls.append(0)
        self.edges += [(number, p) for p in parents]
        return number

    @property
    def root(self):
        """The node that was made last."""
        return self.nodes[-1]

    def numbers(self, order):
        """The positions of nodes, −1 for what is none of them."""
        places = {id(node): i for i, node in enumerate(self.nodes)}
        return [places.get(id(node), -1) for node in islice(order, 1000)]


def name_of(number):
    """a, b, c, ..., and numbers where the letters end."""
    return LETTERS[number] if 0 <= number < len(LETTERS) else f"node {number}"


def drawn(module, rng, parents, shape=(3,), plain=()):
    """A graph from the list of each node's parents; the nodes in `plain` hand on g itself."""
    graph = Graph(module, shape)
    for number, before in enumerate(parents):
        weights = [None if number in plain else rng.normal(size=shape) for _ in before]
        if before:
            graph.made(before, weights)
        else:
            graph.leaf(rng.normal(size=shape))
    return graph


def at_random(rng, count):
    """Parents at random: two each, one of them the node before, so that the root has them all."""
    rows = [(), (0,)]
    for number in range(2, count):
        pair = [number - 1, int(rng.integers(0, number))]
        rows.append(tuple(pair if rng.random() < 0.5 else pair[::-1]))
    return rows


def graphs(module, rng):
    """Graphs with several paths, by name."""
    return {
        "a diamond, d of b and c": drawn(module, rng, [(), (0,), (0,), (1, 2)]),
        "one node twice, b of a and a": drawn(module, rng, [(), (0, 0)], (2,)),
        "a short path first, c of a and b": drawn(module, rng, [(), (0,), (0, 1)], (2, 2)),
        "a long path first, c of b and a": drawn(module, rng, [(), (0,), (1, 0)]),
        "sums, d of c and a, c of a and b": drawn(
            module, rng, [(), (), (0, 1), (2, 0)], (5,), plain=(2, 3)
        ),
        "a random graph of 5": drawn(module, rng, at_random(rng, 5), (3, 2)),
        "a random graph of 9": drawn(module, rng, at_random(rng, 9), (2,), plain=(3, 6)),
    }


# ------------------------------------------------------------------------------------ observations


def signature(module, rng):
    """Whether all is there."""
    names = ("Node", "topological_order", "backward")
    return {name: float(callable(getattr(module, name, None))) for name in names}


def order(module, rng):
    """The order as positions, and which node was made of which."""
    found = {}
    for name, graph in graphs(module, rng).items():
        given = module.topological_order(graph.root)
        found[name] = given if given is None else graph.numbers(given)
        found[f"#edges {name}"] = np.array(graph.edges)
    return found


def judge_order(observed, right):
    """Any order will do in which every node stands once, and before those it was made from."""
    for name in [name for name in right if not name.startswith("#")]:
        given = observed.get(name)
        if not isinstance(given, np.ndarray):
            return as_the_reference({name: given}, {name: np.zeros(1)})
        given = [int(i) for i in given]
        listed = ", ".join(map(name_of, given)) if given else "∅"
        problem = _problem(given, right[f"#edges {name}"])
        if problem is not None:
            en, zh = (
                f"{name}: the order is {listed}; {problem.en}",
                f"{name}：得到的顺序是 {listed}；{problem.zh}",
            )
            return Failure(name, Text(en, zh))
    return None


def _problem(given, edges):
    count = int(edges.max()) + 1
    for number in reversed(range(count)):
        if given.count(number) != 1:
            times = given.count(number)
            return Text(
                f"{name_of(number)} stands there {times} times, and must once",
                f"{name_of(number)} 出现了 {times} 次，应当恰好一次",
            )
    if len(given) != count:
        return Text("something in it is no node of the graph", "其中有不属于这个图的东西")
    for user, parent in edges:
        if given.index(user) > given.index(parent):
            return Text(
                f"{name_of(parent)} comes before {name_of(user)}, which was made from it",
                f"{name_of(parent)} 排在由它算出的 {name_of(user)} 之前",
            )
    return None


def _walked(found, name, graph, upstream):
    """Runs backward and notes every gradient."""
    graph.module.backward(graph.root, upstream)
    for number in reversed(range(len(graph.nodes))):
        found[f"{name}: ∂L/∂{name_of(number)}"] = graph.nodes[number].grad


def chain(module, rng):
    """One path: a root that is a leaf, one rule, and three."""
    found = {}
    for name, parents in (
        ("a alone", [()]),
        ("b of a", [(), (0,)]),
        ("d of c, c of b, b of a", [(), (0,), (1,), (2,)]),
    ):
        for shape in ((3,), (2, 2)):
            graph = drawn(module, rng, parents, shape)
            _walked(found, f"{name}, {shape}", graph, rng.normal(size=shape))
    return found


def doublings(module, rng):
    """b = a + a, c = b + b, ...: the gradient at a doubles with each; then weighted sums.

    Two mistakes may give the same whole numbers; with weights at random they differ.
    """
    found = {}
    for weighted in (False, True):
        for depth in range(1, 6):
            graph = Graph(module, ())
            last = graph.leaf(np.array(1.0))
            for _ in range(depth):
                last = graph.made((last, last), rng.normal(size=2) if weighted else (None, None))
            module.backward(graph.root, np.array(1.0))
            what = "sums of a node with itself, weighted" if weighted else "doublings"
            found[f"∂L/∂a after {depth} {what}"] = graph.nodes[0].grad
    return found


def paths(module, rng):
    """Several paths: diamonds, one node twice, paths of different lengths, random graphs."""
    found = {}
    for name, graph in graphs(module, rng).items():
        _walked(found, name, graph, rng.normal(size=graph.shape))
    return found


def again(module, rng):
    """Two roots that share c, one after the other, and the second one twice."""
    found = {}
    graph = drawn(module, rng, [(), (), (0, 1), (2, 0), (1, 2)])
    first, second = rng.normal(size=(2, 3))
    kept = first.copy(), second.copy()
    for when, root, upstream in (
        ("of d", 3, first),
        ("of d, then of e", 4, second),
        ("of d, then twice of e", 4, second),
    ):
        module.backward(graph.nodes[root], upstream)
        for number in (2, 1, 0):
            found[f"backward {when}: ∂L/∂{name_of(number)}"] = _copy(graph.nodes[number].grad)
    alone = drawn(module, rng, [()])
    third = rng.normal(size=3)
    kept = *kept, third.copy()
    for _ in range(2):
        module.backward(alone.root, third)
    found["backward of a leaf, twice: ∂L/∂a"] = _copy(alone.root.grad)
    for number, (now, before) in enumerate(zip((first, second, third), kept, strict=True), 1):
        found[f"upstream {number} afterwards minus before"] = now - before
    return found


def _copy(grad):
    return grad.copy() if isinstance(grad, np.ndarray) else grad


def counts(module, rng):
    """How often each rule was run."""
    found = {}
    for name, parents in (
        ("10 doublings", [(), *[(i, i) for i in range(10)]]),
        ("a random graph of 12", at_random(rng, 12)),
    ):
        graph = drawn(module, rng, parents)
        module.backward(graph.root, rng.normal(size=3))
        found[name] = np.array(graph.calls[1:])
    return found


def judge_counts(observed, right):
    """Once each."""
    for name in right:
        calls = observed[name]
        if not np.array_equal(calls, right[name]):
            number = int(np.argmax(np.abs(calls - 1)))
            node, times = name_of(number + 1), calls[number]
            en = f"{name}: the rule of {node} was run {times} times, must be once"
            zh = f"{name}：{node} 的规则运行了 {times} 次，应当恰好一次"
            return Failure(name, Text(en, zh))
    return None


def deep(module, rng):
    """A chain longer than Python recurses."""
    weight, value = rng.normal(size=(2, 2))

    def hand_on(g):
        return (g,)

    def multiply(g):
        return (g * weight,)

    leaf = root = module.Node(value)
    for number in range(DEEP - 1):
        root = module.Node(value, (root,), multiply if number % 1000 == 0 else hand_on)
    upstream = rng.normal(size=2)
    try:
        count = len(list(islice(module.topological_order(root), 2 * DEEP)))
        module.backward(root, upstream)
    except RecursionError:
        return {"RecursionError": 1.0}
    return {
        "RecursionError": 0.0,
        "nodes in the order": float(count),
        f"∂L/∂a of a chain of {DEEP:,}": leaf.grad,
    }


def judge_deep(observed, right):
    """No RecursionError, and the product of what the rules multiply by."""
    if observed["RecursionError"] != 0.0:
        return Failure(
            "RecursionError",
            Text(
                f"a chain of {DEEP:,} nodes ends in a RecursionError",
                f"{DEEP:,} 个节点的长链以 RecursionError 告终",
            ),
        )
    return as_the_reference(observed, right)


def worked(solution, language):
    """x² + x at 3."""
    x = solution.Node(np.array(3.0))
    y = solution.Node(x.value * x.value, (x, x), lambda g: (g * x.value, g * x.value))
    z = solution.Node(y.value + x.value, (y, x), lambda g: (g, g))
    solution.backward(z, np.array(1.0))
    names = {id(x): "x", id(y): "y", id(z): "z"}
    listed = ", ".join(names[id(n)] for n in solution.topological_order(z))
    note = Text("along y twice 3, and 1 along the short path", "经由 y 两次 3，再加上短路径的 1")
    return "\n".join(
        [
            f"x = {x.value}, y = x·x = {y.value}, z = y + x = {z.value}",
            f"order: {listed}" if language != "zh" else f"顺序：{listed}",
            f"∂z/∂z = {z.grad}, ∂z/∂y = {y.grad}",
            f"∂z/∂x = 3 + 3 + 1 = {x.grad} ({note.of(language)})",
        ]
    )


EXERCISE = Exercise(
    title=Text("The backward walk", "反向遍历"),
    checks=[
        Check(
            "signature", Text("Node and both functions are there", "Node 和两个函数齐全"), signature
        ),
        Check(
            "order",
            Text("every node once, users first", "每个节点一次，使用者在前"),
            order,
            judge_order,
        ),
        Check(
            "chain",
            Text("one path gives the product of its rules", "单条路径正确"),
            chain,
            gradients=True,
        ),
        Check(
            "doublings",
            Text("1 to 5 doublings give 2 to 32", "翻倍 1 到 5 次得到 2 到 32"),
            doublings,
        ),
        Check("paths", Text("several paths add up", "多条路径的贡献相加"), paths),
        Check(
            "again",
            Text(
                "a second backward: leaves add up, others start afresh",
                "再次反向：叶子累加，其余重新开始",
            ),
            again,
        ),
        Check("counts", Text("every rule is run once", "每条规则只运行一次"), counts, judge_counts),
        Check(
            "deep", Text(f"a chain of {DEEP:,} nodes", f"{DEEP:,} 个节点的长链"), deep, judge_deep
        ),
    ],
    worked=worked,
)
