"""`collect methods --checklist` and `--bibtex`: what editors ask for, from the database."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from click.testing import Result

from slant.collector import collect
from slant.collector.keep.database import writing
from slant.collector.provenance.bibtex import _paper_entry, _slant_entry
from slant.collector.provenance.checklist import FACTS, QUOTES
from slant.collector.system.shipped_files import checklists_dir
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer, completion
from tests.support.tiny_study import write_tiny

SOURCE = ('title = "Tea and coffee"\n', 'title = "Tea and coffee"\nsource = "Lee & Lai (2025), Tea_cups & 5 % milk"\n')
SETTINGS = ('provider = "local"\n', 'provider = "local"\nsettings = { temperature = 0.5 }\n')
HOSTILE = "# <script>alert(1)</script> ```\n| x | `y`"


class Served:
    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion() | {"model": "small-1 <b>"})


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reporting")
    path = write_tiny(folder, study=SOURCE)
    path.write_text(path.read_text("utf-8").replace(*SETTINGS), "utf-8")
    with LocalServer(Served()) as server:
        collect(folder / "a.duckdb", str(path), ["local/small"], base_url=server.base_url)
    with writing(folder / "a.duckdb") as connection:  # a kept result, of R and two packages, one of which is nowhere
        connection.execute(
            "INSERT INTO calls (call_id, versions) VALUES ('one', ?)",
            [json.dumps({"R": "4.1.0", "lme4": "1.0", "noSuchPackage": "9.9", "--args x": "1", "slant": "0.1.0"})],
        )
        connection.execute("INSERT INTO fit_cells (call_id, study) VALUES ('one', 'drinks')")
    return folder / "a.duckdb"


def typed(db: Path, *words: object) -> Result:
    return run_collect("methods", "--db", db, *words)


def items(text: str) -> dict[str, str]:
    """By its number, what a checklist in Markdown says of an item."""
    _, *parts = re.split(r"(?m)^### ([A-Z]\.\d) ", text)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_checklist_has_its_fourteen_items_and_every_fact_is_one_that_slant_knows() -> None:
    table = tomllib.loads((checklists_dir() / "guide-llm.toml").read_text("utf-8"))
    ids = ["A.1", "A.2", "B.1", "B.2", "B.3", "B.4", "B.5", "C.1", "C.2", "D.1", "E.1", "E.2", "F.1", "G.1"]
    assert [item["id"] for item in table["items"]] == ids
    used = {fact for item in table["items"] for fact in item.get("facts", ())}
    assert used == set(FACTS)
    assert {quote for item in table["items"] for quote in item.get("quotes", ())} == set(QUOTES)
    assert all(item["to_fill"] for item in table["items"])


def test_eleven_items_are_filled_from_the_database_the_rest_say_what_belongs_there(db: Path) -> None:
    result = typed(db, "--checklist", "guide-llm")
    assert result.exit_code == 0
    to_fill = [number for number, text in items(result.stdout).items() if "**TO FILL:**" in text]
    assert to_fill == ["A.1", "E.1", "G.1"]
    assert "11 of 14 items are filled" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("B.1", "answered as small-1"),
        ("B.2", "API at 127.0.0.1"),
        ("B.2", "fresh conversation"),
        ("B.3", "temperature = 0.5"),
        ("B.3", "seed 0"),
        ("C.1", "oolong, sencha / mocha, latte"),
        ("C.2", "No system text"),
        ("E.2", "8 were answered"),
        ("F.1", "collect --study"),
    ],
)
def test_what_an_item_says_is_what_was_recorded(db: Path, item: str, words: str) -> None:
    text = items(typed(db, "--checklist", "guide-llm").stdout)[item]
    assert words in text.replace("\\", "")


@pytest.mark.slow
def test_imported_answers_leave_to_the_authors_what_nobody_recorded(db: Path, tmp_path: Path) -> None:
    copy = tmp_path / "imported.duckdb"
    shutil.copy(db, copy)
    with writing(copy) as connection:
        connection.execute("UPDATE runs SET source = 'imported'")
    found = items(typed(copy, "--checklist", "guide-llm").stdout)
    assert all("**TO FILL:**" in found[item] for item in ("A.2", "B.2", "B.4", "B.5"))


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.slow
def test_the_page_for_a_word_processor_is_whole_and_runs_nothing(db: Path, tmp_path: Path) -> None:
    copy, out = tmp_path / "hostile.duckdb", tmp_path / "c.html"
    shutil.copy(db, copy)
    with writing(copy) as connection:
        connection.execute("UPDATE runs SET study_title = ?", [HOSTILE])
        connection.execute("UPDATE attempts SET request = ?", [json.dumps({"messages": [{"content": HOSTILE}]})])
    assert typed(copy, "--checklist", "guide-llm", "--out", out).stdout == f"{out}\n"
    page = Page()
    page.feed(out.read_text("utf-8"))
    assert page.open == []
    assert page.tags.count("tr") == 1 + 14 + len({"use", "model", "prompts", "data", "answers", "openness"})
    assert "script" not in page.tags
    text = typed(copy, "--checklist", "guide-llm").stdout
    assert "\\# \\<script\\>" in text
    assert f"````text\n{HOSTILE}\n````" in text  # word for word, in a fence that it can't close


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--checklist", "guide"), 'Did you mean "guide-llm"'),
        (("--checklist", "guide-llm", "--out", "x.docx"), "must end in .md or .html"),
        (("--out", "x.md"), "--checklist guide-llm"),
        (("--checklist", "guide-llm", "--bibtex"), "either --checklist or --bibtex"),
    ],
)
def test_a_mistake_ends_in_a_sentence(db: Path, words: tuple[str, ...], said: str) -> None:
    result = typed(db, *words)
    assert (result.exit_code, said in result.stderr) == (2, True)


def entries(text: str) -> dict[str, str]:
    """By key; each entry closes what it opens."""
    found = {}
    for entry in re.split(r"(?m)^(?=@)", text)[1:]:
        bare = re.sub(r"\\[{}]", "", entry)
        assert bare.count("{") == bare.count("}")
        found[re.match(r"@\w+\{([^,\s]+),", entry)[1]] = entry  # type: ignore[index]
    return found


@pytest.mark.slow
@pytest.mark.needs("lme4")
def test_bibtex_has_the_paper_r_its_packages_and_slant(db: Path) -> None:
    result = typed(db, "--bibtex")
    found = entries(result.stdout)
    assert list(found)[:3] == ["drinks", "R-R", "R-lme4"]
    assert list(found)[-1] == "slant"
    assert "author = {Lee and Lai}" in found["drinks"]
    assert r"{Tea\_cups \& 5 \% milk}" in found["drinks"]
    assert "Fitting Linear Mixed-Effects Models" in found["R-lme4"]  # R's own citation of it
    assert "made with 4.1.0" in result.stderr
    assert "noSuchPackage is not installed here" in result.stderr
    assert "args" not in result.stdout


def test_the_paper_of_several_and_slant_have_what_bibtex_asks_for(root: Path) -> None:
    paper = _paper_entry("d", "Bai et al. (2025), Explicitly unbiased, but")
    assert "author = {Bai and others},\n" in paper
    assert "@Misc{d," in paper  # an Article has a journal
    year = re.search(r'year = "(\d+)"', (root / "inst" / "CITATION").read_text("utf-8"))
    assert year is not None
    assert f"year = {{{year[1]}}}" in _slant_entry("0.1.0")


def test_without_r_packages_are_cited_by_name_and_version(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    found = entries(typed(db, "--bibtex").stdout)
    assert list(found) == ["drinks", "R-R", "R-lme4", "R-noSuchPackage", "slant"]
    assert "Version 1.0" in found["R-lme4"]


def test_the_citation_file_says_what_the_package_says(root: Path) -> None:
    text = (root / "CITATION.cff").read_text("utf-8")
    stated = dict(re.findall(r"(?m)^([\w-]+): (.+)$", text))
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert (stated["cff-version"], stated["type"]) == ("1.2.0", "software")
    assert (stated["version"], stated["license"]) == (project["version"], project["license"])
    assert {"title", "message"} <= set(stated)
    assert "authors:\n" in text


def test_the_citation_file_is_valid(root: Path) -> None:
    if (program := shutil.which("cffconvert")) is None:
        pytest.skip("cffconvert is not installed: pip install cffconvert")
    done = subprocess.run([program, "--validate"], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
