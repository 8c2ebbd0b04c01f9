"""Show games in a report, all variants side by side: how they ended, indices next to chance, differences, questions
after a game, shares, how choices settle. What is not kept is named, with the command that makes it; nothing is
computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, MissingResult, SectionData, declared_columns
from slant.analysis.pages.report_tables import filled_columns
from slant.analysis.questions.games.indices import with_game_variant

_CELL = ["variant", "model"]
_SHORT = 60  # rows; a longer table is folded
INDEX_NAMES = {
    "si": "SI (bits)", "bgd": "BGD", "gasi": "GASI", "mutual_information_bits": "mutual information (bits)",
    "bgd_divergence_bits": "BGD as divergence (bits)", "gasi_divergence_bits": "GASI as divergence (bits)",
}  # fmt: skip
_INDEX_NAMED = pl.col("index").replace(INDEX_NAMES)
_FIRST = ("si", "bgd", "gasi")
_HEADINGS = {"value": "{}", "mde": "MDE of {}", "chance": "{} by chance"}
_EXPLANATION = (
    "SI: how strictly groups are kept to classes of jobs (0 to log2 of the number of classes). BGD: how much groups "
    "differ within a game; GASI: how much a group's share of jobs differs between games (both 0 to 0.83). In brackets: "
    "the 95 % interval over games (for GASI, which is not a mean over games, by bootstrap). Chance alone gives more "
    "than 0: compare each index with its random level, for as many rounds, groups and jobs, not with 0. MDE: how far "
    "from a given value, such as that level, an index must be for this many games to find it (80 % power, two-sided 5 "
    "%)."
)


def ends(section: SectionData) -> Group | None:
    """Say it in a sentence, and list the cells whose games were not all played to their end."""
    rows = section.own("allocation_game_ends")
    table = section.captioned("allocation_game_ends")
    if table is None:
        return None
    n_games, n_complete, n_changed = (rows[name].sum() for name in ("n_games", "n_complete", "n_model_changed"))
    text = f"Of {n_games:,} games {n_complete:,} were played to their end. The others are in no index."
    changed_models = (f"In {n_changed:,} games the answering model changed during the game.",) if n_changed else ()
    is_unfinished = (pl.col("n_complete") < pl.col("n_games")) | (pl.col("n_model_changed") > 0)
    unfinished = _ordered(section, rows.filter(is_unfinished))
    columns = [name for name in unfinished.columns if name in (*_CELL, "last_round_median") or name.startswith("n_")]
    caption = "Cells with incomplete games, or games that more than one model answered"
    first = (CaptionedTable.of(caption, unfinished.select(columns), is_open=True),) if unfinished.height else ()
    return Group("ends", "how games ended", (text, *changed_models), (*first, table))


def indices(section: SectionData) -> Group | None:
    """Show indices with intervals if `analyze indices` kept them; otherwise what SQL alone gives."""
    if not _has_games(section):
        return None
    intervals = section.own("game_index_intervals")
    tables = []
    if intervals.height:
        tables = [
            _open_if_short("Indices, their intervals, and the level of chance", _with_chance(section, intervals)),
            CaptionedTable.of("All indices", _ordered(section, intervals).with_columns(_INDEX_NAMED), _INDICES),
        ]
    tables += section.captioned_tables("allocation_indices")
    command = f"analyze indices --study {section.study.as_typed}"
    cells = section.own("allocation_game_ends").filter(pl.col("n_complete") > 0).select(_CELL)
    current = intervals.filter("is_current").select(_CELL).unique() if intervals.height else cells.clear()
    n_missing = cells.join(current, on=_CELL, how="anti").height
    missing_cells = f"{n_missing} of {cells.height} cells" if n_missing else ""
    to_make = (MissingResult(f"Intervals and random levels of {missing_cells}", command),) if missing_cells else ()
    return Group(
        "indices", "how stratified games became", (_EXPLANATION,) if intervals.height else (), tuple(tables), to_make
    )


def differences(section: SectionData) -> Group | None:
    if not _has_games(section):
        return None
    rows = section.own("game_comparisons")
    if rows.is_empty():
        base = section.study.variants[0]
        command = f"analyze differences --study {section.study.as_typed} --between variant --reference {base}"
        return Group("differences", "differences between conditions", to_make=(MissingResult("Differences", command),))
    text = (
        "Condition minus reference, with the 95 % interval of a bootstrap of entire games, and a studentised "
        "permutation test of games. p is corrected for the comparisons requested together. MDE: the smallest "
        "difference that this many games can detect (80 % power, two-sided 5 %)."
    )
    difference = _interval("difference", "boot_low", "boot_high")
    shown = declared_columns(rows.with_columns(_INDEX_NAMED, difference=difference), _DIFFERENCES)
    table = _open_if_short("Differences between conditions", filled_columns(shown))
    return Group("differences", "differences between conditions", (text,), (table,))


def questions(section: SectionData) -> Group | None:
    """Show Tables 4 and 5, and ratings."""
    folded = section.captioned_tables("allocation_question_ranks", "allocation_ratings")
    tables = tuple(replace(table, is_open=True) for table in folded)
    return Group("questions", "questions after a game", tables=tables) if tables else None


def choices(section: SectionData) -> Group | None:
    shares, curves = section.own("allocation_shares"), section.own("allocation_learning_curves")
    tables = []
    if curves.height:
        caption = "How often the choice is the group last chosen for the class (%), by quarter of the rounds"
        quarter = (4 * (pl.col("round") - 1) // pl.col("round").max().over(_CELL)).clip(0, 3) + 1
        keys = ["variant", "model", "quarter"]
        repeats = (pl.col("repeat_rate") * pl.col("n_with_past")).sum() / pl.col("n_with_past").sum()
        rates = curves.with_columns(quarter=quarter).group_by(keys, maintain_order=True).agg(rate=_percent(repeats))
        by_quarter = _ordered(section, rates).pivot("quarter", index=_CELL, values="rate", maintain_order=True)
        tables.append(CaptionedTable.of(caption, by_quarter))
    if shares.height:
        tables.append(CaptionedTable.of("Share of each group in the jobs of a class (%)", _shares(section, shares)))
    tables += section.captioned_tables(
        "allocation_exploration", "allocation_success", "allocation_points", "elicited_rates"
    )
    return Group("choices", "choices, learning and success", tables=tuple(tables)) if tables else None


def _has_games(section: SectionData) -> bool:
    return section.study.design.analyses.compares_variants and section.own("allocation_game_ends").height > 0


def _open_if_short(caption: str, frame: pl.DataFrame) -> CaptionedTable:
    return CaptionedTable.of(caption, frame, is_open=frame.height <= _SHORT)


def _ordered(section: SectionData, rows: pl.DataFrame) -> pl.DataFrame:
    """Sort rows in the study's order of variants and models, with their names."""
    variants, labels = section.study.variants, section.labels
    with_base = with_game_variant(rows, variants).with_row_index("row_no")
    order = [_place("game_variant", variants), pl.col("variant"), _place("model", tuple(labels)), pl.col("row_no")]
    return with_base.sort(order, nulls_last=True).with_columns(pl.col("model").replace(dict(labels)))


