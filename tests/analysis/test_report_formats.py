"""`analyze report --format`: a page becomes a document by the programs that are there, else a sentence says which."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from slant.analysis import fit
from slant.analysis.pages.report_formats import check_place, write_report
from slant.collector import collect
from slant.collector.errors import SlantError, UsageError
from slant.collector.markup import escaped_markdown
from tests.support.typed_pages import typed_in_r

PNG = base64.b64encode(b"\x89PNG....").decode()
PAGE = f"""<!DOCTYPE html><html><head><title>x</title><style>p {{}}</style></head><body>
<nav><a href="#a">Contents</a></nav>
<h1>Who is "called" back?</h1>
<p class="source"><strong>simulated</strong> data. No *model* was asked.</p>
<figure><div><img src="data:image/png;base64,{PNG}" alt="Effects [two]"></div>
<figcaption>Effects</figcaption></figure>
<h2 id="a">Fits</h2><details><summary>All</summary><div><table><thead><tr><th>term</th><th>p</th></tr></thead>
<tbody><tr><td>a|b<small>.1</small></td><td>&lt; .001</td></tr></tbody></table></div></details>
<ul><li>one &amp; two</li></ul><pre>collect --x `y`</pre><script>alert(1)</script></body></html>"""


def test_a_quarto_document_holds_all_words_as_text_and_its_figures_as_files(tmp_path: Path) -> None:
    text = write_report(tmp_path / "report.qmd", PAGE).read_text()
    assert text.startswith('---\ntitle: "Who is \\"called\\" back?"\nformat:\n')
    lines = [line for line in text.splitlines() if line]
    for line in (
        "simulated data. No \\*model\\* was asked.", "![Effects \\[two\\]](report_files/figure-1.png)", "## Fits",
        "**All**", "| term | p |", "|---|---|", "| a\\|b / .1 | \\< .001 |", "- one & two", "collect --x `y`",
    ):  # fmt: skip
        assert line in lines
    assert "Contents" not in text
    assert "alert" not in text
    assert (tmp_path / "report_files" / "figure-1.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not here")
def test_pandoc_makes_a_word_document_of_the_page(tmp_path: Path) -> None:
    document = zipfile.ZipFile(write_report(tmp_path / "report.docx", PAGE))
    words = document.read("word/document.xml").decode()
    assert "called" in words
    assert "Contents" not in words


SHOWN = [
    *("4.215", "-0.14", "+3", "1. one", "12)", "2026. was", "= x", "- a", "# a", "> q"),
    "*a* _b_ `c` [d](e) <b> &amp; | $x$ ~y~",
]


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not here")
def test_what_is_escaped_reads_as_it_was_in_a_cell_and_on_a_line_of_its_own() -> None:
    lines = "".join(f"{escaped_markdown(text)}\n\n" for text in SHOWN)
    cells = "".join(f"| {escaped_markdown(text)} | x |\n" for text in SHOWN)
    page = f"{lines}| a | b |\n|---|---|\n{cells}"
    made = subprocess.check_output(["pandoc", "-t", "json"], input=page, text=True)
    *lines_read, (_, table) = [(block["t"], block["c"]) for block in json.loads(made)["blocks"]]
    assert [(kind, words_of(content)) for kind, content in lines_read] == [("Para", text) for text in SHOWN]
    assert [words_of(row[1][0][4][0]["c"]) for row in table[4][0][3]] == SHOWN


def words_of(inlines: list[dict[str, Any]]) -> str:
    return "".join(" " if part["t"] in ("Space", "SoftBreak") else part["c"] for part in inlines)


def test_what_is_missing_is_said_before_the_work_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for ending, package in (("docx", "pandoc"), ("pdf", "chromium")):
        with pytest.raises(SlantError, match=f"apt-get install {package}"):
            check_place(tmp_path / f"report.{ending}")
    with pytest.raises(UsageError, match=r"\.html, \.docx, \.pdf or \.qmd"):
        check_place(tmp_path / "report.xlsx")


@pytest.mark.slow
@pytest.mark.needs("R", "duckdb", "knitr")
def test_the_supplement_for_quarto_prints_outcomes_estimates_and_how_they_were_made(root: Path, tmp_path: Path) -> None:
    collect(tmp_path / "a.duckdb", "callbacks", simulated=True)
    fit(tmp_path / "a.duckdb", "callbacks", "amce")
    shutil.copy(root / "inst" / "quarto" / "supplement.qmd", tmp_path)
    there = 'library <- identity; slant <- NULL; params <- list(db = "a.duckdb")'
    typed_in_r(f'{there}\nknitr::knit("supplement.qmd", "made.md")', tmp_path)
    made = (tmp_path / "made.md").read_text("utf-8")
    assert "|gpt-6-luna        |rating    |answered  |" in made
    assert "### amce" in made
    assert "gender by name (gender is a property of name)" in made
    assert "Error" not in made
