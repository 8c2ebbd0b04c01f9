"""Show models of choice in games in a report: what choices go by, which policy plays like the games, what is learned
by, next to people, replays, and what more exploration would do. Fits that are not kept are named with their commands.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.fitting.choices import newest_fits
from slant.analysis.pages.parts.records import CaptionedTable, Group, MissingResult, SectionData, declared_columns

_LIMITS = (
    "What you may say: these numbers describe this model's choices, under this wording and these rewards; under the "
    "fitted model, indices would change like this with more exploration. What you may not say: that a model has a "
    "learning rate, that a better prediction proves a mechanism, or that the numbers generalise to other rewards. If "
    "replays do not look like the games, or a parameter is not identified, don't interpret its number."
)
_MADE_BY = {
    "choice_estimates": ("What predicts choices", "choice"),
    "policy_candidates": ("Which policy plays like these games", "policies"),
    "learner_parameters": ("How models learn", "learning"),
}
_WORTH = {True: "yes", False: "no: no findings"}
_PEOPLE = "human"
_AS_PEOPLE = "as people explore"
_EXPLORING = ("sharpness", "perseveration", "lapse", "bonus")
_FEW = 12  # models and variants, of each of which there is a sentence


def models_of_choice(section: SectionData) -> Group | None:
    """Show what is kept of the three fits; nothing if the study has no games of its own players to fit."""
    if not section.study.design.analyses.compares_variants or section.own("allocation_game_ends").is_empty():
        return None
    kept = {name: _newest(section, name) for name in _MADE_BY}
    to_make = tuple(
        MissingResult(what, f"analyze --fit {fit} --study {section.study.as_typed}")
        for name, (what, fit) in _MADE_BY.items()
        if kept[name].is_empty()
    )
    tables = [table for part in (_policies, _learners, _terms, _replays, _explored) for table in part(section)]
    texts = (*_sentences(kept), *_of_people_to_add(section), _LIMITS) if tables else ()
    return Group("choice_models", "why they choose like this: models of choice", texts, tuple(tables), to_make)


def _newest(section: SectionData, name: str, rows: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the rows of the newest fits, with `label`, the name of the model that is shown."""
    own = section.own(name) if rows is None else rows
    return newest_fits(own).with_columns(label=pl.col("model").replace(dict(section.labels))) if own.height else own


def _sentences(kept: dict[str, pl.DataFrame]) -> Iterator[str]:
    """Say of each model which policy predicts it best and whether it passes, and what its learner is worth; where that
    would be a page of its own, tables alone say so.
    """
    candidates, learners = kept["policy_candidates"], kept["learner_parameters"]
    best = candidates.filter("is_best").to_dicts() if candidates.height else []
    learned = learners.unique(["variant", "model"], maintain_order=True).to_dicts() if learners.height else []
    for row in best if len(best) <= _FEW else []:
        verdict = row["verdict"].replace("It predicts", f"the candidate {row['policy'].replace('_', ' ')} predicts", 1)
        yield f"{_cell(row)}: {verdict}"
    for row in learned if len(learned) <= _FEW else []:
        yield f"{_cell(row)}, hierarchical learner: {row['verdict']}"


def _of_people_to_add(section: SectionData) -> Iterator[str]:
    """Say how indices with people's exploration are had, where people's games are fitted and these are not there."""
    explored = section.own("learner_counterfactuals")
    if explored.is_empty() or section.grain.get("source") == _PEOPLE or (explored["exploration"] == _AS_PEOPLE).any():
        return
    people = _newest(section, "", section.tables["learner_parameters"].filter(source=_PEOPLE))
    values = {row["term"]: row["estimate"] for row in people.to_dicts() if row["term"] in _EXPLORING}
    if values and people["variant"].n_unique() == 1:
        said = ", ".join(f"{name} = {value:.3g}" for name, value in values.items())
        yield (
            "To see what indices would be with people's exploration, write "
            f"[fits.learning.settings] people = {{ {said} }} into the study's file, and fit again."
        )


def _cell(row: dict[str, str]) -> str:
    return f"{row['label']} ({row['variant']})"


