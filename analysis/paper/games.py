"""Numbers of games: indices and shares of one cell (a model, a variant as `test`, a format of answers as `condition`),
and what the text of a paper says of several (means, ranges, ratios, differences). Names for several models and formats
("frontier") stand in published_scopes.csv.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from slant.analysis.paper.numbers import VALUE, Numbers, frame_of_numbers
from slant.analysis.paper.published import TEXT, is_of_print, published_numbers, scopes
from slant.analysis.paper.results import GRAIN, Results
from slant.collector.studies.catalogue import Study

CELL = [*GRAIN, "model", "test", "condition"]
INDICES = ("si", "bgd", "gasi", "mutual_information_bits")
RANKS = ("best", "second", "third", "fourth")
_ENDS = ("conf_low", "conf_high")
_IN_DATABASE = ["source", "study_version", "variant", "model"]
_NO_INTERVAL = "No interval is kept here for the games as they are now. It is made by: analyze indices --study {}"
_NO_CHANCE = "What chance gives to games of this kind is not simulated yet. It is by: analyze indices --study {}"
_NO_COMPARISON = (
    "No comparison is kept here of the games as they are now. It is made by: "
    "analyze differences --study {} --reference {} --condition {}"
)
Row = dict[str, Any]
Value = tuple[float | None, str | None] | None
"""The number and what it lacks; None where nothing of it is here."""


def _of_cells(results: Results) -> pl.DataFrame:
    """The indices of every model and participant, and the ends of their t intervals where `analyze indices` has made
    them. A printed number may name no format of answers: that in which a model usually answers has rows
    without, too.
    """
    cells = _cells(results).rename({"shortfall": "missing"})
    rows = pl.concat([_long(cells, list(INDICES)), *_intervals(cells, results)])
    frames = {model.model: model.frame for model in results.study.models}
    format_of_model = pl.col("model").replace_strict(frames, default=results.study.frame, return_dtype=pl.String)
    usual = rows.filter(pl.col("condition") == format_of_model)
    return pl.concat([rows, usual.with_columns(condition=pl.lit(None, pl.String))])


def _intervals(cells: pl.DataFrame, results: Results) -> Iterator[pl.DataFrame]:
    """Where a cell has an index, but no interval of today's games, a row without a number that says what makes one."""
    kept = named(results.table("game_index_intervals").filter("is_current").drop("answer_format"), results)
    of_cells = cells.select(*CELL, "missing", *INDICES).unpivot(
        list(INDICES), index=[*CELL, "missing"], variable_name="index", value_name="value"
    )
    both = of_cells.drop_nulls("value").join(
        kept.select(*CELL, "index", *_ENDS), on=[*CELL, "index"], how="left", maintain_order="left"
    )
    none = _NO_INTERVAL.format(results.study.name)
    for end in _ENDS:
        yield both.select(
            *CELL,
            refusals_removed=pl.lit(None, pl.Boolean),
            quantity=pl.format("{}_" + end, "index"),
            recomputed=pl.col(end).cast(pl.Float64),
            missing=pl.when(pl.col(end).is_null()).then(pl.lit(none)).otherwise("missing"),
        ).select(VALUE)


def _of_questions(results: Results) -> pl.DataFrame:
    """Shares of the groups that a model names after a game, and half the width of their intervals over games (the paper
    does not say how it made its own)."""
    ranked = _ranked(results).rename({"shortfall": "missing"})
    parts = [frame_of_numbers([])]
    for quantity in ranked["quantity"].unique(maintain_order=True):
        rows = ranked.filter(quantity=quantity).drop("quantity")
        names = {"share": quantity, "half_width": f"{quantity}_half_width"}
        parts.append(_long(rows.rename(names), list(names.values())))
    return pl.concat(parts)


