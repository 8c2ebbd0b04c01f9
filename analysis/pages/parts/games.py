"""Games in a report, all variants side by side: how they ended, indices beside chance, differences, what was said after
a game, shares, how choices settle. What is not kept is named, with the command that makes it; nothing is computed.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from slant.analysis.pages.parts.records import Group, Material, Shown, ToMake
from slant.analysis.pages.report_tables import plain
from slant.analysis.questions.games.cells import with_game_variant
from slant.collector.designs import design_named

_CELL = ["variant", "model"]
_SHORT = 60  # rows; a longer table is unfolded by who wants it
_NAMES = {
    "si": "SI (bits)", "bgd": "BGD", "gasi": "GASI", "mutual_information_bits": "mutual information (bits)",
    "bgd_divergence_bits": "BGD as divergence (bits)", "gasi_divergence_bits": "GASI as divergence (bits)",
}  # fmt: skip
_FIRST = ("si", "bgd", "gasi")
_SAID = (
    "SI: how far groups are kept to classes of jobs (0 to log2 of the number of classes). BGD: how unlike groups are "
    "within a game, GASI: how unlike a group's share of jobs is from game to game (0 to 0.83 both). In brackets the 95 "
    "% interval over games (of GASI, which is no mean over games, a bootstrap's). Chance alone gives more than 0: "
    "compare each index with its random level, for as many rounds, groups and jobs, not with 0."
)


def ends(material: Material) -> Group | None:
    """In a sentence; the cells whose games were not all played to their end, by themselves."""
    rows = material.own("allocation_game_ends")
    shown = material.captioned("allocation_game_ends")
    if shown is None:
        return None
    n_games, n_complete, n_changed = (rows[name].sum() for name in ("n_games", "n_complete", "n_model_changed"))
    text = f"Of {n_games:,} games {n_complete:,} were played to their end. The others are in no index."
    changed = (f"In {n_changed:,} games the model that answered changed on the way.",) if n_changed else ()
    lacking = _ordered(
        material, rows.filter((pl.col("n_complete") < pl.col("n_games")) | (pl.col("n_model_changed") > 0))
    )
    kept = [name for name in lacking.columns if name in (*_CELL, "last_round_median") or name.startswith("n_")]
    caption = "Cells with games that were not played to their end, or that more than one model answered"
    first = (Shown(caption, plain(lacking.select(kept)), is_open=True),) if lacking.height else ()
    return Group("ends", "how games ended", (text, *changed), (*first, shown))


def indices(material: Material) -> Group | None:
    """With intervals where `analyze indices` kept them; elsewhere what SQL alone has."""
    if not _has_games(material):
        return None
    kept = material.own("game_index_intervals")
    tables = []
    if kept.height:
        tables = [
            _open_if_short("Indices, their intervals, and what chance alone gives", _beside_chance(material, kept)),
            Shown("All indices", plain(_all_indices(material, kept))),
        ]
    counted = material.captioned("allocation_indices")
    tables += [counted] if counted else []
    command = f"analyze indices --study {material.study.as_typed}"
    missing = _without_indices(material, kept)
    to_make = (ToMake(f"Intervals and random levels of {missing}", command),) if missing else ()
    return Group("indices", "how stratified games became", (_SAID,) if kept.height else (), tuple(tables), to_make)


def differences(material: Material) -> Group | None:
    if not _has_games(material):
        return None
    rows = material.own("game_comparisons")
    if rows.is_empty():
        base = material.study.variants[0]
        command = f"analyze differences --study {material.study.as_typed} --between variant --reference {base}"
        return Group("differences", "differences between conditions", to_make=(ToMake("Differences", command),))
    text = (
        "Condition minus reference, with 95 % of a bootstrap of whole games, and a permutation test that deals games "
        "out anew. p is corrected for the comparisons that were asked for together."
    )
    shown = _open_if_short("Differences between conditions", _differences(rows))
    return Group("differences", "differences between conditions", (text,), (shown,))


def questions(material: Material) -> Group | None:
    """Tables 4 and 5, and what was rated."""
    tables = _captioned(material, ("allocation_question_ranks", "allocation_ratings"))
    return Group("questions", "what was said after a game", tables=tuple(map(_opened, tables))) if tables else None


def choices(material: Material) -> Group | None:
    shares, curves = material.own("allocation_shares"), material.own("allocation_learning_curves")
    tables = []
    if curves.height:
        caption = "How often the choice is the group chosen last for the class (%), by quarter of the rounds"
        tables.append(Shown(caption, plain(_settling(material, curves))))
    if shares.height:
        tables.append(Shown("Share of each group in the jobs of a class (%)", plain(_shares(material, shares))))
    more = ("allocation_exploration", "allocation_success", "allocation_points", "elicited_rates")
    tables += _captioned(material, more)
    return Group("choices", "choices, learning and success", tables=tuple(tables)) if tables else None


def _has_games(material: Material) -> bool:
    return design_named(material.study.design).compares_variants and material.own("allocation_game_ends").height > 0


def _captioned(material: Material, names: Sequence[str]) -> list[Shown]:
    return [shown for name in names if (shown := material.captioned(name))]


def _opened(shown: Shown) -> Shown:
    return Shown(shown.caption, shown.table, is_open=True)


def _open_if_short(caption: str, frame: pl.DataFrame) -> Shown:
    return Shown(caption, plain(frame), is_open=frame.height <= _SHORT)


def _without_indices(material: Material, kept: pl.DataFrame) -> str:
    """How many cells have games and no intervals, or games that came after these."""
    played = material.own("allocation_game_ends").filter(pl.col("n_complete") > 0).select(_CELL)
    current = kept.filter("is_current").select(_CELL).unique() if kept.height else played.clear()
    missing = played.join(current, on=_CELL, how="anti").height
    return f"{missing} of {played.height} cells" if missing else ""


def _ordered(material: Material, rows: pl.DataFrame) -> pl.DataFrame:
    """In the study's order of variants and models, with their names."""
    variants, labels = material.study.variants, material.labels
    with_base = with_game_variant(rows, variants).with_row_index("row_no")
    order = [_place("game_variant", variants), pl.col("variant"), _place("model", tuple(labels)), pl.col("row_no")]
    return with_base.sort(order, nulls_last=True).with_columns(pl.col("model").replace(dict(labels)))


