"""The report: complete in itself, honest about its source, and safe to open."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.pages.check_page import page_of_checks, summary_of_checks, write_page
from slant.analysis.pages.provenance import describe_methods, without_folders
from slant.analysis.pages.report_tables import fit_table, term_words
from slant.analysis.plots.drawing import draw
from slant.analysis.questions.checks.study_checks import quick_checks
from slant.collector.errors import UsageError
from slant.collector.studies.catalogue import load_study
from tests.support.fitted import RUN, small_database, trials
from tests.support.given import Row, database
from tests.support.made_once import EVIL, hostile_report
from tests.support.tiny_study import write_tiny

COMMAND = "/home/me/bin/collect --db '/home/me/my data/a.duckdb' --x=/srv/y"


class Page(HTMLParser):
    """Tags and addresses of a page, and whether each opened tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.alternatives: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "img", "wbr"):
            self.open.append(tag)
        found = dict(attributes)
        self.addresses += [str(found[name]) for name in ("src", "href") if name in found]
        if tag == "img":
            self.alternatives.append(found.get("alt") or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return hostile_report(tmp_path_factory).read_text("utf-8")


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of data with all there can be to warn of, and with what nobody elsewhere should see or run."""
    rows: list[Row] = []
    for n, row in enumerate(trials()):
        odd = {"tokens": 64} if row["model"] == "o3-mini" else {"token_source": "output" if n % 2 else "usage"}
        rows.append({**row, **odd})
    rows.append({**rows[-1], "trial_id": "t1"})
    rows.append({**rows[0], "trial_id": "t_of_another_model", "served_model": EVIL})
    run = {**RUN, "machine": "Linux-of-mine", "command": COMMAND, "study_file": "/home/me/own.toml"}
    folder = tmp_path_factory.mktemp("troubled")
    return analysis.report(database(folder / "a.duckdb", rows, [run]), out=folder / "r.html").read_text("utf-8")


def warnings_of(page: str) -> str:
    return page[page.index("What limits this") : page.index("<main>")]


def test_the_page_loads_nothing_and_runs_only_its_own_script(text: str) -> None:
    page = Page(text)
    assert page.open == []
    assert not {"link", "iframe", "object"} & set(page.tags)
    inside = [address for address in page.addresses if address.startswith("#")]
    assert all(f'id="{address[1:]}"' in text for address in inside)
    assert all(address.startswith("data:image/png;base64,") for address in page.addresses if address not in inside)
    assert "default-src 'none'" in text
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert f"script-src 'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in text
    assert not re.search(r"url\(|@import|https?://", re.sub(r"base64,[^\"]+", "", text))


def test_figures_have_words_for_those_who_do_not_see_them(text: str) -> None:
    alternatives = Page(text).alternatives
    assert len(alternatives) == 5
    assert all("Simulated" in words and len(words) > 80 for words in alternatives)


def test_a_simulated_page_says_so_on_top(text: str) -> None:
    head = text[text.index("<body>") : text.index("<main>")]
    assert "simulated</strong> data. No model was asked." in head


def test_every_table_of_the_paper_is_there_with_the_print_below(text: str) -> None:
    assert re.findall(r"<summary>Table (S\d+)\.", text) == ["S3", "S4", "S5", "S6", "S7"]  # two of the five models
    assert "<small>63.94</small>" in text


@pytest.mark.slow
def test_the_page_says_whether_effects_hold_for_other_words_in_a_sentence_and_in_each_row(text: str) -> None:
    said = re.search(r"Of (\d) significant effects?, (\d) stay so over other words and wordings", text)
    assert said is not None
    over_words = text[text.index("smallest detectable effects</") :]
    cells = over_words[: over_words.index("</table>")]
    verdicts = re.findall(r"<td[^>]*>(stays|lost|gained|not significant|already in model)<", cells)
    assert len(verdicts) == 2
    assert [str(sum(word in ("stays", "lost") for word in verdicts)), str(verdicts.count("stays"))] == [*said.groups()]
    for head in ("SE ratio", "MDE", "MDE (d)"):
        assert f">{head}<" in text


def test_checks_stand_in_the_report_in_short_with_cautions_first_and_what_to_type_for_the_rest(text: str) -> None:
    checks = text[text.index('<h2 id="checks">') : text.index('<h2 id="more">')]
    standings = re.findall(r"<strong>(Caution|Note|Not found|Not checked):</strong>", checks)
    assert standings == sorted(standings, key=["Caution", "Note", "Not found", "Not checked"].index)
    assert len(standings) > 5
    assert f"{standings.count('Not found')} without objection" in checks
    assert "further fits are needed: residuals, influence, variance shares, words, option order." in checks
    assert "analyze check --study rmiat --out check.html" in checks


@pytest.mark.slow
def test_a_report_links_to_the_page_of_checks_of_its_study_beside_it(tmp_path: Path) -> None:
    db = small_database(tmp_path / "a.duckdb")
    checks = quick_checks(db, load_study("rmiat"), {}, workers=1)
    write_page(checks, tmp_path / "my check.html", workers=1)
    page = (tmp_path / "my check.html").read_text("utf-8")
    summary = summary_of_checks(checks, tmp_path / "r.html")
    (part,) = summary["parts"]
    assert summary["page"]["href"] == "my%20check.html"
    assert {link.partition("#")[2] for link in part["links"].values()} <= set(re.findall(r'article id="([^"]+)"', page))
    assert page_of_checks(tmp_path / "my check.html", "rmiat") is None
    assert page_of_checks(tmp_path / "r.html", "interference") is None


def test_a_table_of_a_fit_has_heads_and_verdicts_that_a_reader_knows() -> None:
    columns = {"term": "conditionb", "refusals_removed": True, "estimate": 1.5, "p_value": 0.0001, "verdict": "lost"}
    table = fit_table(pl.DataFrame([columns, {**columns, "refusals_removed": False, "verdict": "already_in_model"}]))
    assert table["heads"] == ["term", "answers", "estimate", "p", "over words and wordings"]
    first, second = table["rows"]
    assert first == ["conditionb", "without refusals", "1.5", "< .001", "no longer significant"]
    assert second[4] == "this model already has these slopes"


@pytest.mark.parametrize(
    ("term", "words"),
    [
        ("intercept", "intercept"),
        ("genderman", "gender: man"),
        ("genderman:jobnurse: ward", "gender: man × job: nurse: ward"),
        ("jobnurse", "job: nurse"),
        ("job: nurse", "job: nurse"),
        ("gender_of_namex:genderman", "gender_of_namex × gender: man"),
        ("age", "age"),
        ("genderwomanly", "genderwomanly"),
    ],
)
def test_a_coefficient_names_factor_and_level_apart(term: str, words: str) -> None:
    levels = {"gender": ("woman", "man"), "job": ("nurse", "nurse: ward")}
    assert term_words(term, levels) == words


def test_labels_from_files_and_servers_are_escaped(text: str) -> None:
    assert "Flowers &lt;b&gt;&amp; Insects&lt;/b&gt;" in text
    assert EVIL not in text
    assert "&lt;script&gt;" in text


@pytest.mark.slow
def test_warnings_stand_on_top(troubled: str) -> None:
    warnings = warnings_of(troubled)
    for sentence in (
        "o3-mini",
        "with two final answers",
        "No data (simulated): o3-mini in ",
        "Served model differs",
        "Mixed: deepseek-r1 (simulated) has token counts of 2 kinds (output + usage).",
        "Token counts of 2 kinds are mixed: output, usage.",
    ):
        assert sentence in warnings
    assert "qwen3-8b in " not in warnings  # a model of the paper that nobody asked here


@pytest.mark.slow
def test_a_model_outside_the_paper_has_all_its_numbers_and_no_print(tmp_path: Path) -> None:
    rows = [{**row, "model": "local/small", "token_source": "output"} for row in trials() if row["model"] == "o3-mini"]
    page = analysis.report(database(tmp_path / "a.duckdb", rows, [RUN]), out=tmp_path / "r.html").read_text("utf-8")
    assert "Mixed models, local/small (simulated, not in the paper)" in page
    for number in re.findall(r'<td class="number ([a-z-]+)">([^<]+)<', page):
        assert number[0] == "not-printed"
        assert number[1] not in ("", "no data")
    sizes = analysis.fit(tmp_path / "a.duckdb", "rmiat", "effect_size").table["estimate"]
    assert f">{sizes[0]:.2f}</td>" in page
    assert "No data" not in page
    assert "Tokens are, for local/small: all output tokens." in page


@pytest.mark.slow
def test_variants_have_sections_of_their_own_without_print(tmp_path: Path) -> None:
    other = [{**row, "variant": "balanced"} for row in trials() if row["model"] == "deepseek-r1"]
    rows = [*trials(), *other]
    page = analysis.report(database(tmp_path / "a.duckdb", rows, [RUN]), out=tmp_path / "r.html").read_text("utf-8")
    base, balanced = page.split("variant base.")[1].split("variant balanced.")
    assert "<small>63.94</small>" in base
    assert "<small>" not in balanced
    assert "Mixed models, DeepSeek-R1" in balanced


@pytest.mark.slow
def test_the_page_tells_neither_machine_nor_folders(troubled: str) -> None:
    assert "collect --db &#39;a.duckdb&#39; --x=y" in troubled
    words = re.sub(r"base64,[A-Za-z0-9+/=]+", "", troubled)  # in whose letters a picture may spell anything
    for secret in ("Linux-of-mine", "/home", "my data", "/srv", "/tmp"):
        assert secret not in words
    harmless = "--model openai/o3 --base-url http://h:80/v1/x"
    assert without_folders(harmless) == harmless


def test_a_figure_that_can_not_be_drawn_is_a_sentence_in_its_place() -> None:
    (found,) = draw([("plot_tokens", pl.DataFrame({"model": ["m"]}))], workers=1)
    assert isinstance(found, str)
    assert "column" in found


def test_a_place_that_can_not_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Can't write the report"):
        analysis.report(small_database(tmp_path / "a.duckdb"), out=tmp_path / "no" / "r.html")


@pytest.mark.slow
def test_without_r_the_tables_of_counts_stand_beside_the_print_and_the_rest_is_said_to_be_missing(
    root: Path, tmp_path: Path
) -> None:
    db, out = small_database(tmp_path / "a.duckdb"), tmp_path / "r.html"
    code = "from slant.analysis.cli.main import analyze; analyze(prog_name='analyze')"
    command = [sys.executable, "-c", code, "report", "--db", str(db), "--out", str(out)]
    subprocess.run(command, cwd=root, env={"PATH": "/"}, capture_output=True, check=True)
    page = out.read_text("utf-8")
    warnings = warnings_of(page)
    assert warnings.count("Omitted") == 1
    assert "Omitted, because R failed: R is not on this machine" in warnings
    assert re.findall(r"<summary>Table (S\d+)\.", page) == ["S4", "S5"]
    assert "<small>63.94</small>" in page
    assert Page(page).alternatives == []


@pytest.mark.slow
def test_a_study_of_ones_own_is_reported_by_its_own_fits(tmp_path: Path) -> None:
    view, formula = 'view = "association_trials"\n', 'formula = "tokens ~ (1 | wording)"'
    own = """view = "trials"
formula = "tokens ~ condition + (1 | wording)"
levels = { condition = ["compatible", "incompatible"], wording = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }"""
    study = write_tiny(tmp_path, study=(view + formula, own))
    rows = [{**row, "study": "drinks", "test": "tea_coffee"} for row in trials()]
    db = database(tmp_path / "a.duckdb", rows, [{**RUN, "study": "drinks", "design": "association"}])
    page = analysis.report(db, str(study), tmp_path / "r.html").read_text("utf-8")
    assert "<h1>Tea and coffee</h1>" in page
    assert "lme4: estimates with 95 % intervals" in page
    assert len(Page(page).alternatives) == 3
    assert "refusal_<wbr>counts" not in page  # a table of another study
    assert "outcome_counts: what came of the trials" in page
    assert "Table S" not in page  # of somebody else's paper


@pytest.mark.slow
def test_methods_name_each_run_once_and_not_the_machine(tmp_path: Path) -> None:
    same = {**RUN, "seed": 1, "repetitions": 1, "machine": "Linux-of-mine"}
    runs = [{**same, "run_id": f"r{day}", "started_at": f"2026-01-0{day}"} for day in (1, 2)]
    rows = [{**row, "run_id": "r1" if n % 2 else "r2"} for n, row in enumerate(trials())]
    told = describe_methods(database(tmp_path / "a.duckdb", rows, runs), ["r1", "r2"])
    assert [("r1, r2" in one.paragraph, "Linux" in one.paragraph) for one in told] == [(True, False)]