def _ranked(results: Results) -> pl.DataFrame:
    """CELL, quantity ("share_best"), n, n_questions, share, half_width, shortfall."""
    rows = results.table("allocation_question_ranks").filter(pl.col("rank") <= len(RANKS))
    rank = pl.col("rank").replace_strict(dict(enumerate(RANKS, start=1)), return_dtype=pl.String)
    return _with_shortfalls(rows, results).select(
        *CELL,
        "n",
        "n_questions",
        "share",
        "shortfall",
        quantity=pl.format("share_{}", rank),
        half_width=(pl.col("conf_high") - pl.col("conf_low")) / 2,
    )


def _of_text(results: Results) -> pl.DataFrame:
    """Of each number of the text that is of several cells, and for which at least one game is here."""
    cells, ranked = _cells(results), _ranked(results)
    several = pl.col("model").is_in(list(scopes(results.study)))
    is_more = pl.col("quantity").is_in(list(_SPECIAL)) | several
    printed = published_numbers(results.study).filter(~is_of_print(results.study), is_more, table=TEXT).to_dicts()
    rows = []
    for grain in _grains(results).iter_rows(named=True):
        mine, answers = (_of_grain(frame, grain) for frame in (cells, ranked))
        for row in printed:
            number = _share(row, answers, results.study) if "percent_" in row["quantity"] else None
            number = number or _number(row, mine, grain, results)
            if number is not None:
                key = (row["model"], row["test"], None, row["condition"], row["quantity"])
                rows.append((*grain.values(), *key, *number))
    return frame_of_numbers(rows)


def _grains(results: Results) -> pl.DataFrame:
    names = ("allocation_game_ends", "elicited_rates", "allocation_question_ranks")
    both = pl.concat([results.table(name).select("source", "study_version") for name in names])
    return both.unique(maintain_order=True).with_columns(variant=pl.lit(results.study.variants[0])).select(GRAIN)


def _number(row: Row, mine: pl.DataFrame, grain: dict[str, str], results: Results) -> Value:
    study, variant, quantity = results.study, str(row["test"]), row["quantity"]
    if quantity in _SPECIAL:
        return _SPECIAL[quantity](row, mine, grain, results)
    models = _scope(row, study)
    if quantity in INDICES:
        return _over(mine, [variant], models, pl.col(quantity).mean())
    if quantity in ("gasi_min", "gasi_max"):
        extreme = pl.col("gasi").min() if quantity == "gasi_min" else pl.col("gasi").max()
        numbers = published_numbers(study).filter(quantity="si_reduction", model=row["model"])
        return _over(mine, [variant, *numbers["test"]], models, extreme)
    if quantity == "si_reduction":
        return _over(mine, [_extended(variant, study), variant], models, _reduction(variant, study))
    if quantity == "si_ratio":
        of = [pl.col("si").filter(model=model).first() for model, _ in models]
        return _over(mine, [variant], models, of[0] / of[1])
    return None


def _scope(row: Row, study: Study) -> list[tuple[str, str]]:
    """The cells (model, format of answers) that a printed number means by a name for several models."""
    return [(model, condition or str(row["condition"])) for model, condition in scopes(study).get(row["model"], [])]


def _extended(variant: str, study: Study) -> str:
    """The variant whose name this one extends: "resettlement" of "resettlement_hair_tattoo"."""
    return min((name for name in study.variants if variant.startswith(f"{name}_")), key=len, default=study.variants[0])


def _over(mine: pl.DataFrame, tests: list[str], models: list[tuple[str, str]], quantity: pl.Expr) -> Value:
    wanted = [(model, test, answer) for test in tests for model, answer in models]
    here = _of(mine, wanted)
    if here.is_empty():
        return None
    number, missing = here.select(quantity).item(), absent_from(wanted, here)
    return number, f"Not here: {missing}." if missing and number is None else missing


def _of(mine: pl.DataFrame, wanted: list[tuple[str, str, str]]) -> pl.DataFrame:
    cell = ["model", "test", "condition"]
    return mine.join(pl.DataFrame(wanted, schema=cell, orient="row"), on=cell, how="semi")


