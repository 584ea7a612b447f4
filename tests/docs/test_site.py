"""The built site in a real browser: no console error, no broken picture, nothing wider than a telephone, legible."""

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

SITE = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built: make docs"),
]
SHOTS = os.environ.get("HOPFIELD_SCREENSHOTS")
BROKEN = """() => [...document.images].filter(i => i.complete && i.naturalWidth === 0).map(i => i.src)"""
WIDE = """() => document.documentElement.scrollWidth - document.documentElement.clientWidth"""
CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")


def pages() -> list[str]:
    """Every page but highlighted source."""
    found = [str(path.relative_to(SITE)) for path in sorted(SITE.rglob("*.html"))]
    return [path for path in found if not path.startswith(("_modules", "_static", "_downloads"))]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    class Silent(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args): ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.mark.parametrize(("width", "scheme", "other"), [(390, "light", "dark"), (1280, "dark", "light")])
def test_every_page_opens_whole(browser, address, width, scheme, other):
    """Legible in light and dark; with HOPFIELD_SCREENSHOTS=FOLDER a picture of each page is kept there."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda asked: errors.append(asked.url) if not local(asked.url, address) else None)
    faults = {}
    for path in pages():
        errors.clear()
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{address}/{path}", wait_until="load")
        found = [*errors, *page.evaluate(BROKEN), *page.evaluate(CONTRAST)]
        wider = page.evaluate(WIDE)
        found += [f"{wider} pixels wider than {width}"] if wider > 0 else []
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/{path.replace('/', '_')}-{width}.png", full_page=True)
        page.emulate_media(color_scheme=other)
        page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=other, timeout=5000)
        found += [f"{other}: {fault}" for fault in page.evaluate(CONTRAST)]
        if found:
            faults[path] = found
    page.close()
    assert faults == {}


def local(url: str, address: str) -> bool:
    return url.startswith((address, "data:", "blob:"))


def test_a_report_of_the_gallery_opens_in_its_page(browser, address):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(f"{address}/gallery/capacity.html")
    page.locator("details summary").last.click()
    frame = page.frame_locator("iframe.report")
    frame.locator("html[data-ready=true]").wait_for(state="attached", timeout=20_000)
    assert frame.locator(".plot .main-svg").count() > 3
    page.close()


def test_search_finds_a_page_by_a_word(browser, address):
    page = browser.new_page()
    page.goto(f"{address}/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("retrieve")
    page.keyboard.press("Enter")
    page.wait_for_selector("ul.search li a", timeout=15_000)
    assert page.locator("ul.search li a").count() > 3
    page.close()


def test_the_explorer_works_by_mouse_touch_and_keyboard(browser, address):
    page = browser.new_page(has_touch=True)
    page.goto(f"{address}/explorer.html")
    told = page.locator(".explorer [data-told]").first
    assert told.inner_text().startswith("step 0")
    page.locator("[data-step]").click()
    assert told.inner_text().startswith("step 1")
    page.locator(".explorer").first.focus()
    page.keyboard.press("s")
    assert told.inner_text().startswith("step 2")
    before = told.inner_text()
    page.locator("[data-state]").tap(position={"x": 20, "y": 20})
    assert told.inner_text() != before
    page.keyboard.press("r")
    page.locator("[data-run]").click()
    assert "overlap 1.000" in told.inner_text() or "overlap 0.9" in told.inner_text()
    page.close()
