"""Write a paragraph for the methods section of a paper, and the command that does the same again, from stored data
only.

What the data do not say is left out, never guessed.

Say for a paper's methods section how the estimands of a factorial study were computed: what is estimated, over which
clusters errors are, and why, with which interval, degrees of freedom and correction."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from slant.collector.cost.estimate import dollars
from slant.collector.designs import design_named
from slant.collector.errors import SlantError, UnknownNameError
from slant.collector.keep.database import fetched_frame
from slant.collector.provenance.run_history import Row, RunHistory
from slant.collector.request.record import Request
from slant.collector.request.setting import settings_of
from slant.collector.sources import facts_of
from slant.collector.stopping.looks import looks_clause
from slant.collector.studies.catalogue import Study, fits_of, load_study
from slant.collector.study.records import Fit
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text

_OUTCOMES = ("answered", "refused", "filtered", "truncated", "malformed", "rejected")
_REPEATED = {
    declared.stored_name: declared
    for declared in settings_of(Request).values()
    if declared.setting.kept == "live" or declared.name == "structured_output"
}
_MEASURES = {"reasoning": "reasoning tokens", "output": "all output tokens"}
_BACK = {
    "default": "What its provider recommends of its reasoning",
    "kept": "All of its reasoning that its provider takes",
    "dropped": "Nothing of its reasoning",
}
_FEW_TESTS = 12
_CITED = re.compile(r"\b(?:1[5-9]|20)\d\d\b|https?://|\bdoi\b|\w & \w|\bet al\b", re.IGNORECASE)
_LONGEST = 80  # characters of a parameter: a tool is longer


def paragraph(history: RunHistory) -> str:
    """Return the paragraph on prompts, models, method, dates and results."""
    if facts_of(history.run["source"]).is_of_models:
        models = [sentence for model in history.models for sentence in model_sentences(history, model)]
        asked = [*models, *_asking(history)]
    else:  # in the words of the person who imported their answers
        run = history.run
        asked = [f"Where they are from: {run['origin']}. What the people agreed to: {run['consent']}."]
    sentences = [
        *_study(history),
        *asked,
        *outcome_sentences(history),
        *_cost(history),
        *(f"Run {r['run_id']} was set aside, and counts in no result: {r['aside_because']}." for r in history.aside),
        *_clock(history),
        _software(history),
    ]
    return " ".join(sentences)


def _study(history: RunHistory) -> list[str]:
    run = history.run
    title = (
        f"the study “{run['study_title']}” ({run['study']}, " if run["study_title"] else f"the study {run['study']} ("
    )
    variant = f", variant {run['variant']}" if run["variant"] != "base" else ""
    source = run["study_source"] or ""
    after = f", after {source}" if is_citation(source) else ""
    materials = f" Its materials: {source}." if source and not after else ""
    done = facts_of(run["source"]).done
    span = history.span()
    when = f" between {spoken_time(span[0])} and {spoken_time(span[1])} (UTC)" if span else ""
    return [
        f"Answers to {title}version {run['study_version']}{variant}{after}) were {done}{when}.{materials}",
        *_measured(history),
    ]


def _measured(history: RunHistory) -> list[str]:
    """Return sentences on the study's question and its outcome, in the words of its design."""
    with suppress(UnknownNameError):  # a design in a package that is not here
        words = design_named(history.run["design"] or "").analyses.vocabulary
        labels = [test["label"] or test["test"] for test in history.tests]
        few = 1 < len(labels) <= _FEW_TESTS
        named = f": {listed(labels)}" if few else ""
        tests = [f"It has {len(labels)} {words.test}s{named}."] if len(labels) > 1 else []
        return [*tests, *([f"The outcome was {words.measured}."] if words.measured else [])]
    return []


