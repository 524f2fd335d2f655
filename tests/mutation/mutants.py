"""Wrong versions of the gradient rules: each is the code of a rule with one thing changed."""

import ast
import copy
from collections.abc import Iterator
from types import FunctionType
from typing import NamedTuple

from minigrad import Primitive
from minigrad.rule import Rule
from tests.mutation.sources import (
    Function,
    Tree,
    expressions,
    helpers_of,
    rebuilt,
    replaced,
    rule_of,
    tree_of,
)


class Mutant(NamedTuple):
    """One mistake: in which rule, of which kind, and the code with the mistake in it."""

    op: Primitive
    position: int
    kind: str
    source: str
    helper: str = ""  # the function called by the rule that `source` is of, if not the rule itself

    def __str__(self) -> str:
        where = f"{self.op} {self.op.input_names[self.position]}"
        if not self.helper:
            return f"{where}, {self.kind}: {self.source}"
        helper = helpers_of(_function(self))[self.helper]
        right = ast.unparse(tree_of(helper)).splitlines()
        (line, *_) = [line for line in self.source.splitlines() if line not in right] or [""]
        return f"{where}, {self.helper}, {self.kind}: {line.strip()}"

    def rule(self) -> FunctionType:
        """The wrong rule. Errors: `SyntaxError` and others if there is no such rule at all."""
        original = _function(self)
        if self.helper:
            right = ast.unparse(rule_of(original))
            return rebuilt(original, right, {self.helper: self.source})
        return rebuilt(original, self.source)

    def primitive(self) -> Primitive:
        """The primitive with the wrong rule in its place."""
        op = copy.copy(self.op)
        rules = [*self.op.rules]
        rules[self.position] = Rule(self.rule(), op)
        op.rules = type(self.op.rules)(rules)
        return op


def _functions(op: Primitive) -> list[Function | None]:
    return [rule.function if isinstance(rule, Rule) else None for rule in tuple(op.rules)]


def _function(mutant: Mutant) -> Function:
    """The right rule that a mutant stands in the place of."""
    function = _functions(mutant.op)[mutant.position]
    assert function is not None
    return function


def mutants_of(op: Primitive) -> list[Mutant]:
    """All mistakes that can be made in the rules of an op, each once."""
    found: dict[tuple[int, str], Mutant] = {}
    functions = _functions(op)
    for position, function in enumerate(functions):
        if function is None:
            continue
        tree = rule_of(function)
        wrong = [*_in_rule(tree, op), *_of_others(position, functions)]
        mutants = [Mutant(op, position, kind, source) for kind, source in wrong]
        for name, helper in helpers_of(function).items():
            code = tree_of(helper)
            changed = [(kind, ast.unparse(new)) for kind, new in _edited(code, _edits)]
            mutants += [Mutant(op, position, kind, source, name) for kind, source in changed]
        found |= {(position, mutant.source): mutant for mutant in mutants[::-1]}
        found.pop((position, ast.unparse(tree)), None)
    return list(found.values())[::-1]


def _of_others(position: int, functions: list[Function | None]) -> Iterator[tuple[str, str]]:
    for i, function in enumerate(functions):
        if function is not None and i != position:
            yield "another input's rule", ast.unparse(rule_of(function))


def _in_rule(tree: ast.Lambda, op: Primitive) -> Iterator[tuple[str, str]]:
    changed = [*_around(tree), *_upstream(tree), *_edited(tree, _edits)]
    changed += _edited(tree, _swaps([*op.input_names, *([] if op.many else ["out"])]))
    for kind, new in changed:
        assert isinstance(new, ast.Lambda)
        yield kind, ast.unparse(_asking(new, op))


# -------------------------------------------------------------------------- around the whole rule

AROUND = {
    "sign": "-({})",
    "factor 2": "2 * ({})",
    "factor 1/2": "({}) / 2",
    "factor n": "({0}) * np.size({0})",
    "factor √n": "({0}) * np.size({0}) ** 0.5",
    "factor 1/n": "({0}) / np.size({0})",
    "zeros": "0 * ({})",
    "offset": "({}) + 0.125",
    "transposed": "transposed({})",
    "shifted": "shifted({})",
    "squared": "({0}) * ({0})",
}


def _around(tree: ast.Lambda) -> Iterator[tuple[str, ast.Lambda]]:
    body = ast.unparse(tree.body)
    for kind, form in AROUND.items():
        yield kind, ast.Lambda(tree.args, _parsed(form.format(body)))


def _upstream(tree: ast.Lambda) -> Iterator[tuple[str, Tree]]:
    """The upstream ignored or averaged: everywhere, and in each place."""
    g = tree.args.args[0].arg
    forms = {
        "upstream ignored": f"np.ones_like({g})",
        "upstream averaged": f"(0 * {g} + {g}.mean())",
    }
    places = [n for n, part in expressions(tree) if isinstance(part, ast.Name) and part.id == g]
    for kind, form in forms.items():
        everywhere: Tree = tree
        for place in places[::-1]:
            yield kind, replaced(tree, place, _parsed(form))
            everywhere = replaced(everywhere, place, _parsed(form))
        yield kind, everywhere


