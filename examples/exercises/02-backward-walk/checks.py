"""What is looked at in exercise 2.

The graphs are made of weighted sums, so that any graph can be drawn at random: the rule of a node
multiplies g by the weight of each parent, or hands g itself on where the weight is None. Nodes are
called a, b, c, ... in the order in which they are made; the last one is the root.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from minigrad.coursework import Check, Exercise, Failure, Text, as_the_reference, attempt
from minigrad.coursework.values import Foreign, Raised

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
    """a, b, c, ..., and numbers where the letters end; ? for what is no node of the graph."""
    return "?" if number < 0 else LETTERS[number] if number < len(LETTERS) else f"#{number}"


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


def at_random(module, rng, count, shape=(3,), plain=()):
    """A graph at random, by its name."""
    parents = parents_at_random(rng, count)
    return {told(parents): drawn(module, rng, parents, shape, plain)}


def told(parents):
    """What every node was made from, such as b(a), c(a, b)."""
    made = [(n, ", ".join(map(name_of, before))) for n, before in enumerate(parents) if before]
    return ", ".join(f"{name_of(n)}({before})" for n, before in made)


def parents_at_random(rng, count):
    """Parents at random: two each, one of them the node before, so that the root has them all."""
    rows = [(), (0,)]
    for number in range(2, count):
        pair = [number - 1, int(rng.integers(0, number))]
        rows.append(tuple(pair if rng.random() < 0.5 else pair[::-1]))
    return rows


def graphs(module, rng):
    """Graphs with several paths: diamonds, one node twice, short and long paths, at random."""
    return {
        "b(a), c(a), d(b, c)": drawn(module, rng, [(), (0,), (0,), (1, 2)]),
        "b(a, a)": drawn(module, rng, [(), (0, 0)], (2,)),
        "b(a, a, a)": drawn(module, rng, [(), (0, 0, 0)]),
        "b(a), c(a, b)": drawn(module, rng, [(), (0,), (0, 1)], (2, 2)),
        "b(a), c(a, b, a)": drawn(module, rng, [(), (0,), (0, 1, 0)]),
        "b(a), c(b, a)": drawn(module, rng, [(), (0,), (1, 0)]),
        "b(a), c(a, b), d(b, a, c)": drawn(module, rng, [(), (0,), (0, 1), (1, 0, 2)]),
        "c(a, b), d(c, a)": drawn(module, rng, [(), (), (0, 1), (2, 0)], (5,), plain=(2, 3)),
        **at_random(module, rng, 5, (3, 2)),
        **at_random(module, rng, 9, (2,), plain=(3, 6)),
    }


# ------------------------------------------------------------------------------------ observations


def signature(module, rng):
    """Whether all is there, and what a Node holds."""
    names = ("Node", "topological_order", "backward")
    found = {name: float(callable(getattr(module, name, None))) for name in names}

    def held():
        parents, rule = (module.Node(1.0), module.Node(2.0)), max
        node = module.Node(3.0, parents, rule)
        kept = tuple(node.parents) == parents and node.rule is rule and hasattr(node, "grad")
        return [float(kept and node.value == 3.0 and len({node, *parents}) == 3)]

    attempt(found, ["Node(value, parents, rule)"], module, held)
    return found


def judge_signature(observed, right):
    """Node was given, and may stay as it is."""
    bad = as_the_reference(observed, right)
    if bad is None or not bad.key.startswith("Node"):
        return bad and Failure(bad.key, Text(f"{bad.key} is not there", f"缺少 {bad.key}"))
    error = observed.get(bad.key)
    why = error.says if isinstance(error, Raised) and observed["Node"] else Text("", "")
    en = f"{bad.key}: leave the class Node as it was given. {why.en}"
    return Failure(
        bad.key, Text(en.rstrip(), f"{bad.key}：请保留题目给出的 Node 类。{why.zh}".rstrip())
    )


def order(module, rng):
    """How often each node is listed, and which one comes before another that was made from it."""
    found = {}
    for name, graph in graphs(module, rng).items():
        given = module.topological_order(graph.root)
        edges = np.array(graph.edges)
        found[f"#edges {name}"] = edges
        if isinstance(given, Iterator):
            found[f"{name}: order"] = Foreign("iterator")
        elif isinstance(given, (set, frozenset)):
            found[f"{name}: order"] = Foreign("set")
        elif not isinstance(given, Iterable):
            found[f"{name}: order"] = given
        else:
            numbers = graph.numbers(given)
            times = [numbers.count(n) for n in range(len(graph.nodes))]
            found[f"{name}: order.count(node)"] = np.array([*times, numbers.count(-1)])
            late = np.zeros(len(edges), bool)
            if all(n == 1 for n in times):
                late = [numbers.index(user) > numbers.index(parent) for user, parent in edges]
            found[f"{name}: order"] = np.array(late)
            found[f"#order {name}"] = np.array(numbers)
    return found


ODD = {
    Foreign("iterator"): Text(
        "topological_order returns an iterator in place of a list",
        "topological_order 返回的是迭代器，应为列表",
    ),
    Foreign("set"): Text(
        "topological_order returns a set, which has no order, in place of a list",
        "topological_order 返回的是集合，没有先后顺序，应为列表",
    ),
}


def judge_order(observed, right):
    """Any order will do in which every node stands once, and before those it was made from."""
    for name in [key.removeprefix("#edges ") for key in right if key.startswith("#edges ")]:
        given, key = observed.get(f"#order {name}"), f"{name}: order"
        if given is None:
            kind = observed.get(key)
            if isinstance(kind, Foreign) and kind in ODD:
                en, zh = ODD[kind]
                return Failure(key, Text(f"{name}: {en}", f"{name}：{zh}"))
            none = Failure(key, Text(f"{name}: no list came", f"{name}：没有得到列表"))
            return as_the_reference({key: kind}, {key: np.zeros(1)}) or none
        given = [int(i) for i in given]
        listed = ", ".join(map(name_of, given)) if given else "∅"
        problem = _problem(given, right[f"#edges {name}"])
        if problem is not None:
            en, zh = (
                f"{name}: the order is {listed}; {problem.en}",
                f"{name}：得到的顺序是 {listed}；{problem.zh}",
            )
            return Failure(key, Text(en, zh))
    return None


def _problem(given, edges):
    count = int(edges.max()) + 1
    if -1 in given:
        return Text("something in it is no node of the graph", "其中有不属于这个图的东西")
    for number in reversed(range(count)):
        times = given.count(number)
        if times > 1:
            return Text(
                f"{name_of(number)} stands there {times} times, and must once",
                f"{name_of(number)} 出现了 {times} 次，应当恰好一次",
            )
        if not times:
            return Text(f"{name_of(number)} is missing", f"缺少 {name_of(number)}")
    for user, parent in edges:
        if given.index(user) > given.index(parent):
            return Text(
                f"{name_of(parent)} comes before {name_of(user)}, which was made from it",
                f"{name_of(parent)} 排在由它算出的 {name_of(user)} 之前",
            )
    return None


def _walked(found, name, graph, upstream):
    """Runs backward and notes every gradient; after an error, it stands for those that are missing.

    Other graphs are walked all the same.
    """

    def gradients():
        return [node.grad for node in reversed(graph.nodes)]

    def walked():
        graph.module.backward(graph.root, upstream)
        return gradients()

    last_first = reversed(range(len(graph.nodes)))
    keys = [f"{name}: ∂L/∂{name_of(number)}" for number in last_first]
    attempt(found, keys, graph.module, walked)
    there = {key: grad for key, grad in zip(keys, gradients(), strict=True) if grad is not None}
    if isinstance(found[keys[0]], Raised) and len(there) < len(keys):
        found |= there


def chain(module, rng):
    """One path to each node: a root that is a leaf, one rule, three, and two to four parents."""
    found = {}
    for name, parents in (
        ("a", [()]),
        ("b(a)", [(), (0,)]),
        ("b(a), c(b), d(c)", [(), (0,), (1,), (2,)]),
        ("c(a, b)", [(), (), (0, 1)]),
        ("d(a, b, c)", [(), (), (), (0, 1, 2)]),
        ("e(a, b, c, d)", [(), (), (), (), (0, 1, 2, 3)]),
    ):
        for shape in ((3,), (2, 2)):
            graph = drawn(module, rng, parents, shape)
            _walked(found, f"{name}, {shape}", graph, rng.normal(size=shape))
    return found


def joined(module, rng):
    """Two or three paths that meet in leaves alone, so that any order will do."""
    found = {}
    for parents in (
        [(), (0,), (0,), (1, 2)],
        [(), (), (0, 1), (1, 0), (2, 3)],
        [(), (0,), (0,), (0,), (1, 2, 3)],
    ):
        graph = drawn(module, rng, parents)
        _walked(found, told(parents), graph, rng.normal(size=graph.shape))
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
            sums = [("v·{0} + w·{0}" if weighted else "{0} + {0}").format(c) for c in LETTERS]
            made = [f"{LETTERS[n + 1]} = {sums[n]}" for n in range(depth)]
            found[f"{', '.join(made)}: ∂L/∂a"] = graph.nodes[0].grad
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
    for when, root, upstream in (
        ("backward(d)", 3, first),
        ("backward(d), backward(e)", 4, second),
        ("backward(d), backward(e), backward(e)", 4, second),
    ):
        module.backward(graph.nodes[root], upstream)
        for number in (2, 1, 0):
            found[f"{when}: ∂L/∂{name_of(number)}"] = _copy(graph.nodes[number].grad)
    alone = drawn(module, rng, [()])
    third = rng.normal(size=3)
    for _ in range(2):
        module.backward(alone.root, third)
    found["backward(a), backward(a): ∂L/∂a"] = _copy(alone.root.grad)
    for number, given in enumerate((first, second, third), 1):
        found[f"upstream[{number}]"] = given
    return found


def _copy(grad):
    return grad.copy() if isinstance(grad, np.ndarray) else grad


def counts(module, rng):
    """How often each rule was run."""
    found = {}
    for name, parents in (
        ("b = a + a, …, k = j + j", [(), *[(i, i) for i in range(10)]]),
        ("b(a), c(…), …, l(…)", parents_at_random(rng, 12)),
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
        "len(topological_order(root))": float(count),
        f"{DEEP:,}: ∂L/∂a": leaf.grad,
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
            "signature",
            Text("Node and both functions are there", "Node 和两个函数齐全"),
            signature,
            judge_signature,
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
        Check("joined", Text("paths that meet in a leaf add up", "汇合到叶子的路径相加"), joined),
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
