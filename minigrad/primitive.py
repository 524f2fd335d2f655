"""What an op is: a forward on arrays, one gradient rule per input, and an example to check it on.

`@primitive(...)` turns a plain NumPy function into one that also takes tensors and symbols. A
rule is a function of the upstream gradient `g` and of what else its parameters name; the names
alone say what is kept from the forward pass. How results are recorded is told in `tape`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad.operand import FUNCTIONS, Operand
from minigrad.tape import Node, Variable, fit, record

Function = Callable[..., Any]

PRIMITIVES: dict[str, Primitive] = {}
"""Every primitive of the engine by name: what the checks walk."""


class Rule:
    """A gradient rule and what it asks for, read off its parameters.

    After the upstream: an input's name asks for its array, `out` for the result, `x_shape` for
    the shape of input `x`; in an op of many inputs these are tuples, and `index` asks for the
    position of the input. Names after `*` are the op's own options.
    """

    def __init__(self, function: Function, op: Primitive) -> None:
        if not isinstance(function, FunctionType):
            raise TypeError(f"{op}: a rule is a function, not a {type(function).__name__}.")
        code = function.__code__
        count = code.co_argcount
        if count == 0:
            raise TypeError(f"{op}: a rule's first parameter is the upstream gradient.")
        self.function = function
        self.many = op.many
        self.asks = code.co_varnames[1:count]
        self.options = code.co_varnames[count : count + code.co_kwonlyargcount]
        self.sources = [self._source(name, op) for name in self.asks]
        for name in self.options:
            if name not in op.defaults:
                raise TypeError(f"{op}: a rule asks for {name!r}; options are {[*op.defaults]}.")
        self.places = [place for kind, place in self.sources if kind == "array"]
        self.bare = not self.sources and not self.options
        one = len(self.sources) == len(self.places) == 1 and not self.options and not op.many
        self.only = self.places[0] if one else -1

    @staticmethod
    def _source(name: str, op: Primitive) -> tuple[str, int]:
        """What a parameter asks for, and where that is kept: inputs first, then the result."""
        if name in op.input_names:
            return "array", op.input_names.index(name)
        if name == "out" and not op.many:
            return "array", len(op.input_names)
        if name.endswith("_shape") and name[:-6] in op.input_names:
            return "shape", op.input_names.index(name[:-6])
        if name == "index" and op.many:
            return "index", -1
        raise TypeError(
            f"{op}: a rule asks for {name!r}. After the upstream it can ask for an input "
            f"({', '.join(op.input_names)}), its shape ({op.input_names[0]}_shape) or the result "
            "(out); the op's own options stand after a *."
        )

    def run(self, upstream: Any, node: Node, position: int, like: Variable | None) -> Any:
        """Calls the rule with what it asks for; with `like`, as the tensors that it was."""
        kept: Any = node.kept
        if like is not None:
            places = range(len(node.inputs)) if self.many and self.places else self.places
            kept = {place: self._lifted(place, node, like) for place in places}
        if len(self.places) == len(self.sources) and not self.many:
            arguments = [kept[place] for place in self.places]
        else:
            arguments = [self._argument(*source, kept, node, position) for source in self.sources]
        options = node.options or {}
        if len(options) != len(self.options):
            options = {name: options[name] for name in self.options}
        return self.function(upstream, *arguments, **options)

    def _argument(self, kind: str, place: int, kept: Any, node: Node, position: int) -> Any:
        if kind == "index":
            return position
        if kind == "shape":
            shapes = [x.shape if isinstance(x, Node) else () for x in node.inputs]
            return tuple(shapes) if self.many else shapes[place]
        return tuple([kept[i] for i in range(len(node.inputs))]) if self.many else kept[place]

    @staticmethod
    def _lifted(place: int, node: Node, like: Variable) -> Any:
        """What was kept at `place`, as the tensor that it was."""
        assert node.kept is not None
        value = node.kept[place]
        origin = node.inputs[place] if place < len(node.inputs) else node
        return like._wrap(value, origin) if isinstance(origin, Node) else value


class _ForAll(tuple[Rule | None, ...]):
    """One rule for all of many inputs."""

    def __getitem__(self, position: Any) -> Any:
        return super().__getitem__(0)


class Primitive:
    """A forward, its rules and its example: all that the engine knows of an op."""

    def __init__(
        self,
        forward: Function,
        rules: Sequence[Function | None],
        example: Function | None = None,
        expects: str = "",
        composed: Function | None = None,
        otherwise: Function | None = None,
        no_second: str = "",
    ) -> None:
        code = forward.__code__
        positional = code.co_varnames[: code.co_argcount]
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.many = bool(code.co_flags & inspect.CO_VARARGS)
        star = code.co_varnames[len(names) : len(names) + 1]
        self.input_names = star if self.many else names[: len(rules)]
        self.name = forward.__name__
        self.forward = forward
        values = dict(zip(reversed(positional), reversed(forward.__defaults__ or ()), strict=False))
        values |= forward.__kwdefaults__ or {}
        options = [name for name in names if name not in self.input_names]
        self.defaults = {name: values.get(name, _REQUIRED) for name in options}
        # Only these may be given by position; in an op of many inputs, all of them may.
        self.positional = options if self.many else [n for n in options if n in positional]
        kind = _ForAll if self.many else tuple
        self.rules = kind([Rule(rule, self) if rule else None for rule in rules])
        self.example = example
        self.expects = expects
        self.composed = composed
        self.otherwise: Any = otherwise
        self.no_second = no_second

    def __repr__(self) -> str:
        return self.name

    def places(self, wanted: int, count: int) -> Sequence[int] | None:
        """What is kept if the inputs with a bit in `wanted` have a gradient; None if none has.

        Places count the inputs, and then the result.
        """
        if not wanted:
            return None
        if self.many:
            return range(count) if self.rules[0] and self.rules[0].places else ()
        asked = {
            place
            for i, rule in enumerate(self.rules)
            if rule is not None and wanted >> i & 1
            for place in rule.places
        }
        return sorted(asked)

    def bind(self, extra: Sequence[Any], options: dict[str, Any]) -> dict[str, Any]:
        """The op's options: positional ones in their order, the others by name or default."""
        names = self.positional
        if not options and len(extra) == len(names) == len(self.defaults):
            return dict(zip(names, extra))  # noqa: B905 - the lengths were just compared
        if len(extra) > len(names):
            raise TypeError(
                f"{self} takes {', '.join((*self.input_names, *names))} by position; more came."
            )
        bound = {**self.defaults, **dict(zip(names, extra, strict=False)), **options}
        for name, value in bound.items():
            if name not in self.defaults:
                raise TypeError(f"{self} has no option {name!r}; there are {[*self.defaults]}.")
            if value is _REQUIRED:
                raise TypeError(f"{self} needs {name}=.")
        return bound

    def apply(self, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
        """Runs the op on arrays, tensors or symbols, whichever came, and records tensors."""
        arrays: list[Any] = []
        nodes: list[Any] = []
        wanted = 0
        like: Variable | None = None
        for position, x in enumerate(inputs):
            if isinstance(x, Variable):
                like, node = x, x._node
                if node is None:
                    node = x._node = Node(x._data.shape, x._data.dtype, False)
                elif node.requires_grad:
                    wanted |= 1 << position
                arrays.append(x._data)
                nodes.append(node)
            elif isinstance(x, Operand):
                return x._apply(self, inputs, options)
            else:
                array = x if type(x) in (ndarray, float, int, bool) else self._as_input(x)
                arrays.append(array)
                number = isinstance(array, (int, float))
                nodes.append(array if number else Node(array.shape, array.dtype, False))
        try:
            out = self.forward(*arrays, **options)
        except (ValueError, TypeError, IndexError) as error:
            raise self.explained(error, inputs) from error
        if out is NotImplemented:
            return self.otherwise(*inputs, **options)
        if like is None:
            return out
        places = self.places(wanted, len(inputs))
        return record(self, inputs, nodes, places, options, out, like)

    def _as_input(self, x: Any) -> Any:
        array = x if isinstance(x, (int, float, np.generic)) else np.asarray(x)
        if not isinstance(array, (int, float)) and array.dtype.kind not in "biuf":
            raise TypeError(f"{self} takes tensors, arrays and numbers, not {type(x).__name__}.")
        return array

    def explained(self, error: Exception, inputs: Sequence[Any]) -> Exception:
        """The error of a forward, with the op, what it got and what it expects."""
        names = self.input_names * len(inputs) if self.many else self.input_names
        got = ", ".join(f"{n} {_described(x)}" for n, x in zip(names, inputs, strict=True))
        expects = f"\n  expected: {self.expects}" if self.expects else ""
        kind = next(k for k in (ValueError, TypeError, IndexError) if isinstance(error, k))
        return kind(f"{self}: {error}\n  got: {got}{expects}")


_REQUIRED: Any = object()


def _described(x: Any) -> str:
    if not isinstance(x, Variable):
        return f"{np.shape(x)} {getattr(x, 'dtype', type(x).__name__)}"
    name = f" {x._node.name!r}" if x._node and x._node.name else ""
    line = x._node.line if x._node else None
    where = f" (made in {line[0]}, line {line[1]})" if line else ""
    return f"{x._data.shape} {x._data.dtype}{name}{where}"


def entrance(op: Primitive) -> Function:
    """The function that is called. It tells the op's inputs from its options, nothing more."""
    arity, defaults = len(op.rules), op.defaults
    plain = _REQUIRED not in defaults.values()

    def of_some(*args: Any, **options: Any) -> Any:
        if plain and not options and len(args) == arity:
            return op.apply(args, defaults)
        for name in op.input_names[len(args) :]:
            if name not in options:
                raise TypeError(f"{op} needs {', '.join(op.input_names)}; {name} is missing.")
            args = (*args, options.pop(name))
        return op.apply(args[:arity], op.bind(args[arity:], options))

    def of_many(*args: Any, **options: Any) -> Any:
        if args and isinstance(args[0], (list, tuple)):  # concatenate([a, b], axis)
            return op.apply(tuple(args[0]), op.bind(args[1:], options))
        return op.apply(args, op.bind((), options))

    if op.many:
        return of_many
    if arity == 1 and op.rules[0] is not None:
        return _of_one(op, of_some)
    return _of_two(op) if arity == 2 and not defaults else of_some


# What a graph is mostly made of are ops of one input, and of two without options. They have a
# thinner way in than `Primitive.apply`, which does the same for all.


def _of_one(op: Primitive, of_some: Function) -> Function:
    forward, bind = op.forward, op.bind
    defaults = None if _REQUIRED in op.defaults.values() else op.defaults
    kept = op.places(1, 1)

    def of_one(x: Any = _REQUIRED, *extra: Any, **options: Any) -> Any:
        if isinstance(x, Variable) and x._node is not None:
            array, node = x._data, x._node
        elif type(x) is ndarray:
            array, node = x, None
        else:
            return of_some(*(() if x is _REQUIRED else (x, *extra)), **options)
        if extra or options or defaults is None:
            options = bind(extra, options)
        else:
            options = defaults
        try:
            out = forward(array, **options) if options else forward(array)
        except (ValueError, TypeError, IndexError) as error:
            raise op.explained(error, (x,)) from error
        if node is None:
            return out
        return record(op, (x,), (node,), kept if node.requires_grad else None, options, out, x)

    return of_one


def _of_two(op: Primitive) -> Function:
    forward, defaults = op.forward, op.defaults
    kept = [op.places(wanted, 2) for wanted in range(4)]
    # With a number on the right, nothing is to be kept if that is all that the rule asks for.
    beside_number = [() if places == [1] else places for places in kept]

    def of_two(a: Any, b: Any) -> Any:
        wanted = 0
        like: Any = None
        left: Any = None
        right: Any = None
        if isinstance(a, Variable):
            like, x, left = a, a._data, a._node
            if left is not None and left.requires_grad:
                wanted = 1
        elif type(a) is float:
            x = left = a
        if isinstance(b, Variable):
            like, y, right = b, b._data, b._node
            if right is not None and right.requires_grad:
                wanted |= 2
        elif type(b) is float:
            y = right = b
        if like is None or left is None or right is None:
            return op.apply((a, b), defaults)
        try:
            out = forward(x, y)
        except (ValueError, TypeError) as error:
            raise op.explained(error, (a, b)) from error
        if out is NotImplemented:
            return op.otherwise(a, b)
        places = beside_number[wanted] if right is b else kept[wanted]
        return record(op, (a, b), (left, right), places, defaults, out, like)

    return of_two


def primitive(
    *rules: Function | None,
    example: Function | None = None,
    expects: str = "",
    composed: Function | None = None,
    called: Function | None = None,
    otherwise: Function | None = None,
    no_second: str = "",
) -> Callable[[Function], Function]:
    """Defines an op: decorates its forward, a function of arrays.

    Args:
        rules: one per input, None for an input without a gradient; see `Rule`. A rule is one
            expression in NumPy functions and primitives, so it runs on arrays, tensors, symbols.
        example: a function of a `numpy.random.Generator` that returns the arguments of a call,
            a tuple whose last element may be a dict of options, or a list of such tuples.
        expects: what the inputs must be, for error messages.
        composed: an equal composition of NumPy functions, where the forward itself cannot be run
            on symbols because it branches on values or is an algorithm.
        called: how it is called, where that is not simply inputs and options: called(op, ...).
        otherwise: what makes the result where the forward returns NotImplemented.
        no_second: why it has no second derivative, if so.

    Errors: `TypeError` if a rule asks for what there is not.

    >>> import numpy as np
    >>> from minigrad import Tensor, primitive
    >>> @primitive(lambda g, x: g * np.cos(x), example=lambda rng: (rng.normal(size=(2, 3)),))
    ... def sine(x):
    ...     return np.sin(x)
    >>> x = Tensor(0.0, requires_grad=True)
    >>> sine(x).backward()
    >>> float(x.grad)
    1.0
    """

    def define(forward: Function) -> Function:
        op = Primitive(forward, rules, example, expects, composed, otherwise, no_second)
        function = functools.wraps(forward)(entrance(op))
        if called is not None:
            function = functools.wraps(forward)(functools.partial(called, function))
        function.primitive = op  # type: ignore[attr-defined]
        if forward.__module__.startswith(_OWN):
            PRIMITIVES[op.name] = op
            FUNCTIONS[op.name] = function
        return function

    return define


_OWN = ("minigrad.ops", "attention.")