def _share(row: Row, answers: pl.DataFrame, study: Study) -> Value:
    """In per cent, of both models and both formats of answers together."""
    wanted = [(model, str(row["test"]), answer) for model, answer in _scope(row, study)]
    ranked = _of(answers, wanted).filter(quantity=row["quantity"].replace("percent_", "share_"))
    if ranked.is_empty():
        return None
    number = ranked.select(100 * pl.col("n").sum() / pl.col("n_questions").sum()).item()
    return number, absent_from(wanted, ranked)


def _reduction(variant: str, study: Study) -> pl.Expr:
    """The mean over models and formats of answers; each cell has one row of each of the two variants."""
    of = [pl.col("si").filter(test=test).mean() for test in (_extended(variant, study), variant)]
    return of[0] - of[1]


def _below_random(row: Row, mine: pl.DataFrame, grain: dict[str, str], results: Results) -> Value:
    """By the level of chance for games of as many rounds."""
    cell = mine.filter(model=row["model"], test=row["test"], condition=row["condition"])
    if cell.is_empty():
        return None
    values = cell.to_dicts()[0]
    if values["si"] is None or values["random_si"] is None:
        return None, _NO_CHANCE.format(results.study.name)
    return float(values["si"] < values["random_si"]), values["shortfall"]


def _p_value(row: Row, mine: pl.DataFrame, grain: dict[str, str], results: Results) -> Value:
    """Of the difference in SI to the games as they usually are; by a permutation test, whatever the paper's was."""
    model, test, condition = (str(row[name]) for name in ("model", "test", "condition"))
    pair = [(model, variant, condition) for variant in (test, grain["variant"])]
    here = _of(mine, pair)
    if here.height < len(pair):
        return None
    kept = _of_version(results.table("game_comparisons"), grain).filter(
        "is_current",
        between="variant",
        model=model,
        condition=test,
        answer_format=condition,
        reference=grain["variant"],
        index="si",
    )
    if kept.is_empty():
        return None, _NO_COMPARISON.format(results.study.name, grain["variant"], test)
    return kept["p_value"][0], absent_from(pair, here)


def _refused(row: Row, mine: pl.DataFrame, grain: dict[str, str], results: Results) -> Value:
    """1 where every game of this model ended with a refusal."""
    ends = named(_of_version(results.table("allocation_game_ends"), grain), results)
    ends = ends.filter(model=row["model"], test=row["test"])
    return (float((ends["n_refused"] == ends["n_games"]).all()), None) if ends.height else None


def _elicited(row: Row, mine: pl.DataFrame, grain: dict[str, str], results: Results) -> Value:
    """Of the means over conversations of each job."""
    rates = _of_version(results.table("elicited_rates"), grain).filter(model=row["model"])["mean_rate"]
    if rates.is_empty():
        return None
    return 100 * float(str(rates.min() if "_min_" in row["quantity"] else rates.max())), None


_SPECIAL: dict[str, Callable[[Row, pl.DataFrame, dict[str, str], Results], Value]] = {
    "is_below_random": _below_random, "p_value": _p_value, "outcome": _refused, "elicited_min_percent": _elicited,
    "elicited_max_percent": _elicited,
}  # fmt: skip


def _of_grain(rows: pl.DataFrame, grain: dict[str, str]) -> pl.DataFrame:
    return rows.filter(pl.all_horizontal(pl.col(name) == value for name, value in grain.items()))


def _of_version(rows: pl.DataFrame, grain: dict[str, str]) -> pl.DataFrame:
    return rows.filter(source=grain["source"], study_version=grain["study_version"])


def _long(frame: pl.DataFrame, quantities: list[str]) -> pl.DataFrame:
    rows = frame.select(*CELL, "missing", *quantities, refusals_removed=pl.lit(None, pl.Boolean)).unpivot(
        quantities, index=[*CELL, "refusals_removed", "missing"], variable_name="quantity", value_name="recomputed"
    )
    return rows.drop_nulls("recomputed").select(VALUE).with_columns(pl.col("recomputed").cast(pl.Float64))


def _cells(results: Results) -> pl.DataFrame:
    """CELL, the columns of allocation_indices, and `shortfall`: in words, what is not here of the games that the study
    plans; null where all of them have been played, to whatever end.
    """
    return _with_shortfalls(results.table("allocation_indices"), results)


