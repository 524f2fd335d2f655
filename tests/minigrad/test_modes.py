"""Whether results are recorded, in which scope, and what `trace()` keeps besides: in blocks, as a
decorator, in threads and in async tasks. `detect_anomaly` is tested in `test_anomaly.py`."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attention
import minigrad
from minigrad import PRIMITIVES, Primitive, Tensor, enable_grad, modes, no_grad, scope, trace
from minigrad.check.registry import cases_of
from minigrad.graph import history
from tests.helpers import assert_close, assert_same, gradient_of, leaf, next_line, node_of, traced

Rng = np.random.Generator


def recording() -> bool:
    """Whether a result over a leaf is recorded just now."""
    return bool((leaf(1.0) * 2).requires_grad)


# --------------------------------------------------------------------------------------- no_grad


def test_nothing_is_recorded_inside_no_grad() -> None:
    x = leaf([1.0, 2.0])
    with no_grad():
        y = x * x
    assert not y.requires_grad
    assert y.is_leaf
    assert_same(y, [1.0, 4.0])
    with pytest.raises(RuntimeError, match="nothing behind this one requires a gradient"):
        y.backward(np.ones(2))


def test_a_leaf_made_inside_no_grad_still_asks_for_its_gradient() -> None:
    with no_grad():
        x = leaf(2.0)
    (x * x).backward()
    assert_same(gradient_of(x), 4.0)


@pytest.mark.parametrize("op", PRIMITIVES.values(), ids=PRIMITIVES)
def test_a_result_of_constants_is_a_constant(op: Primitive, rng: Rng) -> None:
    """Also if they have a name, and were used before."""
    for case in cases_of(op, rng):
        constants = [Tensor(x, name="constant") for x in case.arrays()]
        for _ in range(2):
            out = case(*constants)
            assert not out.requires_grad
            assert out.is_leaf


def test_what_was_computed_inside_is_a_constant_outside() -> None:
    x = leaf(3.0)
    with no_grad():
        frozen = x * x
    (x * frozen).backward()
    assert_same(gradient_of(x), 9.0)


def test_backward_works_inside_no_grad() -> None:
    x = leaf(3.0)
    y = x * x
    with no_grad():
        y.backward()
    assert_same(gradient_of(x), 6.0)


def test_no_grad_nests_and_enable_grad_switches_it_off_inside() -> None:
    assert recording()
    with no_grad():
        with no_grad():
            assert not recording()
        assert not recording()
        with enable_grad():
            assert recording()
            with no_grad():
                assert not recording()
            assert recording()
        assert not recording()
    assert recording()


def test_one_no_grad_can_be_entered_again_inside_itself() -> None:
    off = no_grad()
    with off:
        with off:
            assert not recording()
        assert not recording()
    assert recording()
    with off:
        assert not recording()


def test_recording_goes_on_after_an_exception() -> None:
    with pytest.raises(KeyError), no_grad():
        raise KeyError
    assert recording()


def test_no_grad_decorates_a_function() -> None:
    @no_grad()
    def evaluate(x: Tensor, *, factor: float = 2.0) -> tuple[bool, Tensor]:
        """What it does."""
        return recording(), x * factor

    was_recording, y = evaluate(leaf(3.0), factor=5.0)
    assert not was_recording
    assert not y.requires_grad
    assert_same(y, 15.0)
    assert recording()
    assert evaluate.__name__ == "evaluate"
    assert evaluate.__doc__ == "What it does."


def test_a_decorated_function_may_call_itself_and_may_raise() -> None:
    @no_grad()
    def countdown(n: int) -> int:
        assert not recording()
        if n == 0:
            raise KeyError
        return countdown(n - 1)

    with pytest.raises(KeyError):
        countdown(5)
    assert recording()


def test_what_runs_after_it_has_returned_cannot_be_decorated() -> None:
    """A decorator would switch the mode for the making of a generator, not for its running."""

    def generator() -> Any:
        yield 1

    async def coroutine() -> int:
        return 1

    async def stream() -> Any:
        yield 1

    for function in (generator, coroutine, stream):
        with pytest.raises(TypeError, match=rf"{function.__name__} .*with statement inside"):
            no_grad()(function)


# ----------------------------------------------------------------------------- threads and tasks


def test_no_grad_in_one_thread_is_not_seen_in_another() -> None:
    inside, observed = threading.Event(), threading.Event()
    seen: dict[str, bool] = {}

    def off() -> None:
        with no_grad():
            inside.set()
            observed.wait(10)
            seen["off"] = recording()
        seen["off afterwards"] = recording()

    thread = threading.Thread(target=off)
    thread.start()
    assert inside.wait(10)
    seen["on"] = recording()
    with no_grad():
        observed.set()
        thread.join(10)
        seen["on, inside its own no_grad"] = recording()
    assert seen == {
        "on": True,
        "off": False,
        "off afterwards": True,
        "on, inside its own no_grad": False,
    }


def test_a_new_thread_records_though_the_one_that_starts_it_does_not() -> None:
    seen: list[bool] = []
    with no_grad():
        thread = threading.Thread(target=lambda: seen.append(recording()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_a_decorated_function_may_run_in_several_threads_at_once() -> None:
    together = threading.Barrier(3)
    inside: list[bool] = []
    afterwards: list[bool] = []

    @no_grad()
    def evaluate() -> None:
        together.wait(10)
        inside.append(recording())
        together.wait(10)

    def work() -> None:
        evaluate()
        afterwards.append(recording())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inside == [False] * 3
    assert afterwards == [True] * 3


def test_one_no_grad_may_be_used_by_several_threads_at_once() -> None:
    """The second enters after the first and leaves after it: a common stack would mix them up."""
    off = no_grad()
    first_in, second_in = threading.Event(), threading.Event()
    seen: list[tuple[str, bool]] = []

    def first() -> None:
        with off:
            first_in.set()
            second_in.wait(10)
        seen.append(("first, afterwards", recording()))

    def second() -> None:
        first_in.wait(10)
        with off:
            second_in.set()
            threads[0].join(10)
            seen.append(("second, inside", recording()))
        seen.append(("second, afterwards", recording()))

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [
        ("first, afterwards", True),
        ("second, inside", False),
        ("second, afterwards", True),
    ]


def test_async_tasks_with_different_modes_do_not_disturb_each_other() -> None:
    """Each task is suspended inside its block while the other runs."""
    seen: dict[str, list[bool]] = {"on": [], "off": []}

    async def task(name: str, mode: AbstractContextManager[None]) -> None:
        with mode:
            for _ in range(4):
                seen[name].append(recording())
                await asyncio.sleep(0)
        seen[name].append(recording())

    async def both() -> None:
        await asyncio.gather(task("off", no_grad()), task("on", enable_grad()))

    asyncio.run(both())
    assert seen == {"on": [True] * 5, "off": [False] * 4 + [True]}


def test_an_async_task_takes_on_the_mode_it_was_started_in() -> None:
    async def inner() -> bool:
        return recording()

    async def outer() -> tuple[bool, bool]:
        with no_grad():
            started = asyncio.create_task(inner())
        return await started, recording()

    assert asyncio.run(outer()) == (False, True)


# ------------------------------------------------------------------------------------------ scope


def test_what_is_recorded_in_a_scope_belongs_to_it() -> None:
    x = leaf(1.0)
    with scope("block"):
        with scope("head 0"):
            inner = x * 2
        outer = x * 3
    after = x * 4

    @scope("function")
    def decorated() -> Any:
        return x * 5

    scopes = [node_of(t).scope for t in (inner, outer, after, decorated())]
    assert scopes == [("block", "head 0"), ("block",), (), ("function",)]


def test_a_scope_records_what_is_recorded_anyway_and_nothing_else() -> None:
    with scope("block"), no_grad():
        assert not recording()
    with no_grad(), scope("block"):
        assert not recording()
    with scope("block"):
        assert recording()


# ------------------------------------------------------------------------------------------ trace


def test_trace_keeps_the_inputs_and_the_output_of_each_op(rng: Rng) -> None:
    a, b = leaf(rng.normal(size=(2, 3))), Tensor(rng.normal(size=(3, 4)))
    constant = rng.normal(size=4)
    with trace():
        h = a @ b
        y = h + constant
        z = y * 2.0
    product, added, doubled = traced(h), traced(y), traced(z)
    assert_same(product[0], a)
    assert_same(product[1], b)
    assert_same(product[2], h)
    assert_same(added[0], h)
    assert_same(added[1], constant)
    assert_same(added[2], y)
    assert doubled[1] == 2.0
    assert_same(doubled[2], z)


def test_trace_keeps_the_users_line() -> None:
    x = leaf(2.0)
    with trace():
        here = next_line()
        y = x * x
        z = minigrad.exp(y)
    assert node_of(y).line == (__file__, here)
    assert node_of(z).line == (__file__, here + 1)


def test_the_users_line_is_not_one_inside_the_packages() -> None:
    """What attention does on behalf of the caller belongs to the caller's line."""
    x = leaf(np.eye(3, 2))
    with trace():
        here = next_line()
        output, _ = attention.scaled_dot_product_attention(x, x, x)
    made = [node for node in history([node_of(output)]) if node.primitive is not None]
    assert len(made) > 3
    assert {node.line for node in made} == {(__file__, here)}


