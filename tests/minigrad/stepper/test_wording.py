"""What a log says in words: each event in a sentence, each note and verdict in a remark, in English
and in Chinese, in one line each whatever the names are."""

import string
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import (
    BackwardSteps,
    GradcheckError,
    Tensor,
    primitive,
    step_backward,
    trace,
)
from minigrad.stepper import Event, Note, Snapshot
from minigrad.stepper.events import KINDS, snapshot
from minigrad.stepper.wording import TEXTS, brief, remarks, sentence, texts_of
from tests.helpers import assert_close, leaf, next_line
from tests.minigrad.stepper import recorded, upstream_of

LANGUAGES = ["en", "zh"]


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_texts_with_the_same_gaps() -> None:
    english, chinese = (TEXTS[language] for language in LANGUAGES)
    assert list(english) == list(chinese)
    for key in english:
        assert placeholders(english[key]) == placeholders(chinese[key]), key
        assert english[key] == "norm {0}" or key == "and" or english[key] != chinese[key]
    assert set(KINDS) <= set(english)


@pytest.mark.parametrize("language", ["de", "", "EN", None])
def test_another_language_is_refused(language: Any) -> None:
    with pytest.raises(ValueError, match="language is one of en, zh; it is"):
        texts_of(language)
    with pytest.raises(ValueError, match="language is one of en, zh"):
        step_backward(leaf(2.0) * 3.0).transcript(language)


# ---------------------------------------------------------------------------------------- sentences


@pytest.fixture(scope="module")
def steps() -> BackwardSteps:
    x, b = leaf([[1.0, 2.0, 2.0]], name="x"), leaf(3.0, name="b")
    y = minigrad.relu(x * b) + 2.0 * x
    y.name = "y"
    return step_backward(y, np.array([[2.0, 3.0, 6.0]]))


