"""Fill reporting checklists that editors ask for from a database: the items are data, the page is a template."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slant.collector.errors import SlantError, UnknownNameError, UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.markup import escaped_markdown, quoted_markdown
from slant.collector.provenance.facts import FACTS, QUOTES, Known
from slant.collector.provenance.run_history import RunHistory, read_run_history
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.system.shipped_files import checklists_dir, sql_query
from slant.collector.templates import template_environment
from slant.collector.terminal import printable

ENDINGS = (".md", ".html")


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


def checklist_names() -> list[str]:
    return sorted(path.stem for path in checklists_dir().glob("*.toml"))


def filled_checklist(db: Path, run: str, name: str) -> Checklist:
    """Return the checklist of this name for a run (an id, or "latest"). UnknownNameError, DatabaseError."""
    if name not in checklist_names():
        raise UnknownNameError("checklist", name, checklist_names())
    table = tomllib.loads((checklists_dir() / f"{name}.toml").read_text("utf-8"))
    history = read_run_history(db, run)
    runs = {"runs": [run["run_id"] for run in history.runs]}
    with reading(db) as connection:
        requests = frame_of(connection.sql(sql_query("first_requests"), params=runs)).to_dicts()
    known = Known(history, _study(db, history), requests)
    items = []
    for row in table["items"]:
        sentences = [sentence for fact in row.get("facts", ()) for sentence in FACTS[fact](known)]
        quotes = [quote for kind in row.get("quotes", ()) for quote in QUOTES[kind](known)]
        to_fill = row.get("add", "") if sentences else row["to_fill"]
        items.append(Item(row["id"], row["section"], row["title"], sentences, quotes, to_fill))
    title = history.run["study_title"] or history.run["study"]
    return Checklist(table["title"], table["about"], f"{title} (run {history.run['run_id']})", items)


def _study(db: Path, history: RunHistory) -> Study | None:
    try:
        return load_study(history.run["study"], db=db)
    except SlantError:
        return None


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