def model_sentences(history: RunHistory, model: Row) -> list[str]:
    served = history.served_models(model)
    host = urlsplit(model["base_url"] or "").netloc
    api = f", API {model['api_version']}" if model["api_version"] else ""
    at = f" at {host}{api}" if host else ""
    asked = {"collected": "We queried", "simulated": "We simulated"}.get(history.run["source"], "The model was")
    no_parameters = "no parameters recorded" if history.run["source"] == "imported" else "default parameters"
    name = f" as {model['requested_model']}" if model["requested_model"] != model["label"] else ""
    answered = f"; it answered as {listed(served)}" if served else ""
    measure = f" Its measure is {_MEASURES[model['measure']]}." if model["measure"] in _MEASURES else ""
    sent = json.loads(model["sent"] or model["settings"] or "{}")
    back, cache = sent.pop("reasoning_back", None), sent.pop("prompt_cache", None)
    of_game = f" {_BACK[back]} went back into its conversations; their cache: {cache}." if back in _BACK else ""
    texts = {name: json.dumps(value) for name, value in sent.items()}
    in_table = "(in full in the table run_models)"
    parameters = listed(f"{n} = {text}" if len(text) <= _LONGEST else f"{n} {in_table}" for n, text in texts.items())
    left = json.loads(model["left_to_default"] or "[]")
    default = f"; left to the provider's default: {', '.join(left)}" if left else ""
    return [
        f"{asked} {model['label']}{name} (provider {model['provider']}){at}, "
        f"with {parameters or no_parameters}{default}{answered}.{measure}{of_game}"
    ]


def _asking(history: RunHistory) -> list[str]:
    run = history.run
    planned, repetitions = planned_trials(history)
    up_to = "up to " if history.stopping is not None else ""
    repeated = f", each cell {up_to}{repetitions} times" if repetitions > 1 else ""
    seeded = f" in a random order drawn with seed {run['seed']}" if run["seed"] is not None else ""
    each = "each model" if len(history.models) > 1 else "the model"
    prompts = [] if has_conversations(history) else _prompts(history)
    plan = f"The plan has {up_to}{count_text(planned, 'trial')} for {each}{repeated},{seeded}.".replace(",.", ".")
    return [plan, *stopping_sentences(history), *prompts]


def _prompts(history: RunHistory) -> list[str]:
    """Return the number of different prompts and their hash: once for all models that one run has asked whole, and by
    model and run of the others, whose prompts are part of the plan's."""
    known = [row for row in history.provenance if row["prompts_hash"]]
    n_runs = Counter(row["model"] for row in history.provenance)  # of one run alone its prompts are all prompts
    whole = [row for row in known if n_runs[row["model"]] == 1]
    parts = sorted({_hashed(row) for row in whole})
    parts += [f"{_hashed(row)} of {row['model']} in run {row['run_id']}" for row in known if row not in whole]
    return [f"Different prompts by model: {'; '.join(parts)}."] if parts else []


def _hashed(row: Row) -> str:
    return f"{row['n_prompts']:,} (MD5 {row['prompts_hash']})"


def planned_trials(history: RunHistory) -> tuple[int, int]:
    """Return trials of one model, and how often each question is asked; by a rule of stopping the maximum of both."""
    planned, repetitions = sum(test["planned"] or 0 for test in history.tests), history.run["repetitions"] or 1
    if history.stopping is None:
        return planned, repetitions
    return planned // repetitions * history.stopping.most_repetitions, history.stopping.most_repetitions


def stopping_sentences(history: RunHistory) -> list[str]:
    """Return the rule by which collecting was to end, the width at each look, and why it ended."""
    if history.stopping is None:
        return []
    made = {model["label"]: looks for model in history.models if (looks := history.looks.get(model["model"]))}
    outcome = next((looks[-1].outcome for looks in made.values()), "tokens")
    ends = "; ".join(f"{label} {looks_clause(looks)}" for label, looks in made.items())
    return [
        f"When to stop was decided by precision. {history.stopping.sentences(outcome)}",
        f"The widest half of an interval was: {ends}." if ends else "It has not been looked at yet.",
    ]


def has_conversations(history: RunHistory) -> bool:
    """Return whether each prompt holds the turns before it: then hardly any occurs twice, and counting them is
    useless."""
    return any("reasoning_back" in json.loads(model["sent"] or model["settings"] or "{}") for model in history.models)


def outcome_sentences(history: RunHistory) -> list[str]:
    counts = [f"{history.outcomes[name]:,} were {name}" for name in _OUTCOMES if history.outcomes.get(name)]
    failed = f" {history.n_failed:,} attempts failed or ended no trial." if history.n_failed else ""
    runs = (
        f" They come from {len(history.runs)} runs ({', '.join(r['run_id'] for r in history.runs)})."
        if history.runs[1:]
        else ""
    )
    return (
        [f"Of {count_text(sum(history.outcomes.values()), 'trial')}, {listed(counts)}.{failed}{runs}"] if counts else []
    )


