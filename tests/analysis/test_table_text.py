"""Tables as LaTeX and Markdown: what is printed is what was there, whatever a model wrote."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.analysis import table_text
from slant.collector import collect
from slant.collector.errors import UnknownNameError
from slant.collector.screen_tables import screen_table
from tests.support.commands import run_analyze
from tests.support.given import database
from tests.support.tiny_study import write_tiny

HOSTILE = r"\input{/etc/passwd} $x^2$ 50% & _a_ #1 {y} ~ [z] *b* -- <q> |c| `d` \\ \end{tabular}"
ROWS = pl.DataFrame({"model": ["o3", HOSTILE], "d": [1.234567891, -2.5e-7], "n": [12, None]})


def cells_of(line: str) -> list[str]:
    return re.split(r"(?<!\\)\|", line.strip().strip("|").strip())


def test_latex_has_a_rule_above_below_and_numbers_to_the_right() -> None:
    text = table_text(ROWS.head(1), caption="Costs & more", label="tab:costs")
    assert r"\begin{tabular}{lrr}" in text
    assert r"\caption{Costs \& more}" in text
    assert r"\label{tab:costs}" in text
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert r"o3 & 1.23457 & 12 \\" in text


def test_numbers_have_a_true_minus_and_unknown_is_empty() -> None:
    last = table_text(ROWS).splitlines()[-4]
    assert last.endswith(r"& $-2.5 \times 10^{-7}$ &  \\")


def test_a_hostile_answer_is_shown_in_latex_and_commands_nothing() -> None:
    line = table_text(ROWS).splitlines()[-4]
    own = re.sub(r"\\text\w+\{\}|\\[{}$&#%_]|\{[\[\]*'-]\}", "", line.partition(" & ")[0])
    assert not set(own) & set("\\{}$&#%_^~[]*<>|`")


def test_a_long_table_goes_over_pages() -> None:
    text = table_text(pl.DataFrame({"n": range(41)}), caption="Long", label="tab:n")
    assert r"\begin{longtable}{r}" in text
    assert r"\label{tab:n} \\" in text
    assert r"\begin{table}" not in text


def test_markdown_is_a_table_in_which_a_cell_stays_one_cell() -> None:
    lines = table_text(ROWS, "markdown", caption="Two", label="tab:two").splitlines()
    assert lines[1] == "| --- | ---: | ---: |"
    assert [len(cells_of(line)) for line in lines[:4]] == [3, 3, 3, 3]
    assert lines[-1] == ": Two {#tab:two}"


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_whatever_a_model_wrote_a_row_stays_one_line(texts: list[str]) -> None:
    frame = pl.DataFrame({"answer": [text.encode("utf-8", "replace").decode() for text in texts]})
    assert len(table_text(frame, "markdown").splitlines()) == 2 + len(texts)
    assert len(table_text(frame).splitlines()) == 10 + len(texts)


def test_another_format_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="latex"):
        table_text(ROWS, "latx")


def latex_of(table: str, db: Path, *more: str) -> str:
    return run_analyze("tables", table, "--format", "latex", "--db", db, *more).stdout


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    collect(folder / "a.duckdb", write_tiny(folder), ["simulated/small"])
    return folder / "a.duckdb"


@pytest.mark.slow
@pytest.mark.parametrize(("table_format", "words"), [("latex", r"\caption{"), ("markdown", "| --- |")])
def test_the_command_prints_one_table_in_a_format_of_papers(db: Path, table_format: str, words: str) -> None:
    answer = run_analyze("tables", "outcome_counts", "--format", table_format, "--db", db)
    assert (answer.exit_code, words in answer.stdout) == (0, True)
    several = run_analyze("tables", "--format", table_format, "--db", db)
    assert (several.exit_code, "prints only one table: name it" in several.stderr) == (2, True)


@pytest.mark.slow
def test_a_caption_names_the_table_of_the_paper_only_where_the_study_has_one(db: Path, tmp_path: Path) -> None:
    run = {"run_id": "r2", "study": "mine", "study_version": "v1", "source": "simulated", "design": "association"}
    mixed = database(tmp_path / "a.duckdb", [{}, {"run_id": "r2", "study": "mine"}], [run])
    assert r"\caption{tokens\_by\_condition (Table S5): how long" in latex_of(
        "tokens_by_condition", mixed, "--study", "rmiat"
    )
    for text in latex_of("tokens_by_condition", mixed), latex_of("tokens_by_condition", db):
        assert r"\caption{tokens\_by\_condition: how long" in text
    on_terminal = run_analyze("tables", "tokens_by_condition", "--db", mixed).stdout
    assert on_terminal.startswith("tokens_by_condition: how long")


@pytest.mark.slow
def test_latex_itself_takes_every_table_and_a_hostile_answer(db: Path, tmp_path: Path) -> None:
    if (program := shutil.which("pdflatex")) is None:
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-recommended)")
    long = pl.concat([ROWS] * 30)
    one = run_analyze("tables", "costs", "--format", "latex", "--db", db).stdout
    tables = [table_text(ROWS, caption=HOSTILE, label="tab:a"), table_text(long, caption="Long", label="tab:b"), one]
    parts = [r"\documentclass{article}", r"\usepackage[T1]{fontenc}", r"\usepackage{textcomp,booktabs,longtable}"]
    document = "\n".join([*parts, r"\begin{document}", *tables, r"\end{document}"])
    (tmp_path / "t.tex").write_text(document, "utf-8")
    words = [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "t.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "t.pdf").stat().st_size > 1000


def test_a_run_in_a_narrow_terminal_shows_what_was_malformed_and_its_zeros_above() -> None:
    row = {"model": "tiny", "planned": 512, "already_done": 0, "asked": 512, "answered": 400, "refused": 6}
    row |= {"filtered": 0, "truncated": 6, "malformed": 100, "rejected": 0, "failed": 0}
    shown = screen_table(pl.DataFrame([row]), 80)
    assert shown.above == "already_done: 0; filtered: 0; rejected: 0; failed: 0"
    assert shown.left_out == []
    assert {"truncated", "malformed"} <= set(shown.frame.columns)
