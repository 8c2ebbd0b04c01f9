"""List the sources of numbers of each design: the views in sql/views/3_paper, and in Python what SQL can't give.

Printed numbers of games are checked without raw data, too: by the study's design, by other printed numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

import duckdb
import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.paper import published
from slant.analysis.paper.numbers import CELL, PRINT, SCHEMA, Numbers, fits_of_view, numbers_of_view
from slant.analysis.paper.topic_match import matched, missing_of_print, printed_models, printed_topics
from slant.analysis.questions.topics.topic_models import STALE, models_to_show
from slant.analysis.rows.views import views_of_papers
from slant.collector.errors import UnknownNameError
from slant.collector.keep.frames import frame_of, registered
from slant.collector.studies.catalogue import Study, load_variants
from slant.collector.system.shipped_files import sql_query

_CELL = ("model", "test", "condition")
_RANKS = ("best", "second", "third", "fourth")
FACTS: dict[str, Any] = {**dict.fromkeys(("kind", *_CELL, "quantity"), pl.String), "value": pl.Float64}
"""Hold what is known besides the print: constants of the design, indices of printed matrices, levels of chance."""
_NUMBER = r"^-?(\d+\.?\d*|\.\d+)$"
Fact = tuple[str, str | None, str | None, str | None, str, float]


def _recomputed_here(views: published.StudyViews) -> pl.DataFrame:
    study = views.study
    numbers = checked(study, pl.DataFrame(list(_facts(study)), schema=FACTS, orient="row"))
    grain = {"source": PRINT, "study_version": study.version, "variant": study.variants[0]}
    return numbers.with_columns(missing=pl.lit(None, pl.String), **{name: pl.lit(text) for name, text in grain.items()})


def checked(study: Study, facts: pl.DataFrame) -> pl.DataFrame:
    """Return KEY and `recomputed`: what each printed number should be, by the other ones and by these facts (FACTS)."""
    is_number = pl.col("printed").str.contains(_NUMBER)
    keys = published.not_checkable(study).select(published.KEY).rename({"table": "place"})
    unchecked = keys.unique().with_columns(is_unchecked=True)
    printed = (
        published.printed_numbers(study)
        .with_columns(value=pl.when(is_number).then("printed").cast(pl.Float64, strict=False))
        .join(unchecked, on=["place", *published.KEY[1:]], how="left", nulls_equal=True, maintain_order="left")
    )
    with (
        duckdb.connect() as connection,
        registered(connection, "printed", printed),
        registered(connection, "scopes", published.printed_scopes(study)),
        registered(connection, "facts", facts),
    ):
        numbers: pl.DataFrame = frame_of(connection.sql(sql_query("print_checks")))
    return numbers.rename({"place": "table"})


def _facts(study: Study) -> Iterator[Fact]:
    printed = published.printed_numbers(study)
    variants = load_variants(study.path)
    for name, variant in variants.items():
        yield from (("design", None, name, None, *constant) for constant in _constants(variant))
    if printed.filter(place="matrices", quantity="si").height:
        yield from _facts_of_matrices(study)
    if printed.filter(pl.col("quantity").is_in(["si", "bgd"]), place="text", model="random").height:
        for index, (level, *_) in chance(study, study.data.rounds, study.data.games, False).items():
            yield "chance", None, None, None, index, level
        for test in printed.filter(quantity="n_cells_below_random")["test"].unique():
            pooled = variants[test].data
            yield "pooled chance", None, test, None, "si", chance(study, pooled.games * pooled.rounds, 1, True)["si"][0]


def _constants(variant: Study) -> Iterator[tuple[str, float]]:
    """Return constants of the design, for the study as it is played here."""
    data, success = variant.data, variant.data.success
    of_class = {len(job_class.jobs) for job_class in data.classes}
    yield from {"n_rounds": data.n_rounds, "n_jobs": len(data.jobs), "n_classes": len(data.classes)}.items()
    yield from {"n_groups": len(data.groups), "n_games": data.games, "temperature": variant.temperature}.items()
    if len(of_class) == 1:
        yield "n_jobs_of_class", of_class.pop()
    if success.kind == "constant":
        yield "success", success.rates[0]
    elif success.kind == "latin_square":
        yield from ((f"success_{rank}", rate) for rank, rate in zip(_RANKS, success.rates, strict=False))


def _facts_of_matrices(study: Study) -> Iterator[Fact]:
    for cell, values in matrix_indices(study).items():
        model, test, condition = cell
        yield from (("matrices", model, test, condition, index, value) for index, value in values.items())
    of_class = matrices(study).group_by("cell", "game", "class").agg(pl.col("n").sum())["n"]
    yield "matrices", None, None, None, "job_order", float(of_class.n_unique() == 1)


def matrices(study: Study) -> pl.DataFrame:
    """Return the printed matrices: model, test, condition, game, group, class, n, and `cell`, a name for the first
    three.
    """
    rows = published.published_rows(study, "matrices", "group", "n")
    whole = rows.with_columns(pl.col(name).cast(pl.Int64) for name in ("game", "group", "n"))
    return whole.with_columns(cell=pl.concat_str(_CELL, separator=", "))


def matrix_indices(study: Study) -> dict[tuple[str, ...], dict[str, float]]:
    """Return R's matrix_indices() of them by cell and index, with half-width and ends of the t interval of SI."""
    long = matrices(study).select("cell", "game", "group", "class", "n")
    rows: pl.DataFrame = answered(Call("matrix_indices", long, {"by": ["cell"], "n_draws": 0}))
    cells: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows.to_dicts():
        values = cells.setdefault(tuple(row["cell"].split(", ")), {})
        values[row["index"]] = row["estimate"]
        if row["index"] == "si":
            values |= {"si_conf_low": row["conf_low"], "si_conf_high": row["conf_high"]}
            values["si_half_width"] = row["conf_high"] - row["estimate"]
    return cells