SENTENCES = {
    "seed": ("y gets the gradient to start from: norm 7", "y 得到起始梯度：范数 7"),
    "enter": (
        "∂L/∂y is complete, norm 7; on through add: y = t2 + t3",
        "∂L/∂y 已算全，范数 7；穿过 add：y = t2 + t3",
    ),
    "rule": ("∂L/∂t2 = G: norm 7", "∂L/∂t2 = G：范数 7"),
    "unbroadcast": (
        "b was broadcast: sum over axes 0, 1 brings (1, 3) to (): 20",
        "b 曾被广播：沿轴 0, 1 求和，(1, 3) 变回 ()：20",
    ),
    "accumulate": ("∂L/∂t2: the only contribution, norm 7", "∂L/∂t2：唯一的贡献，范数 7"),
    "done": (
        "∂L/∂b is complete, 20: b is a leaf, nothing lies behind it",
        "∂L/∂b 已算全，20：b 是叶子，到此为止",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_event_is_a_sentence(steps: BackwardSteps, kind: str) -> None:
    event = next(event for event in steps if event.kind == kind)
    assert (sentence(event), sentence(event, "zh")) == SENTENCES[kind]


def test_parts_of_a_sum_are_counted(steps: BackwardSteps) -> None:
    parts = [e for e in steps if e.kind == "accumulate" and e.receiver.name == "x"]
    assert [sentence(event) for event in parts] == [
        "∂L/∂x: first of 2 contributions, norm 14",
        "∂L/∂x: contribution 2 of 2, norm 21, is added: from norm 14 to norm 35",
    ]
    assert [sentence(event, "zh") for event in parts] == [
        "∂L/∂x：2 份贡献中的第 1 份，范数 14",
        "∂L/∂x：加上第 2 份贡献（共 2 份，范数 21），由 范数 14 变为 范数 35",
    ]


def test_one_axis_is_called_an_axis() -> None:
    y = leaf([[1.0, 2.0]]) * leaf([3.0, 4.0]) + np.ones((5, 1))
    told = [sentence(e) for e in step_backward(y, np.ones((5, 2))) if e.kind == "unbroadcast"]
    assert "sum over axis 0 brings (5, 2) to (1, 2)" in told[0]
    told = [sentence(e, "zh") for e in step_backward(y, np.ones((5, 2))) if e.axes]
    assert "沿轴 0 求和" in told[0]


def test_of_one_number_the_number_is_told_and_of_more_the_norm() -> None:
    for array, said in [
        *((np.array(-0.5), "−0.5"), (np.array([[3.0]]), "3"), (np.array([3.0, 4.0]), "norm 5")),
        *((np.array(np.nan), "NaN"), (np.array([-np.inf]), "−∞"), (np.zeros((0, 3)), "norm 0")),
        *((np.array([1.0, np.inf]), "norm ∞"), (np.array([np.inf, np.nan]), "norm NaN")),
        *((np.array(True), "1"), (np.array([3, 4]), "norm 5"), (np.array(3.0, ">f4"), "3")),
    ]:
        assert brief(snapshot(array), TEXTS["en"]) == said
    assert brief(snapshot(np.array(3.0), entries=False), TEXTS["en"]) == "3"
    assert brief(snapshot(np.array([-3.0]), entries=False), TEXTS["en"]) == "−3"


def test_a_tensor_that_is_called_by_its_expression_is_not_told_twice() -> None:
    K = leaf([[1.0, 2.0]], name="K")
    (told,) = [sentence(e) for e in step_backward(K.mT, np.ones((2, 1))) if e.kind == "enter"]
    assert told == "∂L/∂Kᵀ is complete, norm 1.41; on through matrix_transpose: Kᵀ"


HOSTILE = ["a\nb", "\x1b[2J", "{0}{node}", "%s", "\u2028", "<b>", "a\r", "\x85", "\\", ""]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_is_text_and_stays_in_its_line(name: str, language: str) -> None:
    def forward(x: Any) -> Any:
        return x * 1.0

    forward.__name__ = name or "op"
    op = primitive(lambda g: g)(forward)
    with trace():
        y = op(leaf([1.0, 2.0], name=name)) * leaf(2.0, name=name)
    for event in (steps := step_backward(y, [1.0, 5.0])):
        assert sentence(event, language).isprintable()
    assert len(steps.transcript(language).splitlines()) == 1 + len(steps)


# ----------------------------------------------------------------------------------------- remarks


def event_with(*notes: Note, op: Any = minigrad.exp) -> Event:
    steps = step_backward(op(leaf([1.0, 2.0, 4.0], name="x")), [1.0, 5.0, 2.0])
    rule = steps[2]
    more = {name: getattr(rule, name) for name in ("position", "upstream", "contribution")}
    return Event(2, "rule", rule.node, rule.target, **more, notes=notes)


NOTES = {
    Note("saturated", (3, 4)): ("3 of 4 rows are saturated", "4 行中有 3 行饱和"),
    Note("dead", (3, 4)): ("3 of 4 units are dead", "4 个单元中有 3 个已死"),
    Note("zeros", (3, 4)): ("3 of 4 entries are exactly 0", "4 个元素中有 3 个恰为 0"),
    Note("shrunk", (12.34,)): ("the norm shrinks to 1/12.3", "范数缩小到 1/12.3"),
    Note("grown", (1e9,)): ("the norm grows 1e9 times", "范数增大到 1e9 倍"),
    Note("nan"): ("the first NaN on the way back", "反向传播中的第一个 NaN"),
    Note("inf"): ("the first infinity on the way back", "反向传播中的第一个无穷大"),
    Note("-inf"): ("the first −infinity on the way back", "反向传播中的第一个负无穷大"),
    Note("made nan"): ("exp made the first NaN of the forward", "前向计算的第一个 NaN 出自 exp"),
    Note("made inf"): ("exp made the first infinity", "前向计算的第一个无穷大出自 exp"),
    Note("made -inf"): ("exp made the first −infinity", "前向计算的第一个负无穷大出自 exp"),
    Note("sums to 0", (1e-17,)): (
        "each row sums to 0, as it must: at most 1e−17",
        "每行之和应为 0：最大",
    ),
    Note("does not sum to 0", (0.5,)): (
        "a row must sum to 0, and one sums to 0.5",
        "却有一行为 0.5",
    ),
    Note("does not sum to 0", (np.nan,)): (
        "a row must sum to 0, and one sums to NaN",
        "却有一行为 NaN",
    ),
    Note("hook"): ("a hook replaced the gradient", "钩子替换了这个梯度"),
    Note("changed"): ("a rule changed this gradient in place", "就地改动了它"),
    Note("spoiled"): ("the rule changed its upstream gradient", "就地改动了它的上游梯度"),
}


@pytest.mark.parametrize("note", NOTES, ids=str)
def test_every_kind_of_note_is_a_remark(note: Note) -> None:
    event = event_with(note)
    for language, expected in zip(LANGUAGES, NOTES[note], strict=True):
        (remark,) = remarks(event, language)
        assert expected in remark
        assert "{" not in remark


def test_every_text_is_said_somewhere_in_these_tests() -> None:
    said = {note.kind for note in NOTES} | set(KINDS)
    said |= {"accumulate first", "accumulate only"}
    said |= {"axis", "axes", "norm", "unwritten", "title"}
    said |= {
        "checked",
        "wrong",
        "empty",
        "none judged",
        "error",
        "noisy",
        "kinks",
        "unchecked",
        "and",
    }
    assert said == set(TEXTS["en"])


def checked(function: Any, x: Any, gradient: Any) -> tuple[str, str]:
    """The remarks on the one verdict there is."""
    out, _ = recorded(function, np.asarray(x))
    (event,) = [e for e in step_backward(out, gradient, check=True) if e.verdict is not None]
    return remarks(event)[-1], remarks(event, "zh")[-1]


def test_a_verdict_is_a_remark() -> None:
    english, chinese = checked(minigrad.exp, [1.0, 2.0], [1.0, 5.0])
    assert english.startswith("differences agree in 2 of 2 entries, step 1e−5, relative error ")
    assert chinese.startswith("差分检验：2 个元素中的 2 个相符，步长 1e−5，相对误差 ")


def test_the_verdict_on_a_wrong_rule_says_how_many_entries_are_wrong() -> None:
    cube = primitive(lambda g, x: 3 * g * x)(lambda x: x**3)
    out, _ = recorded(cube, np.array([1.0, 2.0, 4.0]))
    with pytest.raises(GradcheckError) as stopped:
        step_backward(out, np.array([2.0, 5.0, 3.0]), check=True)
    remark = remarks(stopped.value.steps[-1])[-1]
    assert remark.startswith("differences contradict 2 of 3 entries, step 1e−5, relative error 0.7")
    assert "3 个元素中的 2 个不符" in remarks(stopped.value.steps[-1], "zh")[-1]


def test_a_verdict_says_how_many_entries_it_could_not_judge_and_how_many_have_a_kink() -> None:
    english, chinese = checked(minigrad.relu, [0.0, 2.0, 0.0], [1.0, 5.0, 2.0])
    assert english.endswith("2 at a kink")
    assert chinese.endswith("2 个在折点上")
    english, chinese = checked(minigrad.softmax, [0.0, 36.0], [1.0, 5.0])
    assert "all 2 drown in rounding" in english
    assert "2 个都淹没在舍入误差里" in chinese
    english, chinese = checked(minigrad.softmax, [[0.0, 36.0], [0.0, 1.0]], [[1.0, 5.0]] * 2)
    assert "agree in 2 of 4 entries" in english
    assert english.endswith("2 more cannot be judged")
    assert chinese.endswith("另有 2 个无法判断")


def test_what_is_not_a_number_is_said_to_be_unchecked() -> None:
    english, chinese = checked(minigrad.exp, [1.0, np.nan], [1.0, 5.0])
    assert english == "not checked: not a finite number"
    assert chinese == "未检验：不是有限的数"


def test_where_there_are_no_entries_nothing_is_wrong() -> None:
    english, _ = checked(minigrad.exp, np.zeros((0, 3)), np.zeros((0, 3)))
    assert english == "nothing to check: no entries"


# -------------------------------------------------------------------------------------- transcripts


def test_a_transcript_has_a_title_and_a_line_for_each_event_and_each_remark() -> None:
    out, *_ = recorded(
        lambda x: minigrad.softmax(x * 100.0), np.random.default_rng(0).normal(size=(2, 3))
    )
    steps = step_backward(out, upstream_of(out), check=True)
    for language in LANGUAGES:
        lines = steps.transcript(language).splitlines()
        assert len(lines) == 1 + len(steps) + sum(len(remarks(e, language)) for e in steps)
        rest = iter(lines[1:])
        for event in steps:
            number, line = next(rest).split(maxsplit=1)
            assert int(number) == event.index
            assert line.startswith(sentence(event, language))
            for remark in remarks(event, language):
                assert next(rest).strip() == f"· {remark}"
    assert steps.transcript().splitlines()[0] == f"{len(steps)} events, backward from t3"
    assert steps.transcript("zh").splitlines()[0] == f"从 t3 开始的反向传播，共 {len(steps)} 个事件"


def test_a_transcript_names_file_and_line_where_an_op_is_entered_and_nowhere_else() -> None:
    x = leaf([1.0, 2.0], name="x")
    with trace():
        line = next_line()
        y = x * x
    lines = step_backward(y, [1.0, 5.0]).transcript().splitlines()
    assert lines[2].endswith(f"[test_wording.py:{line}]")
    assert sum("test_wording.py" in text for text in lines) == 1


def test_a_transcript_reads_the_same_from_a_summary_where_there_are_several_entries() -> None:
    out, *_ = recorded(
        lambda x: minigrad.softmax(x @ x.mT), np.random.default_rng(0).normal(size=(2, 3))
    )
    whole = step_backward(out, upstream_of(out), check=True)
    summary = step_backward(out, upstream_of(out), check=True, keep="summary")
    for language in LANGUAGES:
        assert whole.transcript(language) == summary.transcript(language)


def test_a_snapshot_reads_as_the_array_and_knows_its_norm() -> None:
    taken = snapshot(np.array([[3.0, -4.0, 0.0]], np.float32))
    assert (taken.shape, taken.dtype.str, np.asarray(taken).nbytes) == ((1, 3), "<f4", 12)
    assert (taken.norm, taken.summary.zeros) == (5.0, 1)
    assert isinstance(taken, Snapshot)
    np.testing.assert_array_equal(np.abs(np.asarray(taken)), [[3.0, 4.0, 0.0]])
    assert snapshot(np.zeros((0, 3))).norm == 0.0
    assert np.isnan(snapshot(np.array([1.0, np.nan, np.inf])).norm)
    assert snapshot(np.array([1.0, -np.inf])).norm == np.inf
    assert float(snapshot(np.array([[7.0]]))) == 7.0
    assert Tensor(np.asarray(taken)).shape == (1, 3)


def test_the_typical_row_is_the_median_of_the_norms_of_rows() -> None:
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [30.0, 40.0], [5.0, 12.0]])
    assert snapshot(rows[:3]).typical_row == 5.0
    assert snapshot(rows).typical_row == 9.0
    assert snapshot(rows.reshape(2, 2, 2)).typical_row == 9.0
    for array in (rows[0], np.array(-5.0), np.zeros((0, 3)), np.zeros((3, 0))):
        assert snapshot(array).typical_row == snapshot(array).norm
    assert snapshot(rows, entries=False).typical_row == 9.0
    assert np.isnan(snapshot(np.full((2, 2), np.nan)).typical_row)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_the_norm_of_a_row_neither_overflows_nor_vanishes(size: float) -> None:
    taken = snapshot(np.array([[3.0, 4.0]]) * size)
    assert_close(taken.norm, 5.0 * size)
    assert_close(taken.typical_row, 5.0 * size)
