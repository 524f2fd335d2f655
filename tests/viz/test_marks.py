"""The page of a class: all that came of it can be read, and nothing in it is taken for more."""

import re

import pytest

from viz.marks import marks_page

ROW = {
    "student": "王小明",
    "verdicts": [
        {"exercise": "03-scale", "status": "failed", "why": "entry [0] is <2>"},
        {"exercise": "04-sum", "status": "error"},
        {"exercise": "05-matmul", "status": "passed", "why": ""},
    ],
}
TITLES = {"03-scale": "Scale", "04-sum": "Sum", "05-matmul": "Product", "06-index": "Index"}


def cells(page: str) -> list[tuple[str, str]]:
    """Of the table of marks the titles and the signs."""
    found = re.findall(r'<td class="sign[^"]*" title="([^"]*)">\s*(\S+)</td>', page)
    return [(title, sign) for title, sign in found]


def test_a_cell_says_what_is_wrong() -> None:
    assert cells(marks_page([ROW], TITLES, [])) == [
        ("wrong: entry [0] is &lt;2&gt;", "✗"),
        ("could not be checked", "!"),
        ("solved", "✓"),
        ("not handed in", "–"),
    ]


@pytest.mark.parametrize(
    ("language", "title"), [("en", "Could not be checked"), ("zh", "无法检查的作业")]
)
def test_what_could_not_be_checked_stands_at_the_head(language: str, title: str) -> None:
    told = [("04-sum", "error", "out of <memory>", "王小明"), ("03-scale", "failed", "off", "猫")]
    page = marks_page([ROW], TITLES, [], told, language=language)
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>", page)
    assert headings[0] == f"! {title}"
    assert len(headings) == 4
    assert "out of &lt;memory&gt;" in page
    assert '<td class="sign error"' in page
    assert f"! {title}" not in marks_page([ROW], TITLES, [], told[1:], language=language)
