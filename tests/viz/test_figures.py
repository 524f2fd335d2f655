"""What all matplotlib pictures share: text, fonts, colours, where they are drawn and how saved."""

import io
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from viz import figures
from viz.colours import LIGHT
from viz.figures import (
    DIVERGING,
    FORMATS,
    INK,
    SEQUENTIAL,
    Picture,
    axes_for,
    decades,
    new_axes,
    new_picture,
    readable,
    rendered,
    save_figure,
    set_ticks,
    set_words,
    spaced,
    words_of,
)

ROOT = Path(__file__).parents[2]
SIGNATURES = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


# Drawing pixels and embedding fonts takes its time.
ALL_FORMATS = [pytest.param(f, marks=() if f == "svg" else pytest.mark.slow) for f in FORMATS]


def picture(title: str = "猫 $x^2$ & <b>") -> tuple[Picture, Axes]:
    """A small one with a title."""
    made = new_picture(2.0, 1.0)
    axes = new_axes(made)
    with axes_for(axes):
        set_words(axes, title=title)
    axes.set_axis_off()  # which is quicker
    return made, axes


def foreign() -> tuple[Figure, Axes]:
    """A figure that was not made here."""
    figure = Figure(figsize=(2.0, 1.0))
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def svg_texts(svg: bytes | str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return ["".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith("}text")]


# ------------------------------------------------------------------------------- text and fonts


def test_text_stays_text_in_svg_and_is_no_formula() -> None:
    assert "猫 $x^2$ & <b>" in svg_texts(rendered(picture()[0], "svg"))


def test_text_on_somebody_elses_axes_is_no_formula_either() -> None:
    figure, axes = foreign()
    with axes_for(axes):
        set_words(axes, title="猫 $x^2$", x="$a$", y="$b$")
        set_ticks(axes.xaxis, [0.5], ["$c$"])
        axes.text(0.5, 0.5, "$d$")
    # Saved as they please: their settings would make formulas of these.
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg")
    assert {"猫 $x^2$", "$a$", "$b$", "$c$", "$d$"} <= set(svg_texts(buffer.getvalue()))


def test_chinese_is_looked_for_in_the_fonts_that_are_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(figures, "CHINESE_FONTS", ("Not A Font", "DejaVu Serif"))
    _, axes = picture()
    assert axes.title.get_fontfamily() == ["DejaVu Sans", "DejaVu Serif", "sans-serif"]


@pytest.mark.parametrize("format", ["png", pytest.param("pdf", marks=pytest.mark.slow)])
def test_what_no_font_has_is_told_once(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "CHINESE_FONTS", ())
    made, axes = picture("猫 吃 鱼")
    axes.text(0.5, 0.5, "猫猫猫")
    expected = (
        f"no installed font has 猫 吃 鱼, so this {format.upper()} shows boxes.*Save it as SVG"
    )
    with pytest.warns(UserWarning, match=expected) as told:
        made.savefig(io.BytesIO(), format=format)
    assert len(told) == 1
    assert told[0].filename == __file__
    axes.text(0.5, 0.5, "狗")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.savefig(io.BytesIO(), format=format)


def test_another_picture_tells_it_again_and_counts_what_it_leaves_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(figures, "CHINESE_FONTS", ())
    for title, said in (("猫", "has 猫, so"), ("一二三四五六七八", "has 一 二 三 四 五 六 …, so")):
        with pytest.warns(UserWarning, match=said):
            rendered(picture(title)[0], "png")


def test_in_svg_no_font_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "CHINESE_FONTS", ())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "猫" in svg_texts(rendered(picture("猫")[0], "svg"))


def test_other_warnings_are_not_swallowed() -> None:
    class Warns(Artist):
        def draw(self, renderer: Any) -> None:
            warnings.warn("something else", stacklevel=2)

    made, axes = picture()
    axes.add_artist(Warns())
    with pytest.warns(UserWarning, match="something else"):
        rendered(made, "svg")


