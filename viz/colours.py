"""The colours of every picture: blue for positive, orange for negative, for light and for dark.

Readers who cannot tell red from green can tell these apart. Whatever a colour says, a text, a
shape or a texture beside it says too. Nothing is drawn here.
"""

from __future__ import annotations

import math

LIGHT = {
    "paper": "#fdfcfa",
    "ink": "#24292e",
    "quiet": "#4f5860",
    "accent": "#a5470f",
    "rule": "#c9c5bd",
    "tint": "#f3f1ec",
    "zero": "#f4f2ee",
    "positive": "#2563a8",
    "negative": "#c2571a",
}
DARK = {
    "paper": "#16191c",
    "ink": "#e4e6e8",
    "quiet": "#adb5bc",
    "accent": "#f4a06a",
    "rule": "#4a525a",
    "tint": "#1f2428",
    "zero": "#262b30",
    "positive": "#7fb4ee",
    "negative": "#f09456",
}
"""The same names in both: the background, text, quieter text and text that stands out, lines,
panels, and the three ends of the diverging scale, whose middle is `zero`."""


def properties(theme: dict[str, str]) -> str:
    """The colours of a theme as custom properties of CSS, which the style of a page refers to."""
    return " ".join([f"--{name}: {colour};" for name, colour in theme.items()])


def mixed(share: float, start: str, end: str) -> str:
    """The colour a share of the way from `start` to `end`, both as "#rrggbb"; 0 to 1.

    >>> mixed(0.5, "#000000", "#ff0080")
    '#800040'
    """
    channels = zip(bytes.fromhex(start[1:]), bytes.fromhex(end[1:]), strict=True)
    return "#" + "".join([f"{math.floor(a + share * (b - a) + 0.5):02x}" for a, b in channels])


def diverging(share: float, theme: dict[str, str] = LIGHT) -> str:
    """The colour of a value from -1 (the negative end) over 0 to 1 (the positive end).

    >>> diverging(0.0) == LIGHT["zero"], diverging(-1.0) == LIGHT["negative"]
    (True, True)
    """
    share = max(-1.0, min(1.0, share))
    return mixed(abs(share), theme["zero"], theme["positive" if share > 0 else "negative"])


LEVELS = 8
"""Shades of blue and of orange in a drawn graph: few enough that each has its dark twin."""


def _shades(theme: dict[str, str]) -> dict[str, str]:
    """The colours of a drawing by what they are for, in one theme."""
    paper, positive, negative = theme["paper"], theme["positive"], theme["negative"]
    shades = {name: theme[name] for name in ("paper", "ink", "quiet", "tint")}
    shades |= {
        "leaf": mixed(0.1, paper, positive),
        "parameter": mixed(0.17, paper, positive),
        "root": mixed(0.13, paper, negative),
        "blue": positive,
        "orange": theme["accent"],
    }
    # Less strong than the scale itself, so that the numbers on them can be read.
    for level in range(-LEVELS, LEVELS + 1):
        shades[f"cell {level}"] = diverging(0.42 * level / LEVELS, theme)
    return shades


SHADES = _shades(LIGHT)
TWINS = dict(zip(SHADES.values(), _shades(DARK).values(), strict=True))
"""For each light colour the one that takes its place in the dark."""

KINDS = {
    "leaf": ("leaf", "blue"),
    "parameter": ("parameter", "blue"),
    "constant": ("tint", "quiet"),
    "intermediate": ("paper", "ink"),
    "root": ("root", "orange"),
    "op": ("tint", "ink"),
    "fold": ("tint", "ink"),
    "rest": ("paper", "quiet"),
}
"""What each kind of box in a drawn graph is filled with, and the colour of its outline."""