def _place(name: str, order: Sequence[str]) -> pl.Expr:
    places = {one: place for place, one in enumerate(order)}
    return pl.col(name).replace_strict(places, default=None, return_dtype=pl.Int64)


def _beside_chance(material: Material, kept: pl.DataFrame) -> pl.DataFrame:
    rows = _ordered(material, kept.filter(pl.col("index").is_in(_FIRST))).with_columns(
        conf_low=pl.coalesce("conf_low", "boot_low"), conf_high=pl.coalesce("conf_high", "boot_high")
    )
    shown = rows.with_columns(
        index=pl.col("index").replace(_NAMES),
        value=_interval("estimate", "conf_low", "conf_high"),
        chance=_interval("random_level", "random_low", "random_high"),
    )
    keys = ["variant", "model", "n_games", "n_incomplete"]
    wide = shown.pivot("index", index=keys, values=["value", "chance"], maintain_order=True)
    names = [_NAMES[one] for one in _FIRST if f"value_{_NAMES[one]}" in wide.columns]
    pairs = [
        (f"{kind}_{name}", name if kind == "value" else f"{name} by chance")
        for name in names
        for kind in ("value", "chance")
    ]
    return wide.select(
        "variant",
        "model",
        pl.col("n_games").alias("games"),
        pl.col("n_incomplete").alias("not complete"),
        *(pl.col(column).alias(head) for column, head in pairs),
    ).drop([] if wide["n_incomplete"].sum() else ["not complete"])


def _all_indices(material: Material, kept: pl.DataFrame) -> pl.DataFrame:
    rows = _ordered(material, kept)
    return rows.select(
        "variant",
        "model",
        pl.col("index").replace(_NAMES),
        pl.col("n_games").alias("games"),
        "estimate",
        "sd",
        "conf_low",
        "conf_high",
        "boot_low",
        "boot_high",
        "random_level",
        "random_low",
        "random_high",
        "is_current",
    )


def _differences(rows: pl.DataFrame) -> pl.DataFrame:
    shown = rows.select(
        pl.col("model_label").alias("model"),
        "variant",
        "answer_format",
        "condition",
        "reference",
        pl.col("index").replace(_NAMES),
        _interval("difference", "boot_low", "boot_high").alias("difference"),
        pl.format("{} and {}", "n_games", "n_games_reference").alias("games"),
        "p_value",
        "p_adjusted",
        "adjust",
        pl.col("n_comparisons").alias("comparisons"),
        "is_current",
    )
    return shown.select(name for name in shown.columns if shown[name].null_count() < shown.height)


def _settling(material: Material, curves: pl.DataFrame) -> pl.DataFrame:
    quarter = (4 * (pl.col("round") - 1) // pl.col("round").max().over(_CELL)).clip(0, 3) + 1
    keys = ["variant", "model", "quarter"]
    repeats = (pl.col("repeat_rate") * pl.col("n_with_past")).sum() / pl.col("n_with_past").sum()
    found = curves.with_columns(quarter=quarter).group_by(keys, maintain_order=True).agg(rate=_percent(repeats))
    ordered = _ordered(material, found)
    return ordered.pivot("quarter", index=_CELL, values="rate", maintain_order=True)


def _shares(material: Material, shares: pl.DataFrame) -> pl.DataFrame:
    """A table for each set of groups would be many: groups that a variant lacks are left empty."""
    rows = _ordered(material, shares.with_columns(share=_percent(pl.col("share_of_class"))))
    return rows.pivot("group", index=["variant", "model", "class"], values="share", maintain_order=True)


def _percent(share: pl.Expr) -> pl.Expr:
    return (100 * share).round(1)


def _interval(middle: str, low: str, high: str) -> pl.Expr:
    """ "0.84 [0.79, 0.89]"; without an interval, the number alone; nothing where there is no number."""
    numbers = [_number(one) for one in (middle, low, high)]
    whole = pl.format("{} [{}, {}]", *numbers)
    return pl.when(pl.col(low).is_null()).then(numbers[0]).otherwise(whole).fill_null("")


def _number(name: str) -> pl.Expr:
    return pl.col(name).map_elements(lambda value: f"{value:.2f}", return_dtype=pl.String)
