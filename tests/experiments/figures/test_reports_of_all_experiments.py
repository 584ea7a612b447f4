"""Reports of all experiments in a real browser: they open without an error and answer to mouse and keys.

Nothing here names an experiment: a new one is held to all of it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.runner import registry

SHOWN = "plot => plot.data.filter(trace => trace.visible !== false).length"


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", registry.names())
def test_the_report_of_every_experiment_answers(
    smoke: Callable[[str], Path], opened: Callable, readable: Callable, name: str
) -> None:
    path = smoke(name) / "report.html"
    assert path.stat().st_size <= 3e6
    answers(opened, readable, path)


def answers(opened: Callable, readable: Callable, path: Path) -> None:
    """Hold a report to all that a page of any experiment does."""
    phone = opened(path, 390, "dark")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    wide = phone.locator("table.headlines td:first-child").evaluate_all("all => all.map(e => e.offsetWidth)")
    assert max(wide, default=0) < 390, "a long name wraps"
    assert readable(phone) > 10
    page = opened(path, 1280)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert readable(page) > 10
    _hovers(page)
    _hides(page)
    _steps(page)


PLACES = """all => all.map(point => [point.getBoundingClientRect(),
    point.closest('.plot').querySelector('.nsewdrag').getBoundingClientRect()])
  .map(([mark, area]) => [mark.left + mark.width / 2, mark.top + mark.height / 2, area])
  .filter(([x, y, area]) => x > area.left && x < area.right && y > area.top && y < area.bottom)
  .map(([x, y]) => [x, y + window.scrollY])"""


def _hovers(page: Any) -> None:
    """Points under the mouse tell their numbers."""
    page.set_viewport_size({"width": 1280, "height": page.evaluate("document.documentElement.scrollHeight")})
    page.wait_for_timeout(300)
    places = page.locator(".plot .points path.point").evaluate_all(PLACES)

    def told(x: float, y: float) -> str:
        page.mouse.move(x, y)
        page.wait_for_timeout(100)
        return page.evaluate("[...document.querySelectorAll('.hoverlayer')].map(e => e.textContent).join('')")

    assert not places or any(sign.isdigit() for place in places[:20] for sign in told(*place))


def _hides(page: Any) -> None:
    """A series is hidden and shown again by the keyboard."""
    buttons = page.locator(".legend button")
    if not buttons.count():
        return
    plot = page.locator(".panel", has=page.locator(".legend button")).first.locator(".plot")
    before = plot.evaluate(SHOWN)
    buttons.first.focus()
    page.keyboard.press("Enter")
    assert buttons.first.get_attribute("aria-pressed") == "false"
    assert plot.evaluate(SHOWN) < before
    page.keyboard.press("Space")
    assert plot.evaluate(SHOWN) == before


def _steps(page: Any) -> None:
    """The slider of an animated panel shows another step, by the arrows of the keyboard."""
    for box in page.locator("[data-frames]").all():
        slider, image = box.locator("input"), box.locator("img")
        if slider.get_attribute("max") == "0":
            continue
        seen = [image.get_attribute("src")]
        slider.focus()
        for key in ("ArrowRight", "End"):
            page.keyboard.press(key)
            seen.append(image.get_attribute("src"))
        assert box.locator("output").inner_text()
        assert seen[0] != seen[1], "the picture is that of the step"
        assert slider.input_value() == slider.get_attribute("max")
        page.keyboard.press("Home")
        assert image.get_attribute("src") == seen[0]