def test_a_lesson_that_travels_inside_the_package_is_the_users_code() -> None:
    """The wheel carries the examples in `minigrad/_examples`."""
    lesson = Path(minigrad.__file__).parent / "_examples" / "01_first_backward.py"
    found: dict[str, Any] = {"x": leaf(2.0), "trace": trace}
    exec(compile("with trace():\n    y = x * x\n", str(lesson), "exec"), found)
    assert node_of(found["y"]).line == (str(lesson), 2)


def test_trace_keeps_the_gradients_of_intermediates(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    with trace():
        h = x * 2
        y = h * 3
    y.backward(upstream)
    assert_close(gradient_of(y), upstream)
    assert_close(gradient_of(h), 3 * upstream)
    assert_close(gradient_of(x), 6 * upstream)


def test_traced_intermediates_do_not_carry_over_either(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=3)), rng.normal(size=3)
    with trace():
        h = x * 2
        y = h * 3
    y.backward(upstream, retain_graph=True)
    y.backward(upstream)
    assert_close(gradient_of(h), 3 * upstream)
    assert_close(gradient_of(x), 12 * upstream)


def test_what_trace_keeps_outlives_backward(rng: Rng) -> None:
    """So a graph can be drawn with values after the gradients are there."""
    x = leaf(rng.normal(size=3))
    with trace():
        y = minigrad.exp(x)
    y.backward(rng.normal(size=3))
    given, result = traced(y)
    assert_same(given, x)
    assert_same(result, y)
    with pytest.raises(RuntimeError, match="let go"):
        y.backward(rng.normal(size=3))


