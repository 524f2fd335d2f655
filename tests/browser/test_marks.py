"""The page of a class in a browser: silent, and readable on a narrow screen."""

import pytest

from tests.browser.conftest import Open
from viz.marks import marks_page

pytestmark = pytest.mark.browser

NAMES = ["王小明", "<b>x</b>", "=1+1", "<script>alert(1)</script>", "Bartholomew"]


def page() -> str:
    exercises = {f"{number:02}-derivatives": "Derivatives" for number in range(1, 17)}
    verdicts = [{"exercise": name, "status": "failed", "why": "off"} for name in exercises]
    return marks_page(
        [{"student": name, "verdicts": verdicts} for name in NAMES],
        exercises,
        [("01-derivatives", "sum.transposed", "It is the transpose of it. " * 5, NAMES)],
        [("02-derivatives", "error", "out of memory", name) for name in NAMES],
    )


def test_words_are_whole_and_the_tables_scroll_in_their_own_boxes(open_page: Open) -> None:
    visit = open_page(page(), width=500)
    assert visit.complaints == []
    assert not visit.is_wider_than_the_window()
    lines = visit.page.evaluate(
        """() => [...document.querySelectorAll("th, td.name")]
            .filter(cell => /^\\p{L}+$/u.test(cell.textContent))
            .map(cell => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                return [cell.textContent, range.getClientRects().length];
            })"""
    )
    assert ["Bartholomew", 1] in lines
    assert {count for _, count in lines} == {1}
