"""Render each page of the viewer from its address as HTML, in the same way for a server and for files."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

import duckdb
from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from slant.collector.keep.database import kept_open
from slant.collector.keep.view_heads import read_view_heads
from slant.collector.request_messages import messages_of
from slant.collector.sources import SOURCES
from slant.collector.system.shipped_files import page_style
from slant.collector.templates import template_environment
from slant.collector.view import summary
from slant.collector.view import trials as stored
from slant.collector.view.notes_file import NotesFile
from slant.collector.view.paging import page_of, page_of_view, view_groups
from slant.collector.view.trial_filter import MEMORY, SORTS, Searches, TextSearch, TrialFilter, guarded, journal_sizes

Query = Mapping[str, str]
_Count = TypeVar("_Count")
_OF_ONE_ITEM = ("test", "condition", "choice")
_LONG = ("reasoning_text", "answer", "response", "request")
LISTS = ("trials", "pairs", "pair", "games", "runs", "tables")
ITEMS = ("trial", "game", "table")
_PATIENCE_S = 0.25  # a search that takes longer shows how far it is
_REFRESH_S = {"search": 1, "runs": 3}


class Links(Protocol):
    """Give another page's place: an address of a server, or a file next to this one. It is empty if there is none."""

    def __call__(self, kind: str, key: str = "", query: Query | None = None, fragment: str = "") -> str: ...


