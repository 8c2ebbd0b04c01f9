"""The report of a database that holds topics: their words, sizes and examples, whatever a model wrote in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from slant import analysis
from slant.analysis.plots.registry import figure_rows
from slant.collector.studies.catalogue import load_study
from tests.support.given import database
from tests.support.topics_made import QUICK, RUN, talking

EVIL = "<script>evil = 1</script>"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [{**row, "reasoning_text": f"{row['reasoning_text']} {EVIL}"} for row in talking()]
    path = database(tmp_path_factory.mktemp("topics") / "a.duckdb", rows, [RUN])
    for topics in (3, 2):
        analysis.fit(path, fit="stm", settings={**QUICK, "topics": topics})
    return path


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_topics_have_a_section_with_a_figure_and_escaped_examples(db: Path, tmp_path: Path) -> None:
    page = analysis.report(db, out=tmp_path / "r.html").read_text("utf-8")
    section = page[page.index('<h2 id="topics-1">') : page.index('<h2 id="more">')]
    for table in ("topic_models", "topic_proportions (Table S13)", "topic_prevalence (Table S14)", "topic_examples"):
        assert f"<summary>{table}: " in section
    assert EVIL not in page
    assert "&lt;script&gt;evil = 1&lt;/script&gt;" in section
    assert 'alt="Shares of 2 topics with 95 % intervals' in page


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_the_figure_of_topics_is_of_the_fit_that_was_made_last(db: Path) -> None:
    (found,) = figure_rows(db, load_study("rmiat"), ["topic_prevalence"])
    assert found.rows["topic"].unique().sort().to_list() == [1, 2]
    assert found.rows["words"].null_count() == 0
    assert found.rows["call_id"].n_unique() == 1