def test_a_traced_gradient_is_the_untraced_one(rng: Rng) -> None:
    data, upstream = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))

    def compute(x: Tensor) -> Any:
        return minigrad.softmax(x * 2.0, axis=0) * minigrad.tanh(x)

    plain, traced = leaf(data), leaf(data)
    compute(plain).backward(upstream)
    with trace():
        compute(traced).backward(upstream)
    assert_same(gradient_of(traced), gradient_of(plain))


def test_outside_of_trace_neither_values_nor_lines_are_kept() -> None:
    x = leaf(2.0)
    with trace():
        pass
    y = x * x
    assert node_of(y).trace is None
    assert node_of(y).line is None


def test_trace_does_not_record_what_is_not_recorded() -> None:
    x = leaf(2.0)
    with no_grad(), trace():
        y = x * x
    assert not y.requires_grad
    with trace(), no_grad():
        z = x * x
    assert not z.requires_grad


def test_trace_decorates_a_function() -> None:
    @trace()
    def compute(x: Tensor) -> Any:
        return x * x

    y = compute(leaf(3.0))
    assert_same(traced(y)[2], 9.0)


# --------------------------------------------------------------------------------------- watchers


def test_a_watcher_is_told_of_every_op_and_every_contribution() -> None:
    class Log(modes.Watcher):
        def __init__(self) -> None:
            self.made: list[str] = []
            self.passed_back: list[tuple[str, int, float]] = []

        def recorded(self, op: Any, inputs: Any, options: Any, result: Any) -> None:
            self.made.append(f"{op} {result.item()}")

        def passed(self, node: Any, position: int, upstream: Any, contribution: Any) -> None:
            self.passed_back.append((str(node.primitive), position, float(contribution)))

    log = Log()
    x, w = leaf(2.0), leaf(5.0)
    with modes.watch(log):
        y = x * w + 1.0
        y.backward()
    assert log.made == ["multiply 10.0", "add 11.0"]
    assert log.passed_back == [("add", 0, 1.0), ("multiply", 0, 5.0), ("multiply", 1, 2.0)]


