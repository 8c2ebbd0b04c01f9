"""The viewer as a reader has it, in Chromium: hostile texts, a telephone, the keyboard alone, what is read aloud."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slant.collector.view.bundle import write_bundle
from tests.support.chromium import Browser
from tests.support.given import database
from tests.support.viewer import RunningViewer, running_viewer

pytestmark = pytest.mark.needs("chromium")
EVIL = "</pre></script><script>evil = 1</script><img src=x onerror='evil = 1'><b onclick=\"evil = 1\">"
HOSTILE = (
    EVIL, "<td><table><", "&lt;script&gt; \"'`= ", "right \u202eto left\u2066",
    "a\x00\x07b\x1b[31mc\ufeff\u200b", "x" * 5_000,
    "javascript:evil=1", "{{ 7 * 7 }}{% raw %}",
)  # fmt: skip
PAGES = ("trials?sort=-tokens", "trial/t1", "trial/t5", "pairs", "pair", "runs", "tables", "table/association_trials")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each text wherever a model, a provider or a study's author could have put it."""
    rows = [
        {
            "trial_id": f"t{n * 2 + side + 1}", "condition": condition, "item": text, "answer": text, "choice": text,
            "reasoning_text": text * 3, "served_model": text, "error": text, "request": f'{{"messages": "{n}"}}',
            "response": text, "option_a": text, "headers": text, "tokens": 10 + n * side, "detail": text,
        }
        for n, text in enumerate(HOSTILE)
        for side, condition in enumerate(("compatible", "incompatible"))
    ]  # fmt: skip
    run = {
        "run_id": "r1", "study": "rmiat", "study_version": "v1", "source": "simulated", "variant": "base",
        "command": EVIL, "started_at": "2026-01-01", "models": [{"model": "o3-mini", "settings": EVIL}],
    }  # fmt: skip
    return database(tmp_path_factory.mktemp("view") / "a.duckdb", rows, [run])


@pytest.fixture(scope="module")
def viewer(db: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningViewer]:
    with running_viewer(db, tmp_path_factory.mktemp("notes") / "notes.csv") as running:
        yield running


@pytest.mark.parametrize("place", PAGES)
def test_hostile_texts_are_shown_and_do_nothing_on_any_page(
    browser: Browser, viewer: RunningViewer, place: str
) -> None:
    browser.open(viewer.root + place)
    assert browser.said == []
    assert browser.asked == [viewer.root + place]
    assert browser.evaluate("typeof evil") == "undefined"
    assert browser.evaluate("document.querySelectorAll('main script, main img, main [onclick]').length") == 0
    for width in (375, 1200):
        browser.resize(width, 800, is_mobile=width == 375)
        assert browser.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width]


@pytest.mark.slow
def test_what_would_hide_or_turn_a_text_is_seen_in_a_box(browser: Browser, viewer: RunningViewer) -> None:
    browser.open(f"{viewer.root}trial/t7")
    boxes = "[...document.querySelectorAll('pre .hidden-character')].map(one => one.textContent)"
    assert browser.evaluate(boxes)[:2] == ["U+202E", "U+2066"]
    browser.open(f"{viewer.root}trial/t9")
    assert browser.evaluate(boxes)[:4] == ["U+0000", "U+0007", "U+001B", "U+FEFF"]


def test_no_script_runs_even_if_one_gets_in(browser: Browser, viewer: RunningViewer) -> None:
    browser.open(f"{viewer.root}trials")
    browser.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'evil = 1'}))")
    assert browser.evaluate("typeof evil") == "undefined"
    assert any("Content Security Policy" in said for said in browser.said)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["trials", "trial/t1", "pairs"])
def test_the_keyboard_alone_reaches_everything(browser: Browser, viewer: RunningViewer, place: str) -> None:
    browser.open(viewer.root + place)
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    wanted = browser.evaluate(
        "document.querySelectorAll('a, summary, button, input:not([type=hidden]), select, textarea, .wide').length"
    )
    browser.evaluate("seen = new Set()")
    dates = browser.evaluate("document.querySelectorAll('input[type=date]').length")  # three parts and a button each
    for _ in range(wanted + 3 * dates):
        browser.press("Tab")
        browser.evaluate("seen.add(document.activeElement)")
    assert browser.evaluate("[...seen].filter(one => one !== document.body).length") == wanted


@pytest.mark.slow
def test_a_note_is_typed_and_kept_by_the_keyboard(browser: Browser, viewer: RunningViewer) -> None:
    browser.open(f"{viewer.root}trial/t3")
    browser.evaluate("document.querySelector('input[name=label]').focus()")
    browser.send("Input.insertText", text="odd \u202e")
    browser._events.clear()
    browser.press("Enter")
    browser.wait_for("Page.loadEventFired")
    assert browser.evaluate("document.querySelector('input[name=label]').value") == "odd \u202e".strip()
    browser.open(f"{viewer.root}trials?label=*")
    assert browser.evaluate("document.querySelector('h1').textContent") == "1 trial"


def names_in_tree(browser: Browser, role: str) -> list[Any]:
    nodes = browser.send("Accessibility.getFullAXTree")["nodes"]
    return [n.get("name", {}).get("value") for n in nodes if not n["ignored"] and n["role"]["value"] == role]


@pytest.mark.slow
def test_what_is_read_aloud_has_landmarks_labels_and_names(browser: Browser, viewer: RunningViewer) -> None:
    browser.open(f"{viewer.root}trials")
    assert names_in_tree(browser, "main") == [""]
    assert "Pages" in names_in_tree(browser, "navigation")
    for role in ("combobox", "textbox", "searchbox", "link", "button", "image"):
        assert all(names_in_tree(browser, role)), role
    assert any(name.startswith("Tokens, compatible: 8 trials") for name in names_in_tree(browser, "image"))


@pytest.mark.slow
def test_files_of_a_bundle_open_without_a_server(browser: Browser, db: Path, tmp_path: Path) -> None:
    write_bundle(db, tmp_path / "bundle", "trial_id IN ('t1', 't2')")
    page = (tmp_path / "bundle" / "index.html").as_uri()
    browser.open(page)
    assert (browser.said, browser.asked) == ([], [page])
    assert browser.evaluate("typeof evil") == "undefined"
    assert browser.evaluate("getComputedStyle(document.querySelector('main h1')).fontSize") == "21.6px"
    browser.resize(794, 1000)
    assert len(browser.pdf()) > 5_000