@pytest.mark.parametrize(
    ("word", "drawn"),
    [
        ("fish", "fish"),
        ("a\nb", "a�b"),
        ("\u202eevil", "�evil"),
        ("\ud800", "�"),
        ("", "␣"),
        ("  ", "␣"),
        (7, "7"),
        ("x" * 16, "x" * 16),
        ("x" * 17, "x" * 15 + "…"),
        ("猫" * 8, "猫" * 8),
        ("猫" * 9, "猫" * 7 + "…"),
    ],
)
def test_any_word_can_be_drawn(word: object, drawn: str) -> None:
    assert readable(word) == drawn


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="language is 'en' or 'zh', not 'fr'"):
        words_of({"en": {}, "zh": {}}, "fr")


# ------------------------------------------------------------------------------ colours and axes


def test_colours_are_orange_below_zero_and_blue_above() -> None:
    drawn = [matplotlib.colors.to_hex(colour) for colour in DIVERGING([0.0, 0.5, 1.0])]
    assert drawn == [LIGHT["negative"], LIGHT["zero"], LIGHT["positive"]]
    drawn = [matplotlib.colors.to_hex(colour) for colour in SEQUENTIAL([0.0, 1.0])]
    assert drawn == [LIGHT["zero"], LIGHT["positive"]]


@pytest.mark.parametrize("name", ["xaxis", "yaxis"])
@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.02, 3.0, ["10⁻²", "10⁻¹", "1", "10¹"]),
        (1.0, 1.0, ["1", "10¹"]),
        (3e-12, 5.0, ["10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "1"]),
        (1e-300, 1e10, ["10⁻³⁰⁰", "10⁻²⁵⁰", "10⁻²⁰⁰", "10⁻¹⁵⁰", "10⁻¹⁰⁰", "10⁻⁵⁰", "1"]),
    ],
)
def test_a_logarithmic_axis_holds_its_decades_and_names_them(
    name: str, low: float, high: float, labels: list[str]
) -> None:
    _, axes = picture()
    axis = getattr(axes, name)
    decades(axis, low, high)
    assert axis.get_scale() == "log"
    bottom, top = axis.get_view_interval()
    assert bottom < low
    assert top > high
    assert [label.get_text() for label in axis.get_ticklabels()] == labels
    assert axis.get_minorticklocs().size == 0


def test_labels_keep_their_distance_and_the_first_come_first() -> None:
    assert spaced([5.0, 4.0, 0.0, 2.5, 7.0], 2.0) == [0, 2, 3, 4]
    assert spaced([1.0, 1.0, 1.0], 0.0) == [0, 1, 2]
    assert spaced([], 1.0) == []


# --------------------------------------------------------------------------- where pictures are


@pytest.mark.slow
def test_pictures_are_drawn_without_pyplot() -> None:
    modules = "viz.figures, viz.cells, viz.pictures, viz.flow, viz.panels, viz.laboratory"
    code = f"import sys, {modules}; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_pictures_look_the_same_whatever_the_settings_of_the_session() -> None:
    plain = rendered(picture()[0], "svg")
    with matplotlib.style.context("dark_background"), matplotlib.rc_context({"font.size": 30.0}):
        assert rendered(picture()[0], "svg") == plain


def test_the_settings_of_the_session_are_left_alone() -> None:
    before = dict(matplotlib.rcParams)
    rendered(picture()[0], "png")
    assert dict(matplotlib.rcParams) == before


def test_a_picture_of_ones_own_is_made_where_no_axes_are_given() -> None:
    with axes_for(None, 3.0, 2.0) as axes:
        figure = axes.figure
        assert matplotlib.rcParams["text.color"] == INK
    assert isinstance(figure, Picture)
    assert isinstance(figure.canvas, FigureCanvasAgg)
    assert figure.get_size_inches().tolist() == [3.0, 2.0]


def test_somebody_elses_axes_keep_their_own_look() -> None:
    with matplotlib.style.context("dark_background"):
        _, theirs = foreign()
        with axes_for(theirs) as axes:
            set_words(axes, title="title", x="x")
            legend = axes.legend([Line2D([], [])], ["label"])
    assert axes is theirs
    for text in (axes.title, axes.xaxis.label, *legend.get_texts()):
        assert matplotlib.colors.to_hex(text.get_color()) == "#ffffff"


def test_axes_in_a_part_of_a_picture_are_drawn_in_its_style() -> None:
    parts: Any = new_picture(4.0, 2.0).subfigures(1, 2)
    with axes_for(parts[1].add_subplot()):
        assert matplotlib.rcParams["text.color"] == INK


