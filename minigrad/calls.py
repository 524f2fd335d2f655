"""How a primitive is called: what of a call is input, what is option, by the thinnest way.

What a graph is mostly made of are ops of one input, and of two without options. They have ways of
their own here, which do what `Primitive.apply` does for all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from minigrad.memory import Variable
from minigrad.tape import record

if TYPE_CHECKING:
    from minigrad.primitive import Primitive

Function = Callable[..., Any]

REQUIRED: Any = object()
"""The default of an option that has none."""


def entrance(op: Primitive) -> Function:
    """The function that is called. It tells the op's inputs from its options, nothing more."""
    if len(op.rules) != len(op.input_names):
        raise TypeError(f"{op} has {len(op.input_names)} inputs and {len(op.rules)} rules.")
    way_in = op.way_in() if hasattr(op, "way_in") else _way_in(op)
    return way_in if op.called is None else functools.partial(op.called, way_in)


def _way_in(op: Primitive) -> Function:  # noqa: C901 - several ways, side by side
    arity, defaults = len(op.rules), op.defaults
    plain = REQUIRED not in defaults.values()

    def of_some(*args: Any, **options: Any) -> Any:
        if plain and not options and len(args) == arity:
            return op.apply(args, defaults)
        for name in op.input_names[len(args) :]:
            if name not in options:
                raise TypeError(f"{op} needs {', '.join(op.input_names)}; {name} is missing.")
            args = (*args, options.pop(name))
        return op.apply(args[:arity], op.bind(args[arity:], options))

    def of_many(*args: Any, **options: Any) -> Any:
        rows = list(args[0]) if _is_sequence(args, op) else None
        if rows is not None:  # concatenate([a, b], axis)
            return op.apply(rows, op.bind(args[1:], options))
        return op.apply(args, op.bind((), options))

    if op.many:
        return of_many
    if arity == 1 and op.rules[0] is not None:
        return _of_one(op, of_some)
    return _of_two(op) if arity == 2 and not defaults else of_some


def _is_sequence(args: tuple[Any, ...], op: Primitive) -> bool:
    """Whether the inputs come as one sequence: a list, or the rows of one array or tensor."""
    if not args or isinstance(args[0], (list, tuple)):
        return bool(args)
    alone = len(args) == 1 or isinstance(args[1], int)
    return alone and "axis" in op.defaults and isinstance(args[0], (ndarray, Variable))


def _of_one(op: Primitive, of_some: Function) -> Function:
    forward, bind = op.forward, op.bind
    defaults = None if REQUIRED in op.defaults.values() else op.defaults
    kept = op.places(1, 1)

    def of_one(x: Any = REQUIRED, *extra: Any, **options: Any) -> Any:
        if isinstance(x, Variable) and x._node is not None:
            array, node = x._data, x._node
        elif type(x) is ndarray:
            array, node = x, None
        else:
            return of_some(*(() if x is REQUIRED else (x, *extra)), **options)
        named = extra or options or defaults is None
        options = bind(extra, options) if named else op.defaults
        try:
            out = forward(array, **options) if options else forward(array)
        except (ValueError, TypeError, IndexError) as error:
            raise op.explained(error, (x,)) from error
        if node is None:
            return out
        if out is array:
            out = out.copy()
        return record(op, (x,), (node,), kept if node.requires_grad else None, options, out, x)

    return of_one


def _of_two(op: Primitive) -> Function:  # noqa: C901 - written out, as it is run most
    forward, defaults = op.forward, op.defaults
    kept = [op.places(wanted, 2) for wanted in range(4)]
    # With a number on the right, nothing is to be kept if that is all that the rule asks for.
    beside_number = [() if places == [1] else places for places in kept]

    def of_two(a: Any, b: Any) -> Any:  # noqa: C901
        wanted = 0
        like: Any = None
        left: Any = None
        right: Any = None
        x: Any = None
        y: Any = None
        if type(a) is ndarray is type(b):  # as a rule calls it
            x, y = a, b
        else:
            if isinstance(a, Variable):
                like, x, left = a, a._data, a._node
                if left is not None and left.requires_grad:
                    wanted = 1
            elif type(a) is float:
                x = left = a
            if type(b) is float:
                y = right = b
            elif isinstance(b, Variable):
                like, y, right = b, b._data, b._node
                if right is not None and right.requires_grad:
                    wanted |= 2
            if like is None or left is None or right is None:
                return op.apply((a, b), defaults)
        try:
            out = forward(x, y)
        except (ValueError, TypeError) as error:
            raise op.explained(error, (a, b)) from error
        if out is NotImplemented:
            return op.otherwise(a, b)
        if like is None:
            return out
        if out is x or out is y:
            out = out.copy()
        places = beside_number[wanted] if right is b else kept[wanted]
        return record(op, (a, b), (left, right), places, defaults, out, like)

    return of_two