def _place(name: str, order: Sequence[str]) -> pl.Expr:
    places = {value: place for place, value in enumerate(order)}
    return pl.col(name).replace_strict(places, default=None, return_dtype=pl.Int64)


def _with_chance(section: SectionData, intervals: pl.DataFrame) -> pl.DataFrame:
    rows = _ordered(section, intervals.filter(pl.col("index").is_in(_FIRST))).with_columns(
        conf_low=pl.coalesce("conf_low", "boot_low"), conf_high=pl.coalesce("conf_high", "boot_high")
    )
    labelled = rows.with_columns(
        index=_INDEX_NAMED,
        value=_interval("estimate", "conf_low", "conf_high"),
        mde=_number("mde").fill_null(""),
        chance=_interval("random_level", "random_low", "random_high"),
    )
    keys = ["variant", "model", "n_games", "n_incomplete"]
    wide = labelled.pivot("index", index=keys, values=["value", "mde", "chance"], maintain_order=True)
    names = [INDEX_NAMES[index] for index in _FIRST if f"value_{INDEX_NAMES[index]}" in wide.columns]
    pairs = [
        (f"{kind}_{name}", heading.format(name))
        for name in names
        for kind, heading in _HEADINGS.items()
        if kind != "mde" or name != INDEX_NAMES["gasi"]
    ]
    return wide.select(
        "variant",
        "model",
        pl.col("n_games").alias("games"),
        pl.col("n_incomplete").alias("not complete"),
        *(pl.col(column).alias(head) for column, head in pairs),
    ).drop([] if wide["n_incomplete"].sum() else ["not complete"])


_INDICES = """
variant | model | index | games = n_games | estimate | sd | conf_low | conf_high | boot_low | boot_high | MDE = mde
random_level | random_low | random_high | is_current
"""
_DIFFERENCES = """
model = model_label | variant | answer_format | condition | reference | index | difference | MDE = mde:.2
games = {n_games} and {n_games_reference} | p_value | p_adjusted | adjust | comparisons = n_comparisons | is_current
"""


def _shares(section: SectionData, shares: pl.DataFrame) -> pl.DataFrame:
    """Return the shares of all sets of groups in one table; groups that a variant lacks are empty."""
    rows = _ordered(section, shares.with_columns(share=_percent(pl.col("share_of_class"))))
    return rows.pivot("group", index=["variant", "model", "class"], values="share", maintain_order=True)


def _percent(share: pl.Expr) -> pl.Expr:
    return (100 * share).round(1)


def _interval(middle: str, low: str, high: str) -> pl.Expr:
    """Return "0.84 [0.79, 0.89]"; without an interval, only the number; nothing if there is no number."""
    numbers = [_number(name) for name in (middle, low, high)]
    text = pl.format("{} [{}, {}]", *numbers)
    return pl.when(pl.col(low).is_null()).then(numbers[0]).otherwise(text).fill_null("")


def _number(name: str) -> pl.Expr:
    return pl.col(name).map_elements(lambda value: f"{value:.2f}", return_dtype=pl.String)