def chance(study: Study, rounds: int, games: int, is_balanced: bool) -> dict[str, tuple[float, float, float]]:
    """Return R's random_level() for the study's groups and classes by index: level, and ends of 95 % of random
    cells."""
    sizes = tuple(float(len(job_class.jobs)) for job_class in study.data.classes)
    return dict(_levels(rounds, len(study.data.groups), sizes, is_balanced, games))


@cache
def _levels(*kind: Any) -> tuple[tuple[str, tuple[float, float, float]], ...]:
    """Simulate the level of one kind of cell, with one seed: it is always the same."""
    names = ("n_rounds", "n_groups", "class_sizes", "balanced", "n_games")
    rows = answered(Call("random_level", arguments=dict(zip(names, kind, strict=True)))).to_dicts()
    return tuple((row["index"], (row["level"], row["level_low"], row["level_high"])) for row in rows)


PRINT_NUMBERS = Numbers("print_checks", (), _recomputed_here, is_of_print=True)


Tables = dict[str, pl.DataFrame]
Key = tuple[str | None, str | None, bool | None, str | None, str]
Number = tuple[Key, float | None, str | None]
"""List KEY without its place, the number, and why there is none."""
_VIEWS = ("topic_models", "topic_words", "topic_proportions", "topic_prevalence", "topic_effects")
_BIAS_TOPIC = 3  # the number of the paper's topic about bias
_PAPERS_EFFECTS = "~condition*model"
_OF_CONDITION = ("stm_topic3_condition_b", "stm_topic3_condition_se", "stm_topic3_condition_p")
_OF_TOPICS = (*_OF_CONDITION, "topic3_pct")
_PREVALENCE = {"proportion_pct": "estimate", "ci_low": "conf_low", "ci_high": "conf_high"}
_OF_FEWER = "The stored topic model covers only the texts here. Missing: {}."
_NO_COEFFICIENT = (
    "It is a coefficient of ~ condition * model with {} as the reference; the stored topic model "
    "has no such coefficient."
)


def _recomputed(views: published.StudyViews) -> pl.DataFrame:
    """Return the numbers of the stored topic model of each source, version and variant, matched to the print by its
    words."""
    topics, frames = printed_topics(views.study), {name: views.view(name) for name in _VIEWS}
    if frames["topic_models"].is_empty() or not topics:
        return pl.DataFrame(schema=SCHEMA)
    missing = {tuple(row[:-1]): row[-1] for row in missing_of_print(views).iter_rows()}
    rows: list[tuple[Any, ...]] = []
    for fit in models_to_show(views.db, views.study).to_dicts():
        grain = tuple(fit[name] for name in published.GRAIN)
        if not fit["is_own"]:
            rows += [(*grain, *key, None, STALE) for key in _all_keys(views.study)]
            continue
        tables = {name: frame.filter(pl.col("call_id") == fit["call_id"]) for name, frame in frames.items()}
        match = matched(tables["topic_words"], topics)
        lacks = missing.get(grain)
        of_fit = [*_tables(tables, match), *_claims(tables, match, fit, views.study)]
        rows += [(*grain, *key, n, lacks if n is not None else why_not) for key, n, why_not in of_fit]
        absent = [key for key in _all_keys(views.study) if key not in {key for key, *_ in of_fit}]
        rows += [(*grain, *key, None, lacks and _OF_FEWER.format(lacks)) for key in absent]
    numbers = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return numbers.filter(pl.col("recomputed").is_not_null() | pl.col("missing").is_not_null())


def _all_keys(study: Study) -> Iterator[Key]:
    for topic in printed_topics(study):
        yield (None, None, True, None, f"topic {topic} proportion_pct")
    for model in printed_models(study):
        yield from ((model, None, True, None, quantity) for quantity in _PREVALENCE)
    yield from (_key(claim) for claim in _printed_claims(study))


