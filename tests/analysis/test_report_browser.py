"""The report as a reader has it: in Chromium, on a telephone, with the keyboard alone, on paper."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.chromium import Browser
from tests.support.made_once import hostile_report

pytestmark = pytest.mark.needs("chromium")
A4_WIDTH_PX = 794 - 2 * 45  # 210 mm at 96 dots per inch, without the margins of 12 mm
CELLS = "[...document.querySelectorAll('table.compared')[0].tBodies[0].rows].map(row => row.cells[3].firstChild)"
NUMBERS = f"{CELLS}.map(node => node ? node.textContent.trim() : '')"
HEAD = "document.querySelectorAll('table.compared')[0].tHead.rows[0].cells[3]"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return hostile_report(tmp_path_factory).as_uri()


def unfold(browser: Browser) -> None:
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


def test_the_page_says_nothing_to_the_console_and_asks_the_network_for_nothing(browser: Browser, page: str) -> None:
    browser.open(page)
    unfold(browser)
    assert browser.said == []
    assert browser.asked == [page]
    broken = "[...document.images].filter(one => !one.complete || !one.naturalWidth).length"
    assert (browser.evaluate("document.images.length"), browser.evaluate(broken)) == (5, 0)


def test_what_models_and_servers_wrote_does_not_run_and_nothing_else_may(browser: Browser, page: str) -> None:
    browser.open(page)
    assert browser.evaluate("typeof evil") == "undefined"
    assert browser.evaluate("document.querySelectorAll('td img, td script').length") == 0
    add = "document.body.append(Object.assign(document.createElement('script'), {textContent: 'evil = 1'}))"
    browser.evaluate(add)
    assert browser.evaluate("typeof evil") == "undefined"
    assert any("Content Security Policy" in said for said in browser.said)


@pytest.mark.slow
def test_a_telephone_never_scrolls_the_page_sideways(browser: Browser, page: str) -> None:
    browser.open(page)
    browser.resize(375, 800, is_mobile=True)
    unfold(browser)
    assert browser.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [375, 375]


def test_the_keyboard_alone_reaches_everything(browser: Browser, page: str) -> None:
    browser.open(page)
    unfold(browser)
    wanted = browser.evaluate("document.querySelectorAll('a, summary, button, .wide, .scroll').length")
    reached: list[Any] = []
    browser.evaluate("seen = new Set()")
    for _ in range(wanted):
        browser.press("Tab")
        reached.append(browser.evaluate("seen.add(document.activeElement); document.activeElement.tagName"))
    assert "BODY" not in reached
    assert browser.evaluate("seen.size") == wanted


def test_enter_on_a_head_sorts_by_number_and_back_again(browser: Browser, page: str) -> None:
    browser.open(page)
    came = browser.evaluate(NUMBERS)
    empty = [text for text in came if text in ("", "no data")]
    numbers = [text for text in came if text not in empty]
    assert len(set(numbers)) > 2
    browser.evaluate(f"{HEAD}.querySelector('button').focus()")
    for order in ("ascending", "descending"):
        browser.press("Enter")
        assert browser.evaluate(f"{HEAD}.getAttribute('aria-sort')") == order
        is_descending = order == "descending"
        assert browser.evaluate(NUMBERS) == [*sorted(numbers, key=float, reverse=is_descending), *empty]
    browser.press("Enter")
    assert browser.evaluate(NUMBERS) == came


@pytest.mark.slow
def test_on_paper_all_is_unfolded_and_no_table_is_cut(browser: Browser, page: str) -> None:
    browser.open(page)
    folded = pages(browser)
    unfold(browser)
    assert pages(browser) == folded > 2
    browser.resize(A4_WIDTH_PX, 1000)
    browser.show_as("print")
    widths = "[...document.querySelectorAll('table, img')].map(one => Math.ceil(one.getBoundingClientRect().right))"
    try:
        assert max(browser.evaluate(widths)) <= A4_WIDTH_PX
    finally:
        browser.show_as("")


def test_a_contents_bar_stays_and_is_legible_in_the_dark(browser: Browser, page: str) -> None:
    browser.open(page)
    browser.evaluate("document.documentElement.style.scrollBehavior = 'auto', scrollTo(0, 2000)")
    bar = "(({top, height}) => [top, height < 100])(document.querySelector('nav').getBoundingClientRect())"
    assert browser.evaluate(bar) == [0, True]
    ground = "getComputedStyle(document.body).backgroundColor"
    assert browser.evaluate(ground) == "rgb(255, 255, 255)"
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.send("Emulation.setEmulatedMedia", features=features)
    assert browser.evaluate(ground) == "rgb(21, 24, 29)"
    browser.show_as("")


def pages(browser: Browser) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", browser.pdf()))
