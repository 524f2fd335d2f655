"""The code of a gradient rule as a syntax tree, and a rule made of such code again."""

import ast
import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

import minigrad

Function = Callable[..., Any]
Tree = ast.Lambda | ast.FunctionDef


@functools.cache
def _parsed(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text(encoding="utf-8"))


def tree_of(function: Function) -> Tree:
    """The syntax tree of a function, without its decorators and docstring."""
    function = inspect.unwrap(function)
    code = function.__code__
    for node in ast.walk(_parsed(code.co_filename)):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            bare = copy.deepcopy(node)
            bare.body = bare.body[1:] if ast.get_docstring(bare) else bare.body
            return bare
        if isinstance(node, ast.Lambda) and _is_source_of(node, code):
            return node
    raise LookupError(f"no code found for {function.__qualname__} in {code.co_filename}")


def _is_source_of(node: ast.Lambda, code: CodeType) -> bool:
    """Whether all instructions come from that stretch of the file, and not from its neighbours."""
    if node.lineno != code.co_firstlineno:
        return False
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return all(
        start <= (line, column) <= end
        for line, _, column, end_column in code.co_positions()
        if line is not None and column is not None and end_column != 0
    )


def rule_of(function: Function) -> ast.Lambda:
    """The syntax tree of a rule as one expression, without names for parts of it.

    So any part can go without taking along what another part needs.
    """
    tree = tree_of(function)
    if isinstance(tree, ast.FunctionDef):
        *assignments, result = tree.body
        assert isinstance(result, ast.Return)
        assert isinstance(result.value, ast.expr)
        tree = ast.Lambda(_without_types(tree.args), result.value)
    else:
        assignments = []
    named = [node for node in ast.walk(tree) if isinstance(node, ast.NamedExpr)]
    values = {node.target.id: node.value for node in named}
    for assignment in assignments:
        assert isinstance(assignment, ast.Assign)
        assert isinstance(assignment.targets[0], ast.Name)
        values[assignment.targets[0].id] = assignment.value

    class Inline(ast.NodeTransformer):
        def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
            return self.visit(copy.deepcopy(node.value))  # type: ignore[no-any-return]

        def visit_Name(self, node: ast.Name) -> ast.AST:
            value = values.get(node.id)
            return self.visit(copy.deepcopy(value)) if value else node

    inlined = Inline().visit(copy.deepcopy(tree))
    assert isinstance(inlined, ast.Lambda)
    return inlined


def _without_types(arguments: ast.arguments) -> ast.arguments:
    bare = copy.deepcopy(arguments)
    for argument in (*bare.args, *bare.kwonlyargs):
        argument.annotation = None
    return bare


def helpers_of(rule: Function) -> dict[str, Function]:
    """The plain functions of its own module that a rule calls, and those that these call."""
    found: dict[str, Function] = {}

    def collect(function: Function) -> None:
        inner = inspect.unwrap(function)
        for name in inner.__code__.co_names:
            value = inner.__globals__.get(name)
            if not inspect.isfunction(value) or hasattr(value, "primitive") or name in found:
                continue
            if value.__module__ == inner.__module__:
                found[name] = value
                collect(value)

    collect(rule)
    return found


def made_of(source: str, names: dict[str, Any]) -> FunctionType:
    """The function that an expression makes, which finds `names` as its globals."""
    function = eval(source, names)
    assert isinstance(function, FunctionType)
    return function


def rebuilt(rule: Function, source: str, helpers: dict[str, str] | None = None) -> FunctionType:
    """A rule of this source among the names of `rule`, with helpers of these sources."""
    names = {**inspect.unwrap(rule).__globals__, **TOOLS}
    if helpers:
        for name, helper in helpers_of(rule).items():
            exec(helpers.get(name) or ast.unparse(tree_of(helper)), names)
    return made_of(source, names)


def expressions(tree: Tree) -> Iterator[tuple[int, ast.expr]]:
    """Every expression within a function, and its number among all parts."""
    bodies = tree.body if isinstance(tree, ast.FunctionDef) else [tree.body]
    inside = {id(part) for body in bodies for part in ast.walk(body)}
    for number, part in enumerate(ast.walk(tree)):
        if isinstance(part, ast.expr) and id(part) in inside:
            yield number, part


def replaced(tree: Tree, number: int, part: ast.expr) -> Tree:
    """A copy of the tree with another part in the place of the one with this number."""
    whole = copy.deepcopy(tree)
    target = list(ast.walk(whole))[number]

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return part if node is target else self.generic_visit(node)

    result = Replace().visit(whole)
    assert isinstance(result, (ast.Lambda, ast.FunctionDef))
    return result


# ------------------------------------------------------------- what mistakes are written with


def transposed(x: Any) -> Any:
    """All axes in reverse order, read into the old shape again."""
    return np.transpose(x).reshape(x.shape)


def shifted(x: Any) -> Any:
    """Every entry one place too far along the last axis."""
    return minigrad.concatenate([x[..., 1:], x[..., :1]], axis=-1) if x.ndim else x


def other(axis: Any) -> Any:
    """Not this axis."""
    if axis is None:
        return 0
    if isinstance(axis, tuple):
        return axis[:-1]
    return {0: 1, -1: -2}.get(axis, axis - 1)


TOOLS: dict[str, Any] = {"transposed": transposed, "shifted": shifted, "other": other, "np": np}
