"""The layout engines: which one is found, what is said when it fails, and what a PNG loses."""

import json
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import warnings
from pathlib import Path

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from minigrad import Tensor
from minigrad.notation import _NOTATIONS
from tests.helpers import leaf
from tests.viz.support import PROGRAMS, isolate, without_engines
from viz import DrawingError, draw_graph
from viz.drawing import Drawing
from viz.layout import find_engine, lay_out, text_width

ROOT = Path(__file__).parents[2]


def program(folder: Path, name: str, script: str) -> Path:
    """An executable file; `script` is for the shell."""
    path = folder / name
    path.write_text(script)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def drawing() -> Drawing:
    return draw_graph(leaf([1.0, 2.0], name="x") * 2)


# --------------------------------------------------------------------------- which engine is found


def test_dot_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in PROGRAMS:
        program(tmp_path, name, "#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_engine() == ("dot", str(tmp_path / "dot"))
    (tmp_path / "dot").unlink()
    assert find_engine() == ("graphviz-pure", str(tmp_path / "graphviz-pure"))


def test_what_pip_installed_is_found_where_its_folder_is_not_on_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "scripts").mkdir()
    without_engines(monkeypatch, tmp_path / "scripts")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = program(tmp_path / "scripts", "graphviz-pure", "#!/bin/sh\n")
    assert find_engine() == ("graphviz-pure", str(found))


def test_the_real_graphviz_pure_is_found_without_any_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if shutil.which("graphviz-pure", path=sysconfig.get_path("scripts")) is None:
        pytest.skip("graphviz-pure is not installed")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert drawing().pipe(format="svg").startswith(b"<?xml")


def test_without_any_engine_there_is_one_message_with_every_way_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_engines(monkeypatch, tmp_path)
    made = drawing()
    for attempt in (
        lambda: made.pipe(format="svg"),
        lambda: made.pipe(format="png"),
        lambda: made.render(filename=tmp_path / "g", format="svg"),
        lambda: made.write(tmp_path / "g.svg"),
        lambda: lay_out(made.source, "svg"),
    ):
        with pytest.raises(DrawingError) as caught:
            attempt()
        said = str(caught.value)
        for way in ("pip install graphviz-pure", "install Graphviz", "mermaid()", "outline()"):
            assert way in said
        assert len(said) < 250
    assert not (tmp_path / "g.svg").exists()


def test_without_any_engine_source_and_texts_are_still_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_engines(monkeypatch, tmp_path)
    made = drawing()
    assert made.source.startswith("digraph")
    assert Path(made.save(tmp_path / "g.gv")).read_text("utf-8") == made.source
    assert made.write(tmp_path / "g.md").read_text("utf-8").startswith("```mermaid\nflowchart LR")
    assert "t1 = 2 · x" in made.write(tmp_path / "g.txt").read_text("utf-8")


