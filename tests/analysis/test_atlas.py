"""Do newer models lean more? Effects of several files by model and date of release."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.questions.atlas import _about
from slant.collector.errors import UsageError
from tests.support.commands import run_analyze
from tests.support.each_row import each_row
from tests.support.fitted import RUN
from tests.support.given import Row, database

pytestmark = pytest.mark.needs("metafor")
MAKERS = ("gpt", "claude", "qwen", "grok", "kimi")
PER_YEAR, FIRST = 30, 20


def answers(makers: tuple[str, ...], years: tuple[int, ...] = (2023, 2024, 2025)) -> Iterator[Row]:
    """A model of each maker and year; the effect of the condition grows by 30 tokens a year, after 20 in 2023."""
    draw = random.Random(1)
    for model, year in ((f"{maker}-{year - 2020}-{year}-06-01", year) for maker in makers for year in years):
        for number in range(160):
            condition = ("compatible", "incompatible")[number % 2]
            effect = (FIRST + PER_YEAR * (year - 2023)) * (number % 2)
            item, wording = ("aster", "tulip", "wasp", "ant")[number // 2 % 4], number // 8 + 1
            yield {
                "trial_id": f"{model} {number}", "model": model, "requested_model": model, "condition": condition,
                "item": item, "wording": wording, "prompt_hash": f"h{number}", "answer": "Pleasant",
                "tokens": round(draw.gauss(200 + effect, 20)),
            }  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two files that share the models of one maker."""
    folder, run = tmp_path_factory.mktemp("atlas"), {**RUN, "models": []}
    return [
        database(folder / f"{name}.duckdb", answers(makers), [run])
        for name, makers in (("a", MAKERS[:3]), ("b", MAKERS[2:]))
    ]


def test_a_trend_over_dates_is_found_and_what_lies_in_two_files_counts_once(files: list[Path]) -> None:
    found = analysis.atlas([*files, files[0]])
    trend = found.table.filter(row="trend").row(0, named=True)
    assert trend["conf_low"] < PER_YEAR < trend["conf_high"] < 2 * PER_YEAR
    assert "condition: incompatible: newer models of a family lean more" in found.summary[0]
    assert found.n_twice == 4 * 3 * 160
    once = analysis.atlas(files[:1]).table.filter(row="cell")
    several = found.table.filter((pl.col("row") == "cell") & pl.col("model").is_in(once["model"].to_list()))
    assert several.sort("model")["std_error"].to_list() == pytest.approx(once.sort("model")["std_error"].to_list())
    models = found.table.filter(row="of_model")
    assert models["released"].is_sorted()
    assert set(models["maker"]) == {"openai", "anthropic", "alibaba", "xai", "moonshot"}


def test_under_five_makers_a_sentence_stands_for_the_interval(files: list[Path]) -> None:
    found = analysis.atlas(files[:1])
    assert found.table.filter(row="trend")["conf_low"].to_list() == [None]
    assert len(found.summary) == 1
    assert found.summary[0].endswith(": +29.6 a year, of 3 makers: too few for an interval.")
    assert any("3 of the makers have models of several dates, and it takes 5" in text for text in found.warnings)


def test_effects_without_an_error_are_left_out_and_named(files: list[Path], tmp_path: Path) -> None:
    same = [{**row, "tokens": 100} for row in answers(MAKERS[:1])]
    alike = database(tmp_path / "c.duckdb", same, [{**RUN, "models": []}])
    found = analysis.atlas([alike])
    assert found.table.filter(row="cell").is_empty()
    assert any("3 effects without an error" in text for text in found.warnings)


def test_the_shell_writes_a_page_a_figure_and_rows_to_share(files: list[Path], tmp_path: Path) -> None:
    told, page, shared = (tmp_path / name for name in ("models.csv", "a.html", "a.parquet"))
    told.write_text("model,maker\n" + "".join(f"{maker}-3-2023-06-01,one house\n" for maker in MAKERS))
    words = ["atlas", *map(str, files), "--models", str(told), "--page", str(page), "--out", str(shared)]
    result = run_analyze(*words, "--figure", tmp_path / "a.svg", "--format", "csv")
    assert result.exit_code == 0, result.stderr
    rows = pl.read_parquet(shared)
    assert pl.read_csv(result.stdout.encode()).shape == rows.shape
    assert "one house" in rows["maker"].to_list()
    assert "newer models of a family lean more" in result.stderr
    assert "Effects of 15 models by date of release" in page.read_text("utf-8")
    assert (tmp_path / "a.svg").stat().st_size > 10_000


@each_row(("name", "about"), [
    ("gpt-4o-2024-08-06", ("2024-08-06", "openai", "gpt 4")), ("gpt-4-0613", (None, "openai", "gpt 4")),
    ("claude-3-opus@20240229", ("2024-02-29", "anthropic", "claude 3")),
    ("claude-sonnet-4-5-20250929", ("2025-09-29", "anthropic", "claude 4.5")),
    ("meta-llama/llama-3.1-70b", (None, "meta", "llama 3.1")), ("o3-mini", (None, "openai", "o3")),
    ("new-house/thing-120240229-20241345", (None, "new-house", "thing 120240229")),
])  # fmt: skip
def test_dates_makers_and_generations_are_read_from_names(name: str, about: tuple[str | None, ...]) -> None:
    trials = pl.DataFrame({"model": ["m"], "requested_model": [name], "served_model": [None]})
    assert _about(trials, None).row(0)[1:] == about


def test_what_an_atlas_can_t_be_of_ends_in_a_sentence(files: list[Path], tmp_path: Path) -> None:
    wrong = tmp_path / "models.csv"
    wrong.write_text("model,released\ngpt-3-2023-06-01,spring\n")
    with pytest.raises(UsageError, match='released on no date, "spring"'):
        analysis.atlas(files, models=wrong)
    with pytest.raises(UsageError, match="No file has answers"):
        analysis.atlas(files, study="hiring")
    result = run_analyze("atlas", files[0], "--out", "a.xlsx")
    assert (result.exit_code, "must end in" in result.stderr) == (2, True)
