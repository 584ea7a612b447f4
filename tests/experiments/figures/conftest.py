"""Headless Chromium for the pages of reports."""

import importlib
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FAULTS = ("error", "warning")
"""Messages of a page that are none of plotly's notes on its own layout."""
TEXTS = """all => all.filter(e => e.innerText.trim() && !e.children.length).map(e => {
    const look = getComputedStyle, none = 'rgba(0, 0, 0, 0)';
    let ground = e; while (look(ground).backgroundColor === none) ground = ground.parentElement;
    return [look(e).color, look(ground).backgroundColor, e.innerText];})"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    playwright = importlib.import_module("playwright.sync_api")
    with playwright.sync_playwright() as play:
        made = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable]:
    said: list[str] = []
    pages = []

    def start(path: Path, width: int = 1280, scheme: str = "light") -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        pages.append(page)
        page.on("console", lambda message: said.append(message.text) if message.type in FAULTS else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]", timeout=30_000)
        return page

    yield start
    assert said == []
    for page in pages:
        page.close()


@pytest.fixture
def readable() -> Callable[[Any], int]:
    """A check that every text of a page has a contrast of 4.5 or more; returns how many there are."""

    def check(page: Any) -> int:
        found = page.locator("h1,h2,p,td,th,button,pre,figcaption,output").evaluate_all(TEXTS)
        for front, back, text in found:
            assert _contrast(front, back) >= 4.5, text
        return len(found)

    return check


def _contrast(*colours: str) -> float:
    levels = []
    for colour in colours:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        levels.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(levels) + 0.05) / (min(levels) + 0.05)