def test_a_watcher_is_told_nothing_outside_of_its_block() -> None:
    made: list[Any] = []

    class Log(modes.Watcher):
        def recorded(self, *what: Any) -> None:
            made.append(what)

    with modes.watch(Log()):
        pass
    leaf(2.0) * 3
    assert made == []


@pytest.mark.parametrize("switch", [no_grad, enable_grad, trace, lambda: scope("s")])
def test_every_switch_restores_what_was(switch: Callable[[], Any]) -> None:
    before = modes.current.get()
    with switch():
        assert modes.current.get() is not before
    assert modes.current.get() is before


# --------------------------------------------------- a backward announces itself to its watchers


class Diary(modes.Watcher):
    """Notes what it is told of each backward; `note` says how a root is called."""

    def __init__(self, name: str = "", entries: list[str] | None = None) -> None:
        self.name = name
        self.entries = [] if entries is None else entries

    def began(self, root: Any, gradient: Any) -> None:
        self.entries.append(f"{self.name}began {root.name}")

    def finished(self, root: Any) -> None:
        self.entries.append(f"{self.name}finished {root.name}")


def named_loss(name: str, x: Tensor) -> Any:
    loss = (x * x).sum()
    loss.name = name
    return loss


def test_a_watcher_is_told_of_a_backward_before_and_after_all_that_it_does(rng: Rng) -> None:
    seen: list[Any] = []

    class Look(modes.Watcher):
        def began(self, root: Any, gradient: Any) -> None:
            kept = [node_of(t).kept is not None for t in (h, y)]
            seen.append(("began", root is y, [x.grad, h.grad, y.grad], kept))

        def passed(self, node: Any, position: int, upstream: Any, contribution: Any) -> None:
            seen.append(("passed", str(node.primitive), x.grad))

        def finished(self, root: Any) -> None:
            kept = [node_of(t).kept is not None for t in (h, y)]
            grads = [t.grad is not None for t in (x, h, y)]
            seen.append(("finished", root is y, grads, kept))

    x = leaf(rng.normal(size=3))
    with minigrad.trace(), modes.watch(Look()):
        h = minigrad.exp(x)
        y = h * h
        y.backward(rng.normal(size=3))
    assert seen == [
        ("began", True, [None, None, None], [True, True]),
        ("passed", "multiply", None),
        ("passed", "multiply", None),
        ("passed", "exp", None),
        ("finished", True, [True, True, True], [False, False]),
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_backward_starts_from_is_told_too(rng: Rng, dtype: type) -> None:
    starts: list[Any] = []

    class Note(modes.Watcher):
        def began(self, root: Any, gradient: Any) -> None:
            starts.append(gradient)

    x = leaf(rng.normal(size=(2, 3)).astype(dtype))
    upstream = rng.normal(size=(2, 3))
    with modes.watch(Note()):
        (x * 2).backward(upstream)
        (x * 2).backward(Tensor(upstream))
        (x * 2).sum().backward()
        x.backward(np.ones((2, 3), int))
    assert [g.dtype for g in starts] == [dtype] * 4
    assert_same(starts[0], upstream.astype(dtype))
    assert_same(starts[1], upstream.astype(dtype))
    assert_same(starts[2], np.ones((), dtype))
    assert_same(starts[3], np.ones((2, 3), dtype))


def test_each_backward_is_told_of_once_whatever_its_root() -> None:
    diary = Diary()
    x = leaf([1.0, 2.0], name="x")
    loss = named_loss("loss", x)
    with modes.watch(diary):
        loss.backward(retain_graph=True)
        with no_grad():
            loss.backward()
        x.backward(np.ones(2))
    assert diary.entries == [
        f"{event} {name}" for name in ("loss", "loss", "x") for event in ("began", "finished")
    ]


def test_a_backward_outside_of_the_block_is_not_told_of() -> None:
    diary = Diary()
    with modes.watch(diary):
        loss = named_loss("loss", leaf([1.0, 2.0]))
    loss.backward()
    assert diary.entries == []


def test_grad_does_not_announce_itself() -> None:
    diary = Diary()
    x = leaf([1.0, 2.0])
    with modes.watch(diary):
        minigrad.grad(named_loss("loss", x), x)
        (slope,) = minigrad.grad(named_loss("loss", x), x, create_graph=True)
        minigrad.grad(slope.sum(), x)
    assert diary.entries == []


def test_a_backward_that_cannot_start_is_not_announced() -> None:
    diary = Diary()
    x = leaf([1.0, 2.0])
    with modes.watch(diary):
        with pytest.raises(RuntimeError, match="needs a gradient to start from"):
            (x * x).backward()
        with pytest.raises(ValueError, match="gradient has shape"):
            (x * x).backward(np.ones(3))
        with pytest.raises(RuntimeError, match="needs a recorded tensor"):
            Tensor(1.0).backward()
    assert diary.entries == []


def test_a_backward_that_fails_on_its_way_has_begun_and_never_finishes() -> None:
    diary = Diary()
    x = leaf([1.0, 2.0])
    first, second = named_loss("first", x), named_loss("second", x)
    first.backward()
    with modes.watch(diary):
        with pytest.raises(RuntimeError, match="let go"):
            first.backward()
        second.backward()
    assert diary.entries == ["began first", "began second", "finished second"]


def test_a_watcher_that_refuses_a_backward_leaves_everything_as_it_was() -> None:
    class Refuse(modes.Watcher):
        def began(self, root: Any, gradient: Any) -> None:
            raise KeyError("not now")

    x = leaf([1.0, 2.0])
    before = modes.current.get()
    with trace():
        h = x * 3
        y = (h * h).sum()
    with pytest.raises(KeyError, match="not now"), modes.watch(Refuse()):
        y.backward()
    assert modes.current.get() is before
    assert (x.grad, h.grad, y.grad) == (None, None, None)
    y.backward()
    assert_same(gradient_of(x), [18.0, 36.0])


def test_a_watcher_that_raises_at_the_end_leaves_the_gradients_that_there_are() -> None:
    class Complain(modes.Watcher):
        def finished(self, root: Any) -> None:
            raise KeyError("too late")

    x = leaf([1.0, 2.0])
    with pytest.raises(KeyError, match="too late"), modes.watch(Complain()):
        named_loss("loss", x).backward()
    assert_same(gradient_of(x), [2.0, 4.0])


def test_what_a_watcher_raises_on_the_way_delivers_no_gradient_to_any_leaf() -> None:
    class Stop(modes.Watcher):
        def passed(self, node: Any, *more: Any) -> None:
            if str(node.primitive) == "multiply":
                raise KeyError("enough")

    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with pytest.raises(KeyError, match="enough"), modes.watch(Stop()):
        (x * x + w).sum().backward()
    assert (x.grad, w.grad) == (None, None)


def test_several_watchers_are_told_in_the_order_they_began_to_watch() -> None:
    entries: list[str] = []
    with modes.watch(Diary("outer ", entries)), modes.watch(Diary("inner ", entries)):
        named_loss("loss", leaf(2.0)).backward()
    assert entries == [
        "outer began loss",
        "inner began loss",
        "outer finished loss",
        "inner finished loss",
    ]


def test_one_watcher_that_watches_twice_is_told_twice() -> None:
    diary = Diary()
    with modes.watch(diary), modes.watch(diary):
        named_loss("loss", leaf(2.0)).backward()
    assert diary.entries == ["began loss"] * 2 + ["finished loss"] * 2


def test_a_backward_inside_a_hook_begins_and_finishes_inside_the_outer_one() -> None:
    diary = Diary()
    x, z = leaf([1.0, 2.0]), leaf(3.0)
    with modes.watch(diary):
        outer = named_loss("outer", x)
        outer.register_hook(lambda gradient: named_loss("inner", z).backward())
        outer.backward()
    assert diary.entries == ["began outer", "began inner", "finished inner", "finished outer"]
    assert_same(gradient_of(z), 6.0)
    assert_same(gradient_of(x), [2.0, 4.0])


def test_a_watcher_may_itself_compute_and_go_backward(rng: Rng) -> None:
    """What a debugger does while the script stands still."""

    class Curious(modes.Watcher):
        def __init__(self) -> None:
            self.depth = 0
            self.found: list[float] = []

        def finished(self, root: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                probe = leaf(5.0)
                (probe * probe).backward()
                self.found.append(float(gradient_of(probe)))

    curious = Curious()
    x = leaf(rng.normal(size=3))
    with modes.watch(curious):
        y = x * x
        y.backward(np.ones(3))
    assert curious.found == [10.0]
    assert curious.depth == 2
    assert_close(gradient_of(x), 2 * x.data)


def test_who_begins_to_watch_during_a_backward_is_told_of_the_next() -> None:
    late = Diary()
    x = leaf(2.0)

    class Invite(modes.Watcher):
        def began(self, root: Any, gradient: Any) -> None:
            modes.watch(late).__enter__()

    with modes.watch(Invite()):
        first, second = named_loss("first", x), named_loss("second", x)
        first.backward()
        second.backward()
        modes.watch(late).__exit__()
        modes.watch(late).__exit__()
    assert late.entries == ["began second", "finished second"]


def test_a_new_thread_is_not_watched_unless_it_runs_in_the_context() -> None:
    diary = Diary()

    def work(name: str) -> None:
        named_loss(name, leaf(2.0)).backward()

    with modes.watch(diary):
        context = contextvars.copy_context()
        threads = [
            threading.Thread(target=work, args=("plain",)),
            threading.Thread(target=context.run, args=(work, "in the context")),
        ]
        for thread in threads:
            thread.start()
            thread.join()
    assert diary.entries == ["began in the context", "finished in the context"]


def test_an_async_task_is_watched_as_the_one_that_started_it() -> None:
    diary = Diary()

    async def work() -> None:
        named_loss("loss", leaf(2.0)).backward()

    async def main() -> None:
        await asyncio.gather(work(), work())

    with modes.watch(diary):
        asyncio.run(main())
    assert diary.entries == ["began loss", "finished loss"] * 2


# ------------------------------------------------------------------- a tracer that can be stopped


def test_a_tracer_can_be_taught_when_to_keep_what() -> None:
    class UntilTheFirstBackward(modes.Tracer):
        done = False

        def recorded(self, op: Any, inputs: Any, options: dict[str, Any], result: Any) -> None:
            if not self.done:
                super().recorded(op, inputs, options, result)

        def finished(self, root: Any) -> None:
            self.done = True

    x = leaf([1.0, 2.0])
    with modes.watch(UntilTheFirstBackward()):
        y = x * x
        y.sum().backward()
        z = x * x
    assert_same(traced(y)[2], [1.0, 4.0])
    assert_same(gradient_of(y), [1.0, 1.0])
    assert (node_of(z).trace, node_of(z).line, node_of(z).retain) == (None, None, False)


def test_two_tracers_at_once_keep_what_one_keeps(rng: Rng) -> None:
    x, upstream = leaf(rng.normal(size=(2, 3))), rng.normal(size=(2, 3))
    with trace(), trace():
        here = next_line()
        y = minigrad.exp(x)
    y.backward(upstream)
    assert node_of(y).line == (__file__, here)
    assert_same(traced(y)[0], x)
    assert_close(gradient_of(x), upstream * np.exp(x.data))


def test_a_tracer_passes_over_what_is_not_recorded() -> None:
    with trace():
        constant = Tensor(2.0) * 3
    assert constant.is_leaf
    assert_same(constant, 6.0)
