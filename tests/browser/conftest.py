"""One Chromium for all browser tests, driven through Playwright and cut off from the network.

Whatever a page says, asks for or trips over is written down in `Visit.complaints`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@dataclass
class Visit:
    """An open page, and all that it was heard to say: a good one says nothing."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """Write down console messages, errors and dialogs, and let nothing but the page load."""
        self.page.on("console", lambda said: self._note(f"console {said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self._note(f"error: {error}"))
        self.page.on("popup", lambda popup: self._note(f"popup: {popup.url}"))
        self.page.on("dialog", self._dismiss)
        self.page.context.route("**/*", self._route)

    def _note(self, complaint: str) -> None:
        self.complaints.append(complaint)

    def _dismiss(self, dialog: Any) -> None:
        self._note(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _route(self, route: Route) -> None:
        if route.request.url == self.address:
            route.continue_()
        else:
            self._note(f"request: {route.request.url}")
            route.abort()

    def style(self, selector: str, name: str) -> str:
        """The computed style of the first element that fits."""
        found = self.page.locator(selector).first.evaluate(
            "(element, name) => getComputedStyle(element).getPropertyValue(name)", name
        )
        return str(found)

    def is_wider_than_the_window(self) -> bool:
        """Whether the page as a whole has to be scrolled sideways."""
        root = "document.documentElement"
        return bool(self.page.evaluate(f"{root}.scrollWidth > {root}.clientWidth"))


Open = Callable[..., Visit]


def around(*outputs: str, head: str = "", attributes: str = "") -> str:
    """A page with these outputs below each other, as a notebook would show them."""
    cells = "\n".join([f'<div class="output">{output}</div>' for output in outputs])
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>outputs</title>'
        f"{head}</head>\n<body {attributes}>\n{cells}\n</body></html>\n"
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright comes with the dev extra"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no browser is installed: looked for {', '.join(BROWSERS)}")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens HTML from a file: `open_page(html, dark=True, width=360)`.

    `fragment` follows the address, `more` is what Playwright's `new_context` takes.
    """
    contexts: list[BrowserContext] = []

    def open_page(
        content: str, *, dark: bool = False, width: int = 1100, fragment: str = "", **more: Any
    ) -> Visit:
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(content, encoding="utf-8")
        context = browser.new_context(
            color_scheme="dark" if dark else "light",
            viewport={"width": width, "height": 800},
            **more,
        )
        contexts.append(context)
        visit = Visit(context.new_page(), file.as_uri())
        visit.listen()
        visit.page.goto(visit.address + fragment, wait_until="load")
        return visit

    yield open_page
    for context in contexts:
        context.close()
