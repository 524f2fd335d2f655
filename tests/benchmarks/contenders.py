"""Who computes the workloads: by hand, minigrad, its peers, and the matrix products alone.

An `Engine` is what a workload is written in; a `Contender` makes a step of a workload, which
computes the result and a gradient for every input from the same upstream. A peer is imported when
it is asked for. Everybody computes in one thread except where a row says two.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import minigrad
from attention import fused_attention
from minigrad import Tensor
from tests.benchmarks.workloads import RATE, Array, Step, Work

HAND = "by hand"
PRODUCTS = "products alone"
ATTENTION = ("heads", "causal")
"""The kinds of work that are attention of a size where threads and fused kernels pay."""


@dataclass(frozen=True)
class Engine:
    """The functions whose names differ from library to library."""

    attention: Callable[[float, bool], Callable[..., Any]]  # of a scale, and whether causal
    relu: Callable[..., Any]
    cross_entropy: Callable[..., Any]  # of logits and labels
    chain: Callable[[int, Any], Any]  # so many times y * 1.0001 + 0.5


class Contender(NamedTuple):
    """One row: who computes, in how many threads, and what is done before its turn."""

    name: str
    threads: int
    make: Callable[[Work], Step]
    prepare: Callable[[], Any] = lambda: None

    @property
    def label(self) -> str:
        """The name, and the number of threads if it is not one."""
        return self.name if self.threads == 1 else f"{self.name}, {self.threads} threads"


def contenders(kind: str, peers: Sequence[str] = ()) -> list[Contender]:
    """All that can do a kind of work, the hand-written one first."""
    found = [Contender(HAND, 1, lambda work: work.hand), *_minigrad(kind)]
    for peer in peers:
        if (peer, kind) not in LEFT_OUT:
            found += PEERS[peer](kind)
    if kind == "heads":
        found += [Contender(PRODUCTS, n, _products(n)) for n in (1, 2)]
    return found


def _composed(softmax: Callable[[Any], Any], transposed: Callable[[Any], Any]) -> Any:
    """Attention as it is written down, for the engines that have nothing of their own."""

    def attention(scale: float, causal: bool) -> Callable[..., Any]:
        if causal:
            raise NotImplementedError("only fused kernels take part in causal attention")
        return lambda q, k, v: softmax(q @ transposed(k) * scale) @ v

    return attention


def _chain(times: int, y: Any) -> Any:
    for _ in range(times):
        y = y * 1.0001 + 0.5
    return y


def _swapped(x: Any) -> Any:
    return x.swapaxes(-1, -2)


# ----------------------------------------------------------------------------------------- minigrad


def _minigrad(kind: str) -> Iterator[Contender]:
    """Composed of primitives, and as one op in one thread and in two."""
    if kind != "causal":
        yield Contender("minigrad", 1, _minigrad_step(_minigrad_attention))
    for threads in (1, 2) if kind in ATTENTION else (1,) if kind == "head" else ():
        yield Contender("minigrad fused", threads, _minigrad_step(_minigrad_fused(threads)))


def _minigrad_attention(scale: float, causal: bool) -> Callable[..., Any]:
    return lambda q, k, v: minigrad.softmax(minigrad.scale(q @ k.mT, scale)) @ v


def _minigrad_fused(threads: int) -> Callable[[float, bool], Callable[..., Any]]:
    def attention(scale: float, causal: bool) -> Callable[..., Any]:
        options: dict[str, Any] = {"scale": scale, "is_causal": causal, "threads": threads}
        return lambda q, k, v: fused_attention(q, k, v, **options)

    return attention


def _minigrad_step(attention: Any) -> Callable[[Work], Step]:
    engine = Engine(attention, minigrad.relu, minigrad.cross_entropy, _chain)

    def make(work: Work) -> Step:
        leaves = [Tensor(x, requires_grad=True) for x in work.inputs]
        constants = [Tensor(x) if x.dtype.kind == "f" else x for x in work.constants]
        run, upstream, trains = work.forward(engine), work.upstream, work.trains

        def step() -> list[Any]:
            for x in leaves:
                x.grad = None
            out = run(*leaves, *constants)
            out.backward(upstream)
            if trains:
                with minigrad.no_grad():
                    for x in leaves:
                        x -= RATE * x.grad  # type: ignore[operator]
            return [out, *[x.grad for x in leaves]]

        return step

    return make


# -------------------------------------------------------------------------------------------- peers


def _torch(kind: str) -> Iterator[Contender]:
    """Eager, and its fused kernel, in one thread and in two."""
    torch: Any = importlib.import_module("torch")
    functional: Any = importlib.import_module("torch.nn.functional")
    kernels: Any = importlib.import_module("torch.nn.attention")
    rest = (torch.relu, functional.cross_entropy, _chain)
    eager = Engine(_composed(lambda x: torch.softmax(x, -1), _swapped), *rest)
    fused = Engine(_torch_fused(functional), *rest)
    flash = _calling(kernels.sdpa_kernel, [kernels.SDPBackend.FLASH_ATTENTION])
    for threads in (1, 2) if kind in ATTENTION else (1,):
        ready = _calling(torch.set_num_threads, threads)
        if kind != "causal":
            yield Contender("torch", threads, _torch_step(torch, eager, nullcontext), ready)
        if kind in ATTENTION:
            yield Contender("torch fused", threads, _torch_step(torch, fused, flash), ready)


def _torch_fused(functional: Any) -> Callable[[float, bool], Callable[..., Any]]:
    def attention(scale: float, causal: bool) -> Callable[..., Any]:
        def run(*inputs: Any) -> Any:
            q, k, v = (x if x.ndim == 4 else x[None] for x in inputs)  # the kernel wants a batch
            out = functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)
            return out if inputs[0].ndim == 4 else out[0]

        return run

    return attention


def _torch_step(torch: Any, engine: Engine, context: Callable[[], Any]) -> Callable[[Work], Step]:
    """The context is entered for the forward, which chooses the kernel of the backward too."""

    def make(work: Work) -> Step:
        leaves = [torch.tensor(x, requires_grad=True) for x in work.inputs]
        constants = [torch.tensor(x) for x in work.constants]
        run, upstream, trains = work.forward(engine), torch.tensor(work.upstream), work.trains

        def step() -> list[Any]:
            for x in leaves:
                x.grad = None
            with context():
                out = run(*leaves, *constants)
            out.backward(upstream)
            if trains:
                with torch.no_grad():
                    for x in leaves:
                        x -= RATE * x.grad
            return [out, *[x.grad for x in leaves]]

        return step

    return make


def _calling(function: Callable[..., Any], *args: Any) -> Callable[[], Any]:
    return lambda: function(*args)


def _autograd(kind: str) -> Iterator[Contender]:
    """HIPS autograd: NumPy with a tape."""
    numpy: Any = importlib.import_module("autograd.numpy")
    make_vjp: Any = importlib.import_module("autograd").make_vjp

    def softmax(x: Any) -> Any:
        weights = numpy.exp(x - numpy.max(x, axis=-1, keepdims=True))
        return weights / numpy.sum(weights, axis=-1, keepdims=True)

    def cross_entropy(logits: Any, labels: Any) -> Any:
        shifted = logits - numpy.max(logits, axis=1, keepdims=True)
        sums = numpy.log(numpy.sum(numpy.exp(shifted), axis=1))
        return numpy.mean(sums - shifted[numpy.arange(len(labels)), labels])

    def relu(x: Any) -> Any:
        return numpy.maximum(x, 0)

    engine = Engine(_composed(softmax, _swapped), relu, cross_entropy, _chain)

    def make(work: Work) -> Step:
        inputs = tuple([x.copy() for x in work.inputs])
        run = work.forward(engine)

        def step() -> list[Any]:
            pull, out = make_vjp(lambda xs: run(*xs, *work.constants))(inputs)
            gradients = pull(work.upstream)
            if work.trains:
                for x, gradient in zip(inputs, gradients, strict=True):
                    x -= RATE * gradient
            return [out, *gradients]

        return step

    yield Contender("autograd", 1, make)


def _mygrad(kind: str) -> Iterator[Contender]:
    mygrad: Any = importlib.import_module("mygrad")
    activations: Any = importlib.import_module("mygrad.nnet.activations")
    losses: Any = importlib.import_module("mygrad.nnet.losses")

    def attention(scale: float, causal: bool) -> Callable[..., Any]:
        def run(q: Any, k: Any, v: Any) -> Any:  # a Python number would make all of it float64
            weights = activations.softmax(q @ _swapped(k) * q.dtype.type(scale), axis=-1)
            return weights @ v

        return run

    engine = Engine(attention, activations.relu, losses.softmax_crossentropy, _chain)

    def make(work: Work) -> Step:
        leaves = [mygrad.tensor(x) for x in work.inputs]
        run = work.forward(engine)

        def step() -> list[Any]:
            for x in leaves:
                x.null_grad()
            out = run(*leaves, *work.constants)
            out.backward(work.upstream)
            gradients = [x.grad for x in leaves]
            if work.trains:
                for x, gradient in zip(leaves, gradients, strict=True):
                    x.data -= RATE * gradient
            return [out.data, *gradients]

        return step

    yield Contender("mygrad", 1, make)


def _jax(kind: str) -> Iterator[Contender]:
    """Compiled before the first step; a chain is its `fori_chain`, since it would unroll ours."""
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)

    def cross_entropy(logits: Any, labels: Any) -> Any:
        logs = jax.nn.log_softmax(logits)
        return -logs[np.arange(len(labels)), labels].mean()

    def chain(times: int, y: Any) -> Any:
        return jax.lax.fori_loop(0, times, lambda _, y: y * 1.0001 + 0.5, y)

    engine = Engine(_composed(jax.nn.softmax, _swapped), jax.nn.relu, cross_entropy, chain)

    def make(work: Work) -> Step:
        inputs, constants, upstream = jax.tree.map(
            jax.numpy.asarray, (list(work.inputs), list(work.constants), work.upstream)
        )
        run = work.forward(engine)

        def whole(inputs: Any, constants: Any, upstream: Any) -> Any:
            out, pull = jax.vjp(lambda *xs: run(*xs, *constants), *inputs)
            gradients = pull(upstream)
            updated = [x - RATE * g for x, g in zip(inputs, gradients, strict=True)]
            return [out, *gradients], updated if work.trains else []

        compiled = jax.jit(whole)
        jax.block_until_ready(compiled(inputs, constants, upstream))

        def step() -> list[Any]:
            results, _ = jax.block_until_ready(compiled(inputs, constants, upstream))
            return list(results)

        return step

    yield Contender("jax", 1, make)


def _tinygrad(kind: str) -> Iterator[Contender]:
    """With its `TinyJit`, which compiles in the first two steps."""
    tinygrad: Any = importlib.import_module("tinygrad")
    device = tinygrad.Device[tinygrad.Device.DEFAULT]
    engine = Engine(
        _composed(lambda x: x.softmax(-1), lambda x: x.transpose(-1, -2)),
        lambda x: x.relu(),
        lambda logits, labels: logits.sparse_categorical_crossentropy(labels),
        _chain,
    )

    def make(work: Work) -> Step:
        leaves, constants = (
            [tinygrad.Tensor(x).realize() for x in some] for some in (work.inputs, work.constants)
        )
        upstream, run = tinygrad.Tensor(work.upstream).realize(), work.forward(engine)

        def whole(*inputs: Any) -> Any:
            out = run(*inputs, *constants)
            gradients = (out * upstream).sum().gradient(*inputs)
            updated = [x - RATE * g for x, g in zip(inputs, gradients, strict=True)]
            results = [out, *gradients, *(updated if work.trains else [])]
            tinygrad.Tensor.realize(*results)
            return results

        compiled = tinygrad.TinyJit(whole)

        def step() -> list[Any]:
            results = compiled(*leaves)
            device.synchronize()
            return list(results[: 1 + len(leaves)])

        return step

    yield Contender("tinygrad", 1, make)


def _micrograd(kind: str) -> Iterator[Contender]:
    """One number at a time, in NumPy arrays of objects; it has no exp, so it gets one here."""
    value: Any = importlib.import_module("micrograd.engine").Value

    def exp(x: Any) -> Any:
        out = value(math.exp(x.data), (x,), "exp")

        def backward() -> None:
            x.grad += out.data * out.grad

        out._backward = backward
        return out

    exps, wrapped = np.frompyfunc(exp, 1, 1), np.frompyfunc(value, 1, 1)
    data, grad = (np.frompyfunc(lambda x, n=name: getattr(x, n), 1, 1) for name in ("data", "grad"))

    def softmax(x: Any) -> Any:
        weights = exps(x - data(x).max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)

    engine = Engine(_composed(softmax, _swapped), None, None, _chain)  # type: ignore[arg-type]

    def make(work: Work) -> Step:
        sys.setrecursionlimit(10**6)  # it walks back by calling itself
        run = work.forward(engine)

        def step() -> list[Any]:
            leaves = [wrapped(x) for x in work.inputs]
            out = run(*leaves)
            (out * work.upstream).sum().backward()
            return [data(out).astype(float), *[grad(x).astype(float) for x in leaves]]

        return step

    yield Contender("micrograd", 1, make)


PEERS: dict[str, Callable[[str], Iterator[Contender]]] = {
    "torch": _torch,
    "autograd": _autograd,
    "mygrad": _mygrad,
    "jax": _jax,
    "tinygrad": _tinygrad,
    "micrograd": _micrograd,
}
LEFT_OUT = {
    **{(peer, "causal"): "no fused kernel" for peer in PEERS if peer != "torch"},
    ("micrograd", "heads"): "one number at a time, it would take minutes",
    ("micrograd", "training"): "one number at a time, it would take minutes",
    ("micrograd", "chain"): "one number at a time, it takes 20 seconds",
    ("tinygrad", "chain"): "it does not get to the end of compiling 10,000 ops in a minute",
}
"""What a peer cannot do, or not in reasonable time, and why."""


# ------------------------------------------------------------------------------------ the products

QUERIES, KEYS = 512, 512
"""The sides of a tile: of those that were tried, its products were the quickest."""


def _products(threads: int) -> Callable[[Work], Step]:
    """The seven matrix products that attention cannot do without, and nothing else.

    Two lead forward. On the way back the scores are computed again, and then the gradients of the
    weights, the values, the queries and the keys. They return nothing, and nothing is added up.
    """

    def make(work: Work) -> Step:
        *leading, length, width = work.upstream.shape
        heads = math.prod(leading)
        arrays = [x.reshape(heads, length, width) for x in (*work.inputs, work.upstream)]
        rows, columns = min(QUERIES, length), min(KEYS, length)
        group = max(1, min(heads // 2, QUERIES * KEYS // (rows * columns)))
        tiles = [
            (slice(h, h + group), slice(i, i + rows), slice(j, j + columns))
            for h in range(0, heads, group)
            for i in range(0, length, rows)
            for j in range(0, length, columns)
        ]
        shapes = ((rows, columns), (rows, columns), (rows, width), (columns, width))
        dtype = work.upstream.dtype
        scratch = [[np.empty((group, *s), dtype) for s in shapes] for _ in range(threads)]
        shares: list[Any] = [(arrays, tiles[i::threads], *scratch[i]) for i in range(threads)]
        pool = ThreadPoolExecutor(max(1, threads - 1))  # this thread works too

        def step() -> list[Any]:
            others = [pool.submit(_seven, *share) for share in shares[1:]]
            _seven(*shares[0])
            for other in others:
                other.result()
            return []

        return step

    return make


def _seven(
    arrays: list[Array], tiles: Any, weights: Array, ds: Array, by_query: Array, by_key: Array
) -> None:
    q, k, v, g = arrays
    across, down = weights.swapaxes(1, 2), ds.swapaxes(1, 2)
    for head, row, column in tiles:
        query, upstream = q[head, row], g[head, row]
        key, value = k[head, column], v[head, column]
        np.matmul(query, key.swapaxes(1, 2), out=weights)
        np.matmul(weights, value, out=by_query)
        np.matmul(query, key.swapaxes(1, 2), out=weights)
        np.matmul(upstream, value.swapaxes(1, 2), out=ds)
        np.matmul(across, upstream, out=by_key)
        np.matmul(ds, key, out=by_query)
        np.matmul(down, query, out=by_key)