def _parsed(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


# ----------------------------------------------------------------------------- inside an expression


def _edited(tree: Tree, edits: Function) -> Iterator[tuple[str, Tree]]:
    for number, part in expressions(tree):
        for kind, new in edits(part):
            yield kind, replaced(tree, number, new)


def _edits(part: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """What can be wrong with one expression, by what it is."""
    edits = _EDITS.get(type(part))
    return edits(part) if edits else iter(())


def _in_operation(part: ast.BinOp) -> Iterator[tuple[str, ast.expr]]:
    left, right = part.left, part.right
    yield "dropped", left
    if isinstance(part.op, ast.Sub):
        yield "dropped", ast.UnaryOp(ast.USub(), right)
    elif isinstance(part.op, ast.Div):
        yield "dropped", ast.BinOp(ast.Constant(1), ast.Div(), right)
    else:
        yield "dropped", right
    if not isinstance(part.op, (ast.Add, ast.Mult)):
        yield "operands swapped", ast.BinOp(right, part.op, left)
    opposite = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
    if type(part.op) in opposite:
        yield "operation", ast.BinOp(left, opposite[type(part.op)](), right)


def _in_sign(part: ast.UnaryOp) -> Iterator[tuple[str, ast.expr]]:
    yield "sign dropped", part.operand


_COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.LtE],
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.GtE],
    ast.Eq: [ast.NotEq, ast.GtE],
    ast.NotEq: [ast.Eq, ast.Gt],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}


def _in_comparison(part: ast.Compare) -> Iterator[tuple[str, ast.expr]]:
    for other in _COMPARISONS.get(type(part.ops[0]), []):
        yield "comparison", ast.Compare(part.left, [other()], part.comparators)


_RENAMED = {
    "sin": "cos",
    "cos": "sin",
    "maximum": "minimum",
    "minimum": "maximum",
    "sum": "mean",
    "mean": "sum",
    "eye": "ones",
}


def _in_call(part: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    function, given = part.func, part.args
    if ast.unparse(function) == "np.where":
        condition, chosen, otherwise = given
        yield "branches swapped", ast.Call(function, [condition, otherwise, chosen], [])
        yield "condition dropped", chosen
        yield "condition dropped", otherwise
        return
    on_numpy = ast.unparse(function).startswith("np.")
    if isinstance(function, ast.Attribute) and not on_numpy:
        yield "call dropped", function.value
    elif given and not isinstance(given[0], ast.Starred):
        yield "call dropped", given[0]
    if isinstance(function, ast.Attribute) and function.attr in _RENAMED:
        renamed = ast.Attribute(function.value, _RENAMED[function.attr], ast.Load())
        yield "another function", ast.Call(renamed, given, part.keywords)
    for keyword in part.keywords:
        rest = [k for k in part.keywords if k is not keyword]
        yield f"{keyword.arg} dropped", ast.Call(function, given, rest)


def _in_attribute(part: ast.Attribute) -> Iterator[tuple[str, ast.expr]]:
    if part.attr in ("T", "mT"):
        yield "transpose dropped", part.value


def _in_subscript(part: ast.Subscript) -> Iterator[tuple[str, ast.expr]]:
    yield "index dropped", part.value


def _in_constant(part: ast.Constant) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(part.value, bool):
        yield "constant", ast.Constant(not part.value)
    elif isinstance(part.value, (int, float)):
        yield "constant", ast.Constant(part.value + 1)
        yield "constant", ast.Constant(part.value * 2 if part.value else -1)


def _in_choice(part: ast.IfExp) -> Iterator[tuple[str, ast.expr]]:
    yield "branches swapped", ast.IfExp(part.test, part.orelse, part.body)


def _in_name(part: ast.Name) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(part.ctx, ast.Load):
        return
    if part.id in ("axis", "axis1", "axis2", "axes"):
        yield "wrong axis", _parsed(f"other({part.id})")
        yield "wrong axis", ast.Constant(None)
    elif part.id in ("k", "ddof", "index", "position", "factor"):
        yield f"wrong {part.id}", _parsed(f"({part.id} + 1)")


_EDITS: dict[type[ast.expr], Function] = {
    ast.BinOp: _in_operation,
    ast.UnaryOp: _in_sign,
    ast.Compare: _in_comparison,
    ast.Call: _in_call,
    ast.Attribute: _in_attribute,
    ast.Subscript: _in_subscript,
    ast.Constant: _in_constant,
    ast.IfExp: _in_choice,
    ast.Name: _in_name,
}


# --------------------------------------------------------------------------- what is asked for


def _swaps(arrays: list[str]) -> Function:
    """Another array in the place of one: `out` for the input, `a` for `b`."""

    def edits(part: ast.expr) -> Iterator[tuple[str, ast.expr]]:
        if isinstance(part, ast.Name) and part.id in arrays:
            for name in arrays:
                if name != part.id:
                    yield f"{name} for {part.id}", ast.Name(name, ast.Load())

    return edits


def _asking(tree: ast.Lambda, op: Primitive) -> ast.Lambda:
    """The rule with the parameters that its changed body needs."""
    options = [argument.arg for argument in tree.args.kwonlyargs]
    used = {part.id for _, part in expressions(tree) if isinstance(part, ast.Name)} - {*options}
    shapes = [f"{name}_shape" for name in op.input_names]
    kept = [name for name in (*op.input_names, *shapes, "out", "index") if name in used]
    arguments = ast.arguments(
        posonlyargs=[],
        args=[tree.args.args[0], *[ast.arg(name) for name in kept]],
        vararg=None,
        kwonlyargs=tree.args.kwonlyargs,
        kw_defaults=tree.args.kw_defaults,
        kwarg=None,
        defaults=[],
    )
    return ast.Lambda(arguments, tree.body)