def _cost(history: RunHistory) -> list[str]:
    costs = [row["cost_usd"] for row in history.provenance if row["cost_usd"] is not None]
    dates = sorted({json.loads(model["price"])["date"] for model in history.models if model["price"]})
    n_priced, n_stated, n_unpriced = (
        sum(row[f"n_{what}"] for row in history.provenance) for what in ("priced", "stated", "unpriced")
    )
    if not costs or not (dates or n_stated):
        return []
    by = [f"by list prices of {listed(dates)}"] * (bool(dates) and n_priced > n_stated)
    by += [f"by what the provider charged (for {count_text(n_stated, 'attempt')})"] * (n_stated > 0)
    without = f", without {count_text(n_unpriced, 'answer')} of unknown cost" if n_unpriced else ""
    return [f"They cost {dollars(sum(costs))} {listed(by)}{without}."]


def _clock(history: RunHistory) -> list[str]:
    offsets = [row["clock_offset_s"] for row in history.provenance if row["clock_offset_s"] is not None]
    if not offsets or history.run["source"] != "collected":
        return []
    most = max(offsets, key=abs)
    return [f"The providers' clocks differed from ours by {abs(most):.1f} s at most (medians of the header Date)."]


def _software(history: RunHistory) -> str:
    run = history.run
    commit = f", commit {run['git_commit'][:12]}{'+' * run['git_commit'].endswith('+')}" if run["git_commit"] else ""
    machine = f", on {run['machine']}" if run["machine"] else ""
    return f"Software: slant {run['code_version']}{commit}, run {run['run_id']}{machine}."


def references(history: RunHistory) -> list[str]:
    """Return the references to cite: the source of the study, and slant in its version."""
    source = [history.run["study_source"]] if is_citation(history.run["study_source"]) else []
    return [*source, f"slant, version {history.run['code_version']} [software]"]


def is_citation(source: str | None) -> bool:
    """Return whether the source of a study names a work that can be cited, by a year, an address or several authors: it
    may also say that texts are the study's own."""
    return bool(source and _CITED.search(source))


def command_line(history: RunHistory, db: Path | None = None) -> str | None:
    """Return the command that asks the same again; None for an import, whose files are in its run's settings.

    A study's own file is given relative to the database; with `db`, as it can be typed here.
    """
    run = history.run
    if not facts_of(run["source"]).is_asked:
        return None
    words = ["collect", "--study", _study_here(run["study_file"], db) if run["study_file"] else run["study"]]
    for model in history.models:
        # a model of the study by its own name, which brings its settings; any other is called PROVIDER/NAME
        words += ["--model", f"simulated/{model['model']}" if model["provider"] == "simulated" else model["model"]]
    if run["variant"] != "base":
        words += ["--variant", run["variant"]]
    if run["seed"] is not None:
        words += ["--seed", str(run["seed"])]
    repetitions = planned_trials(history)[1]
    if repetitions > 1:
        words += ["--repetitions", str(repetitions)]
    if history.stopping is not None:
        words += ["--until-width", f"{history.stopping.until_width:g}", "--looks", str(history.stopping.looks)]
    addresses = {model["base_url"] for model in history.models if model["provider"] in ("local", "ollama")}
    words += [word for url in sorted(filter(None, addresses)) for word in ("--base-url", url)]
    return shlex.join([*words, *_options(run)])


def _study_here(file: str, db: Path | None) -> str:
    place = None if db is None else db.resolve().parent / file
    if place is None or not place.is_file():
        return file
    return os.path.relpath(place) if place.resolve().is_relative_to(Path.cwd()) else str(place.resolve())


def _options(run: Row) -> list[str]:
    """Return the options of the run that differ from the default and change its requests."""
    words: list[str] = []
    for name, value in json.loads(run["settings"] or "{}").items():
        if name not in _REPEATED or value == _REPEATED[name].default:
            continue
        words.append(_REPEATED[name].option)
        words += [] if value is True else [f"{value:g}"]
    return words


def listed(parts: Iterable[str]) -> str:
    *some, last = [*parts] or [""]
    return f"{', '.join(some)} and {last}" if some else last


def spoken_time(moment: Any) -> str:
    return f"{moment:%Y-%m-%d %H:%M}" if isinstance(moment, datetime) else str(moment)


