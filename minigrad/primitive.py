"""What an op is: a forward on arrays, one gradient rule per input, and an example to check it on.

`@primitive(...)` turns a plain NumPy function into one that also takes tensors and symbols. A
rule is a function of the upstream gradient `g` and of what else its parameters name; the names
alone say what is kept from the forward pass. How results are recorded is told in `tape`.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad.calls import REQUIRED, entrance
from minigrad.graph import Node
from minigrad.memory import Variable, refuse_lists_of_tensors
from minigrad.notation import describe
from minigrad.operand import FUNCTIONS, Operand
from minigrad.rule import Function, Rule
from minigrad.tape import record

PRIMITIVES: dict[str, Primitive] = {}
"""Every primitive of the engine, and of attention once it is imported: what the checks walk."""


class _ForAll(tuple[Rule | None, ...]):
    """One rule for all of many inputs."""

    def __getitem__(self, position: Any) -> Any:
        return super().__getitem__(0)


class Primitive:
    """A forward, its rules and its example: all that the engine knows of an op."""

    example: Function | None = None
    expects: str = "shapes, axes and options that NumPy takes here"
    composed: Any = None
    called: Function | None = None
    otherwise: Any = None
    no_second: str = ""

    def __init__(self, forward: Function, rules: Sequence[Function | None], **traits: Any) -> None:
        """`traits` are the attributes above; `primitive` explains them."""
        if unknown := traits.keys() - Primitive.__annotations__.keys():
            raise TypeError(f"{forward.__name__}: a primitive has no {', '.join(unknown)}.")
        vars(self).update(traits)
        written = inspect.unwrap(forward)  # below decorators that use functools.wraps
        if not isinstance(written, FunctionType):
            what = type(forward).__name__
            raise TypeError(f"A forward is a function that is written with def, not a {what}.")
        code = written.__code__
        positional = code.co_varnames[: code.co_argcount]
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.many = bool(code.co_flags & inspect.CO_VARARGS)
        star = code.co_varnames[len(names) : len(names) + 1]
        self.input_names = star if self.many else names[: len(rules)]
        self.name = forward.__name__
        self.forward = forward
        values = dict(zip(reversed(positional), reversed(written.__defaults__ or ()), strict=False))
        values |= written.__kwdefaults__ or {}
        options = [name for name in names if name not in self.input_names]
        self.defaults = {name: values.get(name, REQUIRED) for name in options}
        # Only these may be given by position; in an op of many inputs, all of them may.
        self.positional = options if self.many else [n for n in options if n in positional]
        kind = _ForAll if self.many else tuple
        self.rules = kind([Rule(rule, self) if rule else None for rule in rules])

    def __repr__(self) -> str:
        return self.name

    def places(self, wanted: int, count: int) -> Sequence[int] | None:
        """What is kept if the inputs with a bit in `wanted` have a gradient; None if none has.

        Places count the inputs, and then the result.
        """
        rules = [self.rules[i] for i in range(count) if wanted >> i & 1]
        asking = [rule for rule in rules if rule is not None]
        if not asking:
            return None
        if self.many:
            return range(count) if asking[0].places else ()
        return sorted({place for rule in asking for place in rule.places})

    def bind(self, extra: Sequence[Any], options: dict[str, Any]) -> dict[str, Any]:
        """The op's options: positional ones in their order, the others by name or default."""
        names = self.positional
        if len(extra) > len(names):
            raise TypeError(
                f"{self} takes {', '.join((*self.input_names, *names))} by position; more came."
            )
        bound = {**self.defaults, **dict(zip(names, extra, strict=False)), **options}
        for name, value in bound.items():
            if name not in self.defaults:
                raise TypeError(f"{self} has no option {name!r}; there are {[*self.defaults]}.")
            if value is REQUIRED:
                raise TypeError(f"{self} needs {name}=.")
            # Nobody shall change an option before the backward, nor lose a gradient in it.
            if isinstance(value, (list, tuple, ndarray)):
                refuse_lists_of_tensors(value)
                bound[name] = copy.deepcopy(value)
            elif isinstance(value, Variable):
                bound[name] = self._constant(name, value)
        return bound

    def _constant(self, name: str, value: Variable) -> Any:
        if value._node is not None and value._node.requires_grad:
            raise TypeError(f"{self}: no gradient can reach {name}=; pass {name}.detach().")
        return value._data.copy()

    def apply(self, inputs: Sequence[Any], options: dict[str, Any]) -> Any:  # noqa: C901
        """Runs the op on arrays, tensors or symbols, whichever came, and records tensors."""
        arrays: list[Any] = []
        nodes: list[Any] = []
        inputs = list(inputs)
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
                array = inputs[position] = self._as_input(x)
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
        if any(out is array for array in arrays):
            out = np.array(out)
        places = self.places(wanted, len(inputs))
        return record(self, inputs, nodes, places, options, out, like)

    def _as_input(self, x: Any) -> Any:
        if type(x) in (ndarray, float, int, bool):
            return x
        refuse_lists_of_tensors(x)
        array = x if isinstance(x, (int, float, np.generic)) else np.asarray(x)
        if not isinstance(array, (int, float)) and array.dtype.kind not in "biuf":
            raise TypeError(f"{self} takes tensors, arrays and numbers, not {type(x).__name__}.")
        return array

    def explained(self, error: Exception, inputs: Sequence[Any]) -> Exception:
        """The error of a forward, with the op, what it got and what it expects."""
        names = self.input_names * len(inputs) if self.many else self.input_names
        got = ", ".join(f"{n} {describe(x)}" for n, x in zip(names, inputs, strict=True))
        kind = next(k for k in (ValueError, TypeError, IndexError) if isinstance(error, k))
        said = str(error).removeprefix(f"{self}: ")
        return kind(f"{self}: {said}\n  got: {got}\n  expected: {self.expects}")


def primitive(*rules: Function | None, **traits: Any) -> Callable[[Function], Function]:
    """Defines an op: decorates its forward, a function of arrays.

    Args:
        rules: one per input, None for an input without a gradient; see `Rule`. A rule is one
            expression in NumPy functions and primitives, so it runs on arrays, tensors, symbols.
            What it asks for is read off its parameters, through decorators that use
            `functools.wraps`.
        example: a function of a `numpy.random.Generator` that returns the arguments of a call,
            a tuple whose last element may be a dict of options, or a list of such tuples.
        expects: what the inputs must be, for error messages.
        composed: an equal composition of NumPy functions, where the forward itself cannot be run
            on symbols because it branches on values or is an algorithm.
        called: how it is called, where that is not simply inputs and options: called(call, ...).
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
        if not isinstance(forward, FunctionType):
            raise TypeError("write @primitive(rule, example=...) above the def of the forward.")
        return function_of(Primitive(forward, rules, **traits))

    return define


def function_of(op: Primitive) -> Function:
    """What the forward's name stands for from now on; the project's own ops are registered."""
    function = functools.wraps(op.forward)(entrance(op))
    function.primitive = op  # type: ignore[attr-defined]
    if op.forward.__module__.startswith(("minigrad.ops", "attention.")):
        PRIMITIVES[op.name] = op
        FUNCTIONS[op.name] = function
    return function