class Pages:
    """Render the pages of one database. `notes` is the reader's file, `links` says where pages are. `bundled`: the
    pages will be files, and this is the condition by which their trials were chosen."""

    def __init__(self, db: Path, links: Links, notes: NotesFile | None = None, bundled: str | None = None) -> None:
        self.db, self.notes = db, notes
        self.searches = Searches(db)
        self._counts: dict[tuple[Any, ...], Any] = {}
        self._kinds: tuple[int, dict[str, str]] = (0, {})
        self._environment = _environment()
        self._environment.globals |= {
            "link": links,
            "is_bundle": bundled is not None,
            "db_name": db.name,
            "can_note": notes is not None,
            "outcomes": summary.OUTCOMES,
            "sorts": SORTS,
            "where": bundled,
            "zip": zip,
        }

    def rendered(self, kind: str, key: str, query: Query) -> str:
        """Return the page of a kind of LISTS, or of ITEMS: `key` says of which one."""
        page = getattr(self, kind)
        text: str = page(key, query) if kind in ITEMS else page(query)
        return text

    def trials(self, query: Query) -> str:
        chosen = TrialFilter.of(query)
        search = self._search(chosen, _PATIENCE_S)
        with self._reading() as connection, stored.chosen_trials(connection, chosen, self.notes, search) as rows:
            state = (search.n_read, search.is_running) if search else ()
            labelled = tuple(self.notes.trials_with(chosen.label)) if self.notes and chosen.label else ()
            of_filter = tuple(sorted(chosen.query(sort="").items()))
            counts = self._counted(("trials", of_filter, labelled, state), lambda: summary.summarise(rows))
            page = stored.page_of_trials(connection, rows, chosen, query)
            known = summary.filter_values(connection)
        refresh = _REFRESH_S["search"] if search and search.is_running else None
        return self._page(
            "trials",
            chosen=chosen,
            page=page,
            summary=counts,
            known=known,
            search=search,
            refresh=refresh,
            notes=self._notes(),
            labels=self._labels(),
            query=chosen.query(),
        )

    def trial(self, trial_id: str, query: Query) -> str:
        chosen = TrialFilter.of(query)
        search = self._search(chosen, 0.0)
        with self._reading() as connection:
            page = stored.one_trial(connection, trial_id)
            with stored.chosen_trials(connection, chosen, self.notes, search) as rows:
                before, behind = stored.neighbours(rows, chosen.order, page.row)
            occasions = stored.occasions_of(connection, page.row)
        whole = query.get("whole", "")
        texts = {name: summary.begun(page.row[name], is_whole=name == whole) for name in _LONG}
        sent, earlier = messages_of(page.row["request"])
        messages = [(message.role, summary.begun(message.text, is_whole=whole == "prompt")) for message in sent]
        return self._page(
            "trial",
            page=page,
            row=page.row,
            occasions=occasions,
            chosen=chosen,
            query=chosen.query(),
            before=before,
            behind=behind,
            texts=texts,
            messages=messages,
            earlier=earlier,
            note=self._notes().get(trial_id, {}),
            labels=self._labels(),
            reading=_reading(page.row),
            raw=summary.begun(summary.indented(page.row["response"]), is_whole=whole == "response"),
            asked=summary.begun(summary.indented(page.row["request"]), is_whole=whole == "request"),
        )

    def check_trial(self, trial_id: str) -> None:
        """Raise UnknownNameError if the database has no such trial."""
        with self._reading() as connection:
            stored.one_trial(connection, trial_id)

    def pairs(self, query: Query) -> str:
        with self._reading() as connection:
            choice = stored.pair_choice(connection, query)
            page = None
            if choice:
                page = page_of(stored.pairs_of(connection, choice), choice.order, stored.PAIRS_ON_A_PAGE, query)
        return self._page("pairs", choice=choice, page=page, cell_names=stored.CELL)

    def pair(self, query: Query) -> str:
        """Show one pair: the one at a place in the list, or the first."""
        with self._reading() as connection:
            choice = stored.pair_choice(connection, query)
            steps, sides = None, []
            if choice:
                pairs = stored.pairs_of(connection, choice)
                steps = stored.steps_of_pair(pairs, choice.order, query.get("at"))
            if choice and steps:
                ids = [steps.row["reference_id"], steps.row["other_id"]]
                attempts = stored.attempts_of(connection, ids, dict(zip(stored.CELL, choice.cell, strict=True)))
                for condition, rows in zip((choice.reference, choice.other), attempts.values(), strict=True):
                    row = stored.last_attempt(rows)
                    messages = [(m.role, summary.begun(m.text)) for m in messages_of(row["request"])[0]]
                    sides.append((condition, row, messages, {name: summary.begun(row[name]) for name in _LONG}))
        return self._page("pair", choice=choice, steps=steps, sides=sides)

    def games(self, query: Query) -> str:
        chosen = TrialFilter.of(query)
        with self._reading() as connection, stored.chosen_trials(connection, chosen, self.notes, None) as rows:
            page = stored.page_of_games(rows, query)
            known = summary.filter_values(connection)
        told = [name for name in _OF_ONE_ITEM if any(row[name] for row in page.rows)]
        return self._page("games", page=page, chosen=chosen, known=known, told=told, query=chosen.query())

    def game(self, game: str, query: Query) -> str:
        chosen = TrialFilter.of(query)
        with self._reading() as connection:
            page = stored.one_game(connection, game)
            with stored.chosen_trials(connection, chosen, self.notes, None) as rows:
                before, behind = stored.neighbouring_games(rows, game)
        for row, before_it in zip(page.trials, (None, *page.trials), strict=False):
            row["messages"] = [(m.role, summary.begun(m.text)) for m in stored.new_messages(row, before_it)]
            row["reasoning"] = summary.begun(row["reasoning_text"])
        return self._page(
            "game",
            page=page,
            row=page.trials[0],
            game=game,
            before=before,
            behind=behind,
            query=chosen.query(),
        )

    def runs(self, query: Query) -> str:
        with kept_open(self.db, memory_limit=MEMORY):
            models = self._counted(("runs",), lambda: summary.model_rows(self.db))
            shown = summary.run_rows(self.db, models, looks_for_problems="problems" in query)
            with self._reading(shows_waiting=False):
                pass  # to find which pages exist
        return self._page("runs", shown=shown, refresh=_REFRESH_S["runs"] if shown.is_running else None)

    def tables(self, query: Query) -> str:
        with self._reading() as connection:
            groups = view_groups(connection)
        return self._page("tables", groups=groups, heads=read_view_heads())

    def table(self, name: str, query: Query) -> str:
        with self._reading() as connection:
            page, order, columns = page_of_view(connection, name, query)
        head, sort = read_view_heads().get(name), query.get("sort", "")
        return self._page("table", name=name, head=head, page=page, order=order, columns=columns, sort=sort)

    def problem(self, error: Exception) -> str:
        return self._page("problem", nav={}, text=str(error))

    @contextmanager
    def chosen(self, query: Query, folder: Path, limit_s: float) -> Iterator[duckdb.DuckDBPyRelation]:
        """Yield the trials of an address in their order, for a file that is written into `folder`."""
        chosen = TrialFilter.of(query)
        search = self._search(chosen, limit_s)
        with (
            guarded(self.db, limit_s, folder) as connection,
            stored.chosen_trials(connection, chosen, self.notes, search) as rows,
        ):
            yield chosen.order.sorted(rows)

    def _search(self, chosen: TrialFilter, wait_s: float) -> TextSearch | None:
        if not chosen.text:
            return None
        search = self.searches.of(chosen.text)
        search.go_on(wait_s)
        return search

    def _counted(self, what: tuple[Any, ...], count: Callable[[], _Count]) -> _Count:
        """Count once, until the file or a journal changes: waiting answers are counted, too."""
        key = (*what, self.db.stat().st_mtime_ns, sum(journal_sizes(self.db).values()))
        if key not in self._counts:
            if len(self._counts) >= 64:
                self._counts.clear()
            self._counts[key] = count()
        counted: _Count = self._counts[key]
        return counted

    def forget(self) -> None:
        """Count everything again on the next request."""
        self._counts.clear()

    @contextmanager
    def _reading(self, *, shows_waiting: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the database; which kinds of pages exist is looked up again when the file has changed."""
        with guarded(self.db, shows_waiting=shows_waiting) as connection:
            changed_at = self.db.stat().st_mtime_ns
            if self._kinds[0] != changed_at:
                pages = {"trials": "Trials"}
                if stored.paired_cells(connection):
                    pages["pairs"] = "Pairs"
                if names := stored.conversation_names(connection):
                    pages["games"] = " and ".join(f"{name}s" for name in names).capitalize()
                self._kinds = (changed_at, pages | {"runs": "Runs", "tables": "Tables"})
            yield connection

    def _notes(self) -> dict[str, dict[str, str]]:
        return self.notes.read() if self.notes else {}

    def _labels(self) -> list[str]:
        return self.notes.labels() if self.notes else []

    def _page(self, template: str, **content: Any) -> str:
        usual = {"nav": self._kinds[1], "refresh": None, "here": template}
        return self._environment.get_template(f"{template}.html.j2").render(usual | content)


def _reading(row: Mapping[str, Any]) -> str:
    """Say how an answer was read, in a sentence."""
    detail = f" ({row['detail']})" if row["detail"] else ""
    expected = f" The condition expects {row['expected']}." if row["expected"] else ""
    sentences = {
        "answered": f"Read as {row['choice']}.{expected}" if row["choice"] else "Read as an answer.",
        "refused": f"Read as a refusal{detail}.{expected}",
        "filtered": f"The provider's filter withheld the answer{detail}.",
        "truncated": f"The answer was cut off{detail}: it ended at a limit of length.",
        "malformed": f"No one clear choice could be read{detail}.{expected}",
        "rejected": f"The provider declined this request in two calls, for no known reason{detail}.",
        "failed": f"No answer came{detail}.",
    }
    return sentences.get(row["outcome"], str(row["outcome"]))


@functools.cache
def style() -> tuple[str, str]:
    """Return the style of all pages, and the source of a content security policy that lets it through."""
    loader = PackageLoader("slant.collector.view")
    text = page_style() + loader.get_source(Environment(autoescape=True), "view.css")[0]
    return text, f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def security_policy(*, has_forms: bool, script: str = "") -> str:
    """Return the content security policy of a page. `script`: the hash of the only script that runs; empty: none
    does."""
    forms, runs = "'self'" if has_forms else "'none'", f"script-src {script}; " if script else ""
    return f"default-src 'none'; {runs}style-src {style()[1]}; img-src data:; base-uri 'none'; form-action {forms}"


def _environment() -> Environment:
    # `exact` is for attributes, whose value goes back to the server unchanged
    filters = {"cell": cell, "digits": digits, "exact": escape}
    environment = template_environment("slant.collector.view", is_html=True, finalize=_shown, filters=filters)
    notices = {name: facts.notice for name, facts in SOURCES.items()}
    environment.globals |= {
        "script_hash": "",
        "style": Markup(style()[0]),
        "policy": security_policy,
        "source_notices": notices,
    }
    return environment


def _shown(value: Any) -> Any:
    """Show what a template prints, nothing hidden."""
    return value if isinstance(value, Markup) else summary.visible(value)


def digits(value: int | None) -> str:
    """Return a number that is no count: without commas."""
    return "" if value is None else str(value)


def cell(value: Any) -> str:
    """Return a value in a table: unknown is nothing, numbers have six digits, times whole seconds."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    return f"{value:.6g}" if isinstance(value, float) else str(value)