ESTIMANDS = {
    "amce": "average marginal component effects (the difference that a level makes to the outcome against its "
    "reference level, averaged over all other attributes)",
    "marginal_means": "marginal means (the mean outcome at each level, averaged over all other attributes)",
    "mean_contrasts": "differences between marginal means, for each pair of levels",
    "amie": "average marginal interaction effects (what a pair of levels adds to the sum of their separate effects)",
    "impact_ratio": "adverse impact ratios (each level's rate divided by that of its reference)",
}
_CORRECTIONS = {"holm": "Holm's method", "bonferroni": "Bonferroni's method", "BH": "Benjamini and Hochberg's method"}
_OUTCOME_WORDS = {"measured": "the answer as a number", "chosen": "the choice"}


@dataclass(frozen=True)
class MadeFit:
    """Hold what a fit that was made says of its errors: its engine, `clusters` in words (by cell), and the smallest and
    largest degrees of freedom of its estimates (None if it has none)."""

    engine: str
    clusters: Sequence[str]
    df: tuple[float, float] | None


def stored_estimands(db: Path, run: Row) -> str | None:
    """Return the paragraph on the fits of the run's study that the database holds; None without one, and for a study
    whose text is not here."""
    of_run = {name: run[name] for name in ("study", "source", "variant")}
    rows = fetched_frame(db, sql_query("errors_of_estimands"), of_run).to_dicts()
    if not rows:
        return None
    try:
        study = load_study(run["study"], db=db)
    except SlantError:
        return None
    made = {
        row["fit"]: MadeFit(row["engine"], row["clusters"], None if row["low"] is None else (row["low"], row["high"]))
        for row in rows
    }
    return estimand_paragraph(study, made)


def estimand_paragraph(study: Study, fits: Mapping[str, MadeFit]) -> str | None:
    """Return the paragraph on those fits, by name; None if none of them is of an estimand."""
    planned = fits_of(study)
    made = {name: fit for name, fit in fits.items() if fit.engine in ESTIMANDS and name in planned}
    if not made:
        return None
    # all fits of an engine are one estimand: interactions are one fit for each pair of attributes
    by_engine = [same for engine in ESTIMANDS if (same := [name for name, fit in made.items() if fit.engine == engine])]
    sentences = [_estimand(planned[same[0]], [planned[name].levels for name in same]) for same in by_engine]
    return " ".join(["For each model and question we estimated:", "; ".join(sentences) + ".", *_errors(made, planned)])


def _estimand(fit: Fit, levels: Sequence[Mapping[str, Sequence[str | int]]]) -> str:
    attributes = listed(dict.fromkeys(name.replace("_", " ") for these in levels for name in these))
    outcome = _OUTCOME_WORDS.get(fit.outcome or "", fit.outcome or "the answer")
    return f"{ESTIMANDS[fit.engine]} of {attributes} on {outcome}"


def _errors(made: Mapping[str, MadeFit], planned: Mapping[str, Fit]) -> Iterator[str]:
    texts = {text for fit in made.values() for text in fit.clusters}
    said = [text.removeprefix("closed form, ").removeprefix("clusters: ") for text in texts]
    if said:
        attributes: dict[str, dict[str, None]] = {}  # by unit: "gender and origin by name (…)"
        for part in dict.fromkeys(part for text in sorted(said) for part in text.split("; ")):
            of_unit, found, unit = part.partition(" by ")
            attributes.setdefault(unit or part, {}).update(
                dict.fromkeys(re.split(", | and ", of_unit) if found else ())
            )
        attributes.pop("rows independent", None)
        groups = "; ".join(f"{listed(named)} by {unit}" if named else unit for unit, named in attributes.items())
        by = ":" if any(attributes.values()) else " by"
        yield f"Standard errors are clustered{by} {groups}." if groups else "Rows are independent."
    spans = [fit.df for fit in made.values() if fit.df is not None]
    if spans:
        low, high = min(span[0] for span in spans), max(span[1] for span in spans)
        span = f"{low:,.0f}" if round(low) == round(high) else f"{low:,.0f} to {high:,.0f}"
        yield f"95 % intervals and p values are by the t distribution with {span} degrees of freedom."
    corrected = {
        str(planned[name].settings.get("correction", "holm"))
        for name, fit in made.items()
        if fit.engine == "mean_contrasts"
    }
    methods = [_CORRECTIONS[name] for name in sorted(corrected) if name in _CORRECTIONS]
    if methods:
        yield (
            f"The p values of differences between levels are also given corrected by {listed(methods)} for all pairs "
            "compared in the same model and question; other p values, and intervals, are not corrected."
        )
    else:
        yield "Neither p values nor intervals are corrected for multiple testing."