def _policies(section: SectionData) -> Iterator[CaptionedTable]:
    rows = _newest(section, "policy_candidates")
    if rows.is_empty():
        return
    shown = declared_columns(rows.with_columns(elpd=pl.col("elpd_difference").round(1) + 0.0), _POLICIES)
    near = ~rows["verdict"].str.starts_with("It predicts worse")
    caption = "Which policy plays like this: the best, and others that predict about as well"
    yield CaptionedTable.of(caption, shown.filter(near), is_open=True)
    yield CaptionedTable.of("All candidates", shown)


_POLICIES = """
variant | model = label | policy:words | parameters = n_parameters | nats a choice = nats:.3
elpd to best = {elpd} ± {se_difference:.1} | replays pass = passes:yes
"""
_INTERVAL = "{estimate:.3} [{conf_low:.3}, {conf_high:.3}]"
_LEARNERS = f"""
variant | model = who | term:words | median, 95 % = {_INTERVAL} | identified = is_identified:yes | games = n_games
converged | replays pass
"""
_TERMS = f"""
variant | model = label | term:words | log odds, 95 % = {_INTERVAL} | p_value | VIF = vif:.1 | remark
nats a choice = nats:.3 | by chance = chance_nats:.3
"""
_REPLAYS = """
variant | model = label | policy:words | statistic = named | games = observed:.3
replays, 95 % = {predicted:.3} [{conf_low:.3}, {conf_high:.3}] | p_adjusted | passes:yes
"""
_EXPLORED = """
variant | model = label | exploration | replays pass = passes:yes | statistic
value = {predicted:.3} [{conf_low:.3}, {conf_high:.3}]
"""


def _learners(section: SectionData) -> Iterator[CaptionedTable]:
    """Show the parameters of models, then people's of the same variants."""
    own = _newest(section, "learner_parameters")
    if own.is_empty():
        return
    everyone = section.tables["learner_parameters"]
    people = everyone.filter(pl.col("source") == _PEOPLE, pl.col("variant").is_in(own["variant"].to_list()))
    rows = own if section.grain.get("source") == _PEOPLE else pl.concat([own, _newest(section, "", people)])
    told = rows.with_columns(
        pl.col("is_converged").replace_strict(_WORTH, default="", return_dtype=pl.String).alias("converged"),
        pl.col("passes").replace_strict(_WORTH, default="not known", return_dtype=pl.String).alias("replays pass"),
        who=pl.when(source=_PEOPLE).then(pl.lit("people")).otherwise("label"),
    )
    shown = declared_columns(told, _LEARNERS)
    names = "models and people" if people.height else "models"
    caption = f"What {names} learn by (rates and proportions from 0 to 1; sd: between games)"
    yield CaptionedTable.of(caption, shown, is_open=shown.height <= 60)


def _terms(section: SectionData) -> Iterator[CaptionedTable]:
    rows = _newest(section, "choice_estimates")
    if rows.is_empty():
        return
    remark = pl.when("is_penalised").then(pl.lit("choices are separated: penalised")).otherwise(pl.lit(""))
    caption = "What predicts choices: conditional logits, errors over games (a description, not a cause)"
    yield CaptionedTable.of(caption, rows.with_columns(remark=remark), _TERMS)


def _replays(section: SectionData) -> Iterator[CaptionedTable]:
    """Show those of the best candidate and of the learner, the others as they are in the database."""
    rows, candidates = _newest(section, "game_replays"), _newest(section, "policy_candidates")
    if rows.is_empty():
        return
    shown_policy = pl.col("policy") == "hierarchical learner"
    if candidates.height:
        best = candidates.filter("is_best").select("call_id", "policy", is_shown=pl.lit(True))
        rows = rows.join(best, on=["call_id", "policy"], how="left", maintain_order="left")
        shown_policy = shown_policy | pl.col("is_shown").fill_null(False)
    named = pl.when(kind="sd").then(pl.format("SD of {}", "statistic")).otherwise("statistic")
    shown = rows.filter(shown_policy).with_columns(named=named)
    yield CaptionedTable.of("Do replays look like the games? The best candidate and the learner", shown, _REPLAYS)


def _explored(section: SectionData) -> Iterator[CaptionedTable]:
    rows = _newest(section, "learner_counterfactuals")
    if rows.is_empty():
        return
    shown = declared_columns(rows, _EXPLORED)
    shown = shown.pivot("statistic", index=["variant", "model", "exploration", "replays pass"], values="value")
    caption = "What indices would be with more or less exploration, under the learner (mean and 95 % of replays)"
    yield CaptionedTable.of(caption, shown)
