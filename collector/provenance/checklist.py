"""Fill reporting checklists that editors ask for from a database: the items are data, the page is a template.

The checklists (checklists/NAME.toml) name facts: what a database says about an item in sentences, or none if it says
nothing.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from slant.collector.designs import design_named
from slant.collector.errors import SlantError, UsageError, check_known
from slant.collector.keep.database import fetched_frame
from slant.collector.markup import escaped_markdown, quoted_markdown
from slant.collector.provenance.methods import (
    command_line,
    has_conversations,
    listed,
    model_sentences,
    outcome_sentences,
    planned_trials,
    spoken_time,
    stopping_sentences,
)
from slant.collector.provenance.run_history import Row, RunHistory, read_run_history
from slant.collector.request_messages import Message, messages_of
from slant.collector.sources import facts_of
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.system.shipped_files import checklists_dir, sql_query
from slant.collector.templates import template_environment
from slant.collector.terminal import count_text, printable

ENDINGS = (".md", ".html")
MAX_QUOTES = 10
_TOOLS = ("tools", "web_search_options", "retrieval")
_SYSTEM = ("system", "developer")


@dataclass(frozen=True)
class Known:
    """Hold a run with its history; `study` is None if its text is not here; `requests` has one per model, test and
    condition: model, test, condition, request."""

    history: RunHistory
    study: Study | None
    requests: Sequence[Row]

    @property
    def is_imported(self) -> bool:
        return not facts_of(self.history.run["source"]).is_asked

    @property
    def conversation(self) -> str:
        """Return the design's name for conversations of many turns; empty if each question was separate."""
        try:
            design = self.history.run["design"]
            return design_named(design).asks.conversation if design and has_conversations(self.history) else ""
        except SlantError:  # a design of a package that is not installed
            return ""

    @property
    def messages(self) -> list[tuple[Row, list[Message]]]:
        return [(row, messages_of(row["request"])[0]) for row in self.requests]


def autonomy(known: Known) -> list[str]:
    if known.is_imported:
        return []
    settings = json.loads(known.history.run["settings"] or "{}")
    retried = f"; a request that failed was sent again up to {settings['max_retries']} times" if settings else ""
    return [
        "Every question was asked, and every answer read, by a program; no person chose, changed or repeated an answer"
        f"{retried}. An answer that was refused, cut off or could not be read was kept as that, and not asked again."
    ]


def models(known: Known) -> list[str]:
    sentences = []
    for model in known.history.models:
        served, span = known.history.served_models(model), known.history.span(model)
        when = f", from {spoken_time(span[0])} to {spoken_time(span[1])} (UTC)" if span else ""
        who = f"{model['label']}: asked for as {model['requested_model']} (provider {model['provider']})"
        sentences.append(f"{who}{f', answered as {listed(served)}' if served else ''}{when}.")
    return sentences


def access(known: Known) -> list[str]:
    sentences = []
    for model in known.history.models:
        if known.is_imported:
            continue
        host = urlsplit(model["base_url"] or "").netloc
        api = f", version {model['api_version']}" if model["api_version"] else ""
        played = "was played by a simulator on this machine; no model was asked"
        jobs = " in batch jobs" if json.loads(known.history.run["settings"] or "{}").get("batch") else ""
        by = (
            played
            if model["provider"] == "simulated"
            else f"was reached by the API at {host or 'its provider'}{api}{jobs}"
        )
        sentences.append(f"{model['label']} {by}.")
    return sentences


def context(known: Known) -> list[str]:
    if known.is_imported:
        return []
    if known.conversation:
        return [f"Each {known.conversation} began afresh, and in it every question followed those before it."]
    return ["Each question began a fresh conversation, with nothing before it."]


def settings(known: Known) -> list[str]:
    return [sentence for model in known.history.models for sentence in model_sentences(known.history, model)]


def repetitions(known: Known) -> list[str]:
    run = known.history.run
    planned, n = planned_trials(known.history)
    up_to = "up to " if known.history.stopping is not None else ""
    order = f" in a random order drawn with seed {run['seed']}" if run["seed"] is not None else ""
    times = f"each question {up_to}{n} times" if n > 1 else "each question once"
    plan = f"The plan has {up_to}{count_text(planned, 'trial')} for each model, {times},{order}.".replace(",.", ".")
    return [plan, *stopping_sentences(known.history)] if planned else []


def customisation(known: Known) -> list[str]:
    if known.is_imported or not known.history.models:
        return []
    sent = {name for model in known.history.models for name in json.loads(model["sent"] or model["settings"] or "{}")}
    tools = sorted(sent & set(_TOOLS))
    tuned = [m["requested_model"] for m in known.history.models if str(m["requested_model"]).startswith("ft:")]
    with_tools = f"Offered to the model: {', '.join(tools)} (in full in the table run_models)." if tools else ""
    return [
        "Nothing but the prompts was sent: no documents were retrieved and none were attached. "
        + (with_tools or "No tool was offered."),
        f"Fine-tuned by name: {', '.join(tuned)}."
        if tuned
        else "The models were asked by their provider's names; slant trained none of them.",
    ]


def memory(known: Known) -> list[str]:
    if known.is_imported:
        return []
    if not known.conversation:
        return ["None: no request held an earlier question or answer."]
    return [
        f"None between {known.conversation}s. Within a {known.conversation}, each request held the questions before it "
        "and their answers.",
        *(s for model in known.history.models for s in model_sentences(known.history, model) if "went back" in s),
    ]