def test_a_notebook_shows_a_picture_and_its_axes_as_svg_with_text() -> None:
    made, axes = picture("猫")
    shown: Any
    for shown in (made, axes):
        assert "猫" in svg_texts(shown._repr_svg_())


# --------------------------------------------------------------------------------------- saving


@pytest.mark.parametrize("format", ALL_FORMATS)
def test_the_same_picture_gives_the_same_bytes(format: str) -> None:
    def draw() -> bytes:
        made, axes = picture("x")
        axes.bar([0.5], [0.5], hatch="////")  # whose pattern has an identifier in SVG
        return rendered(made, format)

    first = draw()
    assert first == draw()
    assert first.startswith(SIGNATURES[format])
    assert b"Date" not in first
    assert b"Software" not in first


@pytest.mark.parametrize("format", ALL_FORMATS)
def test_a_picture_is_saved_as_its_name_says(format: str, tmp_path: Path) -> None:
    expected = rendered(picture("x")[0], format)
    save_figure(picture("x")[1], tmp_path / "new" / f"a.{format.upper()}")
    picture("x")[0].savefig(tmp_path / f"b.{format}")
    saved = {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert saved == {f"a.{format.upper()}": expected, f"b.{format}": expected}


def test_a_file_without_a_name_is_a_png() -> None:
    buffer = io.BytesIO()
    picture("x")[0].savefig(buffer)
    assert buffer.getvalue().startswith(SIGNATURES["png"])


def test_any_figure_of_matplotlib_can_be_saved_with_its_text(tmp_path: Path) -> None:
    figure, axes = foreign()
    axes.set_title("猫")
    part: Any = Figure(figsize=(2.0, 1.0)).subfigures(1, 1)
    part.add_subplot().set_title("猫")
    for number, saved in enumerate((figure, axes, np.array([axes, axes]), part.axes[0])):
        save_figure(saved, str(tmp_path / f"{number}.svg"))
        assert "猫" in svg_texts((tmp_path / f"{number}.svg").read_bytes())


def test_only_pictures_can_be_saved(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="only a figure or axes can be saved, not a dict"):
        save_figure({}, tmp_path / "a.svg")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("name", ["picture.gif", "picture", ".svg", "picture.svg.zip"])
def test_another_format_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"saved as .png, .svg, .pdf; '{name}' ends in none"):
        save_figure(picture()[0], tmp_path / name)
    assert [*tmp_path.iterdir()] == []


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    for target in (tmp_path / "file" / "picture.svg", tmp_path / "folder.svg"):
        (tmp_path / "folder.svg").mkdir(exist_ok=True)
        with pytest.raises(OSError, match=r"picture\.svg|folder\.svg") as raised:
            save_figure(picture("x")[0], target)
        assert "\n" not in str(raised.value)
        assert str(raised.value).endswith(f"'{target}'")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.svg"]


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        write(path, content[:10])
        raise OSError(28, "No space left on device")

    (tmp_path / "a.svg").write_text("before")
    made, _ = picture("x")
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left") as raised:
        save_figure(made, tmp_path / "a.svg")
    assert raised.value.filename == str(tmp_path / "a.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]
    assert (tmp_path / "a.svg").read_text() == "before"


def test_what_stood_there_is_untouched_if_a_picture_cannot_be_drawn(tmp_path: Path) -> None:
    class Fails(Artist):
        def draw(self, renderer: Any) -> None:
            raise RuntimeError("cannot be drawn")

    made, axes = picture()
    axes.add_artist(Fails())
    (tmp_path / "a.svg").write_text("before")
    with pytest.raises(RuntimeError, match="cannot be drawn"):
        save_figure(made, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == "before"


def test_options_of_matplotlib_are_passed_on() -> None:
    made, _ = picture("x")
    sizes = []
    for dpi in (50, 100):
        buffer = io.BytesIO()
        made.savefig(buffer, format="rgba", dpi=dpi)
        sizes.append(np.frombuffer(buffer.getvalue(), np.uint8).size)
    assert sizes == [100 * 50 * 4, 200 * 100 * 4]
