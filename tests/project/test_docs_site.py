"""The site of `make docs-site`: its menu, its reference, its links. R and the demo are left to the command itself."""

from __future__ import annotations

import importlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import slant
from slant.analysis.bridge.r_home import r_installation
from slant.collector.keep.view_heads import read_view_heads


@pytest.fixture(scope="module")
def tools(root: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "tools"))
        yield


@pytest.fixture(scope="module")
def reference(tools: None) -> ModuleType:
    return importlib.import_module("docs_site.reference")


@pytest.fixture(scope="module")
def pages(tools: None) -> ModuleType:
    return importlib.import_module("docs_site.pages")


@pytest.fixture(scope="module")
def links(tools: None) -> ModuleType:
    return importlib.import_module("docs_site.links")


def test_each_command_has_a_page_with_its_help(reference: ModuleType, tmp_path: Path) -> None:
    titles = [title for title, _ in reference.write_command_pages(tmp_path)]
    assert {"collect import", "collect studies new", "analyze figures", "analyze seal"} <= set(titles)
    assert "--layout TEXT" in (tmp_path / "collect_import.md").read_text("utf-8")
    assert "collect_studies_new.md" in (tmp_path / "index.md").read_text("utf-8")


def test_each_public_name_of_python_has_its_arguments_and_its_docstring(reference: ModuleType, tmp_path: Path) -> None:
    written = "".join((tmp_path / file).read_text("utf-8") for _, file in reference.write_python_pages(tmp_path))
    assert sorted(re.findall(r"^## (\w+)$", written, re.MULTILINE)) == sorted(slant.__all__)
    assert "    until_width: float | None = None,\n" in written
    assert "    fit: str = 'brms',\n" in written


def test_each_view_has_its_purpose_its_grain_and_its_note(reference: ModuleType, root: Path, tmp_path: Path) -> None:
    files = [file for _, file in reference.write_table_pages(tmp_path, root)]
    written = "".join((tmp_path / file).read_text("utf-8") for file in files)
    assert set(read_view_heads()) <= set(re.findall(r"^## (\w+)$", written, re.MULTILINE))
    assert "| `answer_format` |" in written


def test_text_of_a_docstring_is_no_markup(reference: ModuleType) -> None:
    assert reference.plain("a_b <i> `c_d` [x]") == r"a\_b &lt;i&gt; `c_d` \[x\]"
    assert reference.fenced("````\nx").startswith("`````text\n")


def test_every_page_of_vignettes_is_in_the_menu_once(pages: ModuleType, root: Path) -> None:
    named = [name for names in pages.GROUPS.values() for name in names]
    assert sorted(named) == sorted(pages.vignettes(root))


def test_no_page_has_more_than_2500_words(pages: ModuleType, root: Path) -> None:
    words = {name: len(page.read_text("utf-8").split()) for name, page in pages.vignettes(root).items()}
    assert {name: n for name, n in words.items() if n > 2500} == {}


@pytest.mark.parametrize(
    ("html", "sentence"),
    [
        ('<a href="gone.html">', "index.html: gone.html is not there"),
        ('<a href="#below">', "index.html: #below names no heading"),
        ('<a href="other.html#b">', "index.html: other.html#b names no heading"),
        ('<script src="https://example.org/x.js">', "index.html loads https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "index.html loads //example.org/x.css"),
    ],
)
def test_a_broken_link_is_found(links: ModuleType, tmp_path: Path, html: str, sentence: str) -> None:
    (tmp_path / "index.html").write_text(html)
    (tmp_path / "other.html").write_text('<h2 id="a">A</h2>')
    assert list(links.broken_links(tmp_path)) == [sentence]


def test_good_links_are_not_reported(links: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "index.html").write_text('<h2 id="ü">A</h2><a href="../index.html">')
    (tmp_path / "index.html").write_text(
        '<a href="folder/#%C3%BC"><a href="https://example.org"><a href="mailto:a@b.c">'
    )
    assert list(links.broken_links(tmp_path)) == []


@pytest.mark.slow
@pytest.mark.needs("R")
def test_the_site_is_built_and_has_no_broken_link(
    pages: ModuleType, links: ModuleType, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but what R draws and what the demo gives, which takes a minute: those are linked from one page."""
    pytest.importorskip("zensical")
    assert r_installation() is not None
    site = importlib.import_module("docs_site.__main__")
    monkeypatch.setattr(pages, "knit", lambda page, out: shutil.copyfile(page, out))
    monkeypatch.setattr(site, "draw_gallery", lambda demo, docs, work: write(docs, "# Figures"))
    monkeypatch.setattr(site, "bring_demo", lambda demo, docs, log: docs.mkdir())
    monkeypatch.setattr(site, "LIVE", "# Live")
    site.build(tmp_path / "docs", site.write_docs(tmp_path / "docs", root, tmp_path), tmp_path)
    assert list(links.broken_links(tmp_path / "site")) == []
    assert len(list((tmp_path / "site").rglob("*.html"))) > 140
    assert "until_width" in (tmp_path / "site" / "search.json").read_text("utf-8")


def write(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "index.md").write_text(text, "utf-8")