def _printed_claims(study: Study) -> list[dict[str, Any]]:
    """Return the text's numbers about topics, each with the `name` of its quantity."""
    name = pl.col("quantity").str.split(" ").list.last()
    text = published.published_numbers(study).filter(table=published.TEXT).with_columns(name=name)
    return text.filter(pl.col("name").is_in(_OF_TOPICS)).to_dicts()


def _key(claim: dict[str, Any]) -> Key:
    return (claim["model"], claim["test"], None, None, claim["quantity"])


def _tables(tables: Tables, match: pl.DataFrame) -> Iterator[Number]:
    shares = dict(tables["topic_proportions"].select("topic", "proportion").iter_rows())
    for row in match.to_dicts():
        share = shares.get(row["topic"])
        key = (None, None, True, None, f"topic {row['paper_topic']} proportion_pct")
        yield key, None if share is None else 100 * share, None
    for row in _prevalence(tables, match).to_dicts():
        for quantity, column in _PREVALENCE.items():
            yield (row["model"], None, True, None, quantity), 100 * row[column], None


def _prevalence(tables: Tables, match: pl.DataFrame) -> pl.DataFrame:
    """Return the bias topic by model."""
    return tables["topic_prevalence"].filter(pl.col("scope") == "model", pl.col("topic") == _bias_topic(match))


def _bias_topic(match: pl.DataFrame) -> int | None:
    return next(iter(match.filter(pl.col("paper_topic") == _BIAS_TOPIC)["topic"]), None)


def _claims(tables: Tables, match: pl.DataFrame, fit: dict[str, Any], study: Study) -> Iterator[Number]:
    """Yield the claims of the text; a coefficient of the condition is that of the first model by name."""
    shares = dict(_prevalence(tables, match).select("model", 100 * pl.col("estimate")).iter_rows())
    is_condition = pl.col("term").str.starts_with("condition") & ~pl.col("term").str.contains(":")
    terms = tables["topic_effects"].filter(is_condition & (pl.col("topic") == _bias_topic(match))).to_dicts()
    effect = terms[0] if terms else {}
    effects = str(study.fits[fit["fit"]].settings.get("effects")).replace(" ", "")
    for claim in _printed_claims(study):
        is_papers = effects == _PAPERS_EFFECTS and min(shares, default=None) == claim["model"]
        if claim["name"] in _OF_CONDITION and not is_papers:
            yield _key(claim), None, _NO_COEFFICIENT.format(claim["model"])
            continue
        models = [model for model, _ in published.scopes(study).get(claim["model"], [(claim["model"], None)])]
        numbers = {
            "stm_topic3_condition_b": effect.get("estimate"),
            "stm_topic3_condition_se": effect.get("std_error"),
            "stm_topic3_condition_p": effect.get("p_value"),
            "topic3_pct": max((shares[model] for model in models if model in shares), default=None),
        }
        yield _key(claim), numbers[claim["name"]], None


NUMBERS = Numbers("topics", (*_OF_TOPICS, *_PREVALENCE), _recomputed)


IN_PYTHON: Mapping[str, Numbers] = {"topics": NUMBERS, "print_checks": PRINT_NUMBERS}
"""Hold sources by the names that designs have in `number_sources`."""


def sources_of(study: Study) -> tuple[Numbers, ...]:
    """Return the sources of the study's design, including those of its print's numbers."""
    printed = set(published.published_numbers(study).select(published.quantity_name()).to_series())
    has_own_arithmetic = published.notes(study, "of the print").height > 0
    return tuple(
        source for source in _all(study) if printed & set(source.gives) or (source.is_of_print and has_own_arithmetic)
    )


def _all(study: Study) -> tuple[Numbers, ...]:
    infos = views_of_papers(study.design.name)
    of_views = [
        Numbers(
            name,
            info.gives,
            partial(numbers_of_view, info=info),
            fits=partial(fits_of_view, info=info, infos=infos),
            is_table_of_models=info.lacks in ("cell", "game"),
        )
        for name, info in infos.items()
    ]
    return (*of_views, *(IN_PYTHON[name] for name in study.design.analyses.number_sources))


def check_quantities(study: Study) -> None:
    """Raise UnknownNameError for a printed quantity without a source or any other information."""
    known = list(dict.fromkeys(name for source in _all(study) for name in source.gives))
    numbers = published.published_numbers(study).filter(~published.is_of_print(study))
    open_numbers = numbers.join(published.not_checkable(study), on=CELL, how="anti", nulls_equal=True)
    for quantity in open_numbers.filter(~published.quantity_name().is_in(known))["quantity"]:
        name = study.published.name if study.published else ""
        raise UnknownNameError(f"quantity (in {name})", quantity, known)