def prompts(known: Known) -> list[str]:
    run, rows = known.history.run, known.history.provenance
    counts = [f"{r['n_prompts']:,} for {r['model']} (MD5 {r['prompts_hash']})" for r in rows if r["prompts_hash"]]
    if not counts:
        return []
    files = (
        f" The texts they are made of are the study's files ({', '.join(known.study.texts)})." if known.study else ""
    )
    n_quotes = len(_quotes(known, of_system=False))
    shown = f"{n_quotes} different texts" if n_quotes < MAX_QUOTES else f"the first {MAX_QUOTES} different texts"
    return [
        f"Different prompts: {'; '.join(dict.fromkeys(counts))}; each is kept as it was sent, in the column request of "
        f"the table attempts (“collect export”).{files} Study version {run['study_version']}, variant "
        f"{run['variant']}. The first one of each test and condition is below ({shown})."
    ]


def system_texts(known: Known) -> list[str]:
    if not known.requests:
        return []
    quotes = _quotes(known, of_system=True)
    return [
        "System texts as they were sent, word for word, are below." if quotes else "No system text was sent by slant."
    ]


def _quotes(known: Known, *, of_system: bool) -> list[str]:
    """Return different texts; those of several messages are below each other."""
    texts = [
        "\n\n".join(message.text for message in messages if (message.role in _SYSTEM) == of_system)
        for _, messages in known.messages
    ]
    return list(dict.fromkeys(text for text in texts if text))[:MAX_QUOTES]


def data_sent(known: Known) -> list[str]:
    if known.is_imported or not known.requests:
        return []
    files = f" ({', '.join(known.study.texts)})" if known.study else ""
    return [
        f"Prompts were made of the study's own files{files} alone; no data of participants were sent. Neither keys nor "
        "accounts are kept."
    ]


def outcomes(known: Known) -> list[str]:
    return outcome_sentences(known.history)


def exclusions(known: Known) -> list[str]:
    if known.study is None:
        return []
    flags = Counter[tuple[str, ...]]()
    for fit in known.study.fits.values():
        flags[(*fit.drop_flags, *fit.drop_outcomes)] += 1
    named = sorted({flag for of_fit in flags for flag in of_fit})
    left_out = f"Fits exclude rows by {listed(named)}." if named else "No fit of the study excludes rows."
    return [
        f"{left_out} Answers by another model than the requested snapshot are excluded from every table. "
        "Unknown counts are missing, never 0."
    ]


def software(known: Known) -> list[str]:
    run = known.history.run
    commit = f", commit {run['git_commit']}" if run["git_commit"] else ""
    command = command_line(known.history)
    again = f" To repeat this run: {command}" if command else ""
    return [f"slant {run['code_version']}{commit}.{again}"]


def logs(known: Known) -> list[str]:
    runs = ", ".join(run["run_id"] for run in known.history.runs)
    registration = known.history.run.get("registration")
    registered = f" Registered before the data, SHA-256 {registration}." if registration else ""
    return [f"Every request and response is in the journal of its run ({runs}) and in the database.{registered}"]


FACTS: Mapping[str, Callable[[Known], list[str]]] = {
    function.__name__: function
    for function in (
        autonomy, models, access, context, settings, repetitions, customisation, memory, prompts, system_texts,
        data_sent, outcomes, exclusions, software, logs,
    )
}  # fmt: skip
QUOTES: Mapping[str, Callable[[Known], list[Any]]] = {
    "prompts": partial(_quotes, of_system=False),
    "system_texts": partial(_quotes, of_system=True),
}


@dataclass(frozen=True)
class Item:
    """Hold one item as it is reported: sentences and quoted texts; `to_fill` says what is left to the authors."""

    id: str
    section: str
    title: str
    sentences: Sequence[str]
    quotes: Sequence[str]
    to_fill: str


@dataclass(frozen=True)
class Checklist:
    title: str
    about: str
    study: str
    items: Sequence[Item]


def filled_checklist(db: Path, run: str, name: str) -> Checklist:
    """Return the checklist of this name for a run (an id, or "latest"). UnknownNameError, DatabaseError."""
    check_known("checklist", name, sorted(path.stem for path in checklists_dir().glob("*.toml")))
    table = tomllib.loads((checklists_dir() / f"{name}.toml").read_text("utf-8"))
    history = read_run_history(db, run)
    runs = {"runs": [run["run_id"] for run in history.runs]}
    requests = fetched_frame(db, sql_query("first_requests"), runs).to_dicts()
    study = None
    with suppress(SlantError):
        study = load_study(history.run["study"], db=db)
    known = Known(history, study, requests)
    items = []
    for row in table["items"]:
        sentences = [sentence for fact in row.get("facts", ()) for sentence in FACTS[fact](known)]
        quotes = [quote for kind in row.get("quotes", ()) for quote in QUOTES[kind](known)]
        to_fill = row.get("add", "") if sentences else row["to_fill"]
        items.append(Item(row["id"], row["section"], row["title"], sentences, quotes, to_fill))
    title = history.run["study_title"] or history.run["study"]
    return Checklist(table["title"], table["about"], f"{title} (run {history.run['run_id']})", items)


def rendered(checklist: Checklist, ending: str) -> str:
    """Return the page as Markdown (".md") or as HTML that a word processor opens (".html")."""
    environment = template_environment(
        "slant.collector.provenance",
        is_html=ending == ".html",
        finalize=printable,
        filters={"md": escaped_markdown, "md_quote": quoted_markdown},
    )
    template = environment.get_template(f"checklist{ending}.j2")
    n_filled = sum(bool(item.sentences) for item in checklist.items)
    text: str = template.render(**vars(checklist), n_filled=n_filled)
    return text


def check_ending(out: Path) -> str:
    """Return the ending of the file to write; UsageError for any but .md and .html."""
    if out.suffix.lower() not in ENDINGS:
        raise UsageError(f'Can\'t write the checklist to "{out}": its name must end in .md or .html.')
    return out.suffix.lower()