def _with_shortfalls(rows: pl.DataFrame, results: Results) -> pl.DataFrame:
    ends = results.table("allocation_game_ends").select(*_IN_DATABASE, "n_open", n_begun="n_games")
    frame = named(rows.join(ends, on=_IN_DATABASE, how="left", maintain_order="left"), results)
    planned = {name: 1 if study.data.is_pooled else study.data.games for name, study in results.variants.items()}
    words = [_shortfall(row, planned.get(row["test"], 0)) for row in frame.to_dicts()]
    return frame.drop("n_open", "n_begun").with_columns(pl.Series("shortfall", words, dtype=pl.String))


def named(rows: pl.DataFrame, results: Results) -> pl.DataFrame:
    """Rows of a table of games with CELL in place of their variant: of "main.cot", `test` is "main" and `condition`
    "cot"; where nothing else was asked for, it is the format that this model usually answers in.
    """
    frames = {
        name: {"": study.frame, **{model.model: model.frame for model in study.models}}
        for name, study in results.variants.items()
    }
    tests, conditions = [], []
    for variant, model in rows.select("variant", "model").iter_rows():
        test, _, answer = variant.partition(".")
        usual = frames.get(test, {})
        tests.append(test)
        conditions.append(answer or usual.get(model) or usual.get(""))
    cell = {"test": tests, "condition": conditions}
    columns = [pl.Series(name, values, dtype=pl.String) for name, values in cell.items()]
    return rows.with_columns(*columns, variant=pl.lit(results.study.variants[0]))


def _shortfall(row: dict[str, object], planned: int) -> str | None:
    here = int(str(row["n_begun"] or 0)) - int(str(row["n_open"] or 0))
    if here >= planned:
        return None
    return f"{row['model']} in {row['test']}, {row['condition']}: all but {here} of {planned} games"


def _absent_in_words(absent: list[tuple[str, str, str]]) -> list[str]:
    """As "main, react: gpt-4o (cot), o3 (reasoning)": variants that lack the same are told together."""
    lacks: dict[str, list[str]] = {}
    for model, test, answer in absent:
        lacks.setdefault(test, []).append(f"{model} ({answer})")
    tests: dict[str, list[str]] = {}
    for test, words in lacks.items():
        tests.setdefault(", ".join(words), []).append(test)
    return [f"{', '.join(names)}: {words}" for words, names in tests.items()]


def absent_from(wanted: list[tuple[str, str, str]], here: pl.DataFrame) -> str | None:
    """Which of these (model, test, condition) have no games here, and what the others lack, in words; None: nothing."""
    shortfalls = {row[:-1]: row[-1] for row in here.select("model", "test", "condition", "shortfall").iter_rows()}
    absent = _absent_in_words([cell for cell in wanted if cell not in shortfalls])
    partial = [shortfalls[cell] for cell in wanted if shortfalls.get(cell)]
    return "; ".join([*absent, *partial]) or None


_OF_INDICES = (*INDICES, *(f"{index}_{end}" for index in INDICES for end in _ENDS))
_OF_SHARES = (*(f"share_{rank}" for rank in RANKS), *(f"share_{rank}_half_width" for rank in RANKS))
_OF_TEXT = (
    *INDICES[:3], *_SPECIAL, "gasi_min", "gasi_max", "si_reduction", "si_ratio", *(f"percent_{rank}" for rank in RANKS),
)  # fmt: skip
_TABLES = ("allocation_indices", "allocation_game_ends")
NUMBERS = (
    Numbers("games", _OF_INDICES, _of_cells, (*_TABLES, "game_index_intervals"), is_table_of_models=True),
    Numbers("questions", _OF_SHARES, _of_questions, ("allocation_question_ranks", *_TABLES), is_table_of_models=True),
    Numbers("games_in_text", _OF_TEXT, _of_text, (*_TABLES, "game_comparisons", "elicited_rates")),
)