def test_without_any_engine_a_notebook_shows_mermaid(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As in JupyterLite, where no program can be run."""
    without_engines(monkeypatch, tmp_path)
    bundle = drawing()._repr_mimebundle_()
    assert any("flowchart LR" in text for text in bundle.values())


# -------------------------------------------------------------------------------- what goes wrong


def test_source_that_is_no_dot_is_an_error_with_the_engine_s_own_words(engine: str) -> None:
    with pytest.raises(DrawingError, match=rf"{engine} ended with status 1: .*syntax error"):
        lay_out('digraph { a [label="', "svg")


def test_a_format_that_there_is_not_is_an_error_with_those_that_there_are(engine: str) -> None:
    for format in ("foo", "xyz", "-o/tmp/x"):
        with pytest.raises(DrawingError) as caught:
            lay_out("digraph { a }", format)
        said = str(caught.value)
        assert f"{engine} does not write {format!r}; choose svg, png, dot, json" in said
        assert ("pdf" in said, "install Graphviz" in said) == (True, engine != "dot")


@pytest.mark.skipif(os.name == "nt", reason="it writes scripts for the shell")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("not a program", "could not be started: .*Install it again"),
        ("#!/nowhere/at/all\n", "could not be started: .*Install it again"),
        ("#!/bin/sh\nexit 0\n", "dot ended with status 0"),
        ("#!/bin/sh\necho it is broken >&2; exit 7\n", "dot ended with status 7: it is broken"),
        ("#!/bin/sh\nkill -9 $$\n", "dot ended with status -9"),
        ("#!/bin/sh\nprintf '\\377' >&2; exit 1\n", "dot ended with status 1: �"),
    ],
)
def test_a_program_that_is_broken_is_said_to_be_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, said: str
) -> None:
    program(tmp_path, "dot", script)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DrawingError, match=said):
        lay_out("digraph { a }", "svg")


@pytest.mark.skipif(os.name == "nt", reason="it writes scripts for the shell")
def test_a_picture_that_was_cut_off_is_not_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program(tmp_path, "dot", "#!/bin/sh\nprintf '<?xml'; exit 1\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "g.svg").write_text("mine")
    with pytest.raises(DrawingError, match="status 1"):
        drawing().write(tmp_path / "g.svg")
    assert (tmp_path / "g.svg").read_text() == "mine"


def test_dot_is_read_as_utf_8_whatever_the_locale(engine: str) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    code = r"""
import sys
from viz.layout import lay_out
sys.stdout.buffer.write(lay_out('digraph { a [label="\u6743\u91cd \u03bb"] }', "svg"))
"""
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    assert "权重 λ" in ran.stdout.decode("utf-8")


def test_any_algorithm_of_the_engine_can_be_asked_for(engine: str) -> None:
    source = "digraph { a -> b -> c -> a }"
    pictures = {lay_out(source, "svg", name) for name in ("dot", "neato", "circo")}
    assert len(pictures) == 3


# ------------------------------------------------------------------------ widths, and lost glyphs


def test_a_chinese_character_is_1_em_wide_and_an_accent_nothing() -> None:
    assert text_width("权重", 9.0) == 18.0
    assert text_width("猫" * 30, 11.0) == 330.0
    assert text_width("e\u0301", 10.0) == text_width("e", 10.0)
    assert text_width("", 10.0) == 0.0
    assert text_width("abc", 20.0) == 2 * text_width("abc", 10.0)


def test_the_estimate_is_never_less_than_a_common_font_needs() -> None:
    texts = ["weights = exp(scaled) / (Σ exp(scaled))", "W_Q", "G ⊙ (1 − t1 ⊙ t1)", "(128, 64)"]
    texts += ["1.23e−5", "MMMMWWWW", "mmwwmm", "fjordilt", "λ μ ∂L θ", "−0.0123", "√(x)^2"]
    font = FontProperties(family=["DejaVu Sans"])  # wider than Helvetica and Arial
    for text in texts:
        width = TextPath((0, 0), text, size=10.0, prop=font).get_extents().width
        assert text_width(f"{text} ", 10.0) >= 0.9 * width


def test_a_tensor_s_box_is_wide_enough_for_its_chinese_name(engine: str) -> None:
    name = "自注意力机制中的查询键值矩阵"
    made = draw_graph(Tensor([1.0, 2.0], name=name))
    (box,) = json.loads(made.pipe(format="json"))["objects"]
    assert 72 * float(box["width"]) > len(name) * 11 + text_width("(2,)", 9)


def single(character: str) -> str:
    return (
        "digraph { a [shape=plaintext fixedsize=true width=1 height=1 fontname=Helvetica "
        f'label="{character}"] }}'
    )


SIGNS = "".join(sorted({c for n in _NOTATIONS.values() for c in n.sign.strip()}))
CHARACTERS = SIGNS + "ᵀ√|·×…∞�aZ09_λΣ∂Ж猫吃鱼权あ가ﷺ🐱⊤‖↵"


def test_what_a_png_loses_is_warned_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    isolate("graphviz-pure", monkeypatch, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        empty_square = lay_out(single("猫"), "png")
    for character in dict.fromkeys(CHARACTERS):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            png = lay_out(single(character), "png")
        assert (character, png == empty_square) == (character, bool(caught))
        for warning in caught:
            said = str(warning.message)
            assert character in said
            assert "Write an SVG instead" in said


def test_a_svg_loses_nothing_so_nothing_is_said(engine: str) -> None:
    svg = draw_graph(leaf([1.0, 2.0], name="猫 ⊙") * leaf(2.0, name="鱼")).pipe(format="svg")
    assert "猫 ⊙" in svg.decode()


@pytest.mark.skipif(os.name == "nt", reason="it writes scripts for the shell")
@pytest.mark.parametrize("fonts", ["", "Noto Sans CJK SC"])
def test_with_dot_chinese_is_lost_where_there_is_no_chinese_font(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fonts: str
) -> None:
    program(tmp_path, "dot", "#!/bin/sh\nprintf PNG\n")
    program(tmp_path, "fc-list", f"#!/bin/sh\nprintf '{fonts}'\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert lay_out(single("猫 λ ⊙"), "png") == b"PNG"
    assert [("猫" in str(w.message), "λ" in str(w.message)) for w in caught] == (
        [] if fonts else [(True, False)]
    )


@pytest.mark.skipif(os.name == "nt", reason="it writes scripts for the shell")
def test_where_fonts_cannot_be_listed_nothing_is_claimed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program(tmp_path, "dot", "#!/bin/sh\nprintf PNG\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lay_out(single("猫"), "png") == b"PNG"
    program(tmp_path, "fc-list", "#!/bin/sh\nexit 1\n")
    assert lay_out(single("猫"), "png") == b"PNG"
    program(tmp_path, "fc-list", "#!/bin/sh\n")
    assert lay_out(single("cat"), "png") == b"PNG"


def test_the_warning_is_no_longer_than_a_line_or_two(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    isolate("graphviz-pure", monkeypatch, tmp_path)
    many = "".join(map(chr, range(0x4E00, 0x4E00 + 500)))
    with pytest.warns(UserWarning, match="empty squares") as caught:
        draw_graph(Tensor(np.ones(2), name=many)).pipe(format="png")
    assert len(str(caught[0].message)) < 200
