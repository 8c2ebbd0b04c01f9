"""Write what to cite as BibTeX: the study's paper, R and the packages behind kept results, and slant.

Report one model at several addresses: two servers may hold two models under one name. Nothing is refused or left out
for that, because ports change; it is reported before asking, after merging, under tables and in `analyze check`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.collector.errors import DatabaseError
from slant.collector.keep.database import fetched, reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.view_heads import ordered_view
from slant.collector.markup import escaped_latex
from slant.collector.plan.run_plan import RunPlan
from slant.collector.provenance.methods import is_citation
from slant.collector.provenance.run_history import RunHistory, public_address
from slant.collector.system.shipped_files import r_script, sql_query
from slant.collector.terminal import count_text, printable


def other_address_notes(run_plan: RunPlan) -> list[str]:
    """Return a sentence for each model that earlier runs in this database asked elsewhere. This never raises: a note is
    not worth losing a run.
    """
    if not run_plan.db.exists():
        return []
    with suppress(DatabaseError, duckdb.Error), reading(run_plan.db, patience_s=1.0) as connection:
        rows = connection.execute(sql_query("asked_addresses"), {"study": run_plan.study.name}).fetchall()
        asked: dict[tuple[str, str, str], list[str]] = {}
        for _, model, provider, requested, address in rows:
            asked.setdefault((model, provider, requested), []).append(address)
        return [note for plan in run_plan.model_plans if (note := _before_asking(plan, asked))]
    return []


def _before_asking(model_plan: Any, asked: Mapping[tuple[str, str, str], Sequence[str]]) -> str | None:
    now = public_address(model_plan.base_url)
    key = model_plan.name, model_plan.provider.name, model_plan.model.requested_model
    elsewhere = [address for address in asked.get(key, ()) if address != now]
    if now is None or not elsewhere:
        return None
    return (
        f"{model_plan.name} is asked at {now}; answers in this database came from another address: "
        f"{', '.join(elsewhere)}. Two servers may hold two models under one name (view model_addresses)."
    )


def address_rows(db: str | Path, study: str | None = None) -> pl.DataFrame:
    """Return rows of the view model_addresses for models with more than one; none in an older slant's file."""
    with suppress(DatabaseError, duckdb.Error), reading(db) as connection:
        asked = connection.execute(sql_query("asked_addresses"), {"study": study}).fetchall()
        if len({row[:-1] for row in asked}) == len(asked):  # scanning ten million answers would take a second
            return pl.DataFrame()
        addresses = ordered_view(connection, "model_addresses")
        collected = addresses.filter("source = 'collected' AND n_addresses > 1 AND base_url IS NOT NULL")
        rows: pl.DataFrame = frame_of(collected)
        return rows if study is None else rows.filter(pl.col("study") == study)
    return pl.DataFrame()


def address_sentences(rows: pl.DataFrame) -> list[str]:
    """Return a sentence for each model of these rows: where its answers came from, how many, and what the
    servers say.
    """
    if rows.is_empty():
        return []
    keys = ["source", "study", "study_version", "variant", "model", "provider", "requested_model"]
    return [_sentence(group.to_dicts()) for _, group in rows.group_by(keys, maintain_order=True)]


def _sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    places = "; ".join(f"{count_text(row['n_trials'], 'answer')} from {row['base_url']}" for row in rows)
    known = [row["fingerprints"] for row in rows if row["fingerprints"]]
    if len(known) < len(rows):
        verdict = "the servers name no fingerprint that would tell"
    else:
        verdict = "their fingerprints are the same" if len(set(known)) == 1 else "their fingerprints differ"
    return (
        f"{rows[0]['model']} was asked at {len(rows)} addresses: {places}; {verdict}. Two servers may hold two models "
        "under one name (view model_addresses)."
    )


_PAPER = re.compile(r"(?P<authors>.+?)(?: \((?P<year>\d{4})\))?, (?P<title>.+)")
_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,100}")
_PART = re.compile(r"(?m)^%% (\S+) (\S+)\n")
_KEYLESS = re.compile(r"(?m)^(@\w+\{)[^,\n]*,")
NO_R_PACKAGE = ("slant", "definition", "machine", "slant's R code")
"""List what is kept besides the versions of R and its packages."""
_SLANT_YEAR = "2026"
_TIME_LIMIT_S = 60.0


@dataclass(frozen=True)
class Bibliography:
    """Hold BibTeX entries, and sentences on what could not be cited in full."""

    entries: Sequence[str]
    notes: Sequence[str]


def bibliography(db: Path, history: RunHistory) -> Bibliography:
    """Cite for a run: its study's paper, the R packages whose results of that study are kept, and slant."""
    run = history.run
    versions: dict[str, set[str]] = {}
    rows = fetched(db, sql_query("kept_versions"), {"study": run["study"]})
    for (text,) in rows:  # a stranger may have written them: only possible names of packages count
        for name, version in json.loads(text).items():
            if name not in NO_R_PACKAGE and _PACKAGE.fullmatch(name):
                versions.setdefault(name, set()).add(printable(version))
    made_with = dict(sorted(versions.items(), key=lambda item: (item[0] != "R", item[0].lower())))
    cited, notes = _r_entries(made_with)
    paper = [_paper_entry(run["study"], run["study_source"])] if is_citation(run["study_source"]) else []
    return Bibliography([*paper, *cited, _slant_entry(run["code_version"])], notes)


def _r_entries(made_with: dict[str, set[str]]) -> tuple[list[str], list[str]]:
    """Add R's own citation() of each package; a plain entry if R or the package is not here."""
    if not made_with:
        return [], []
    texts = _asked_of_r(list(made_with))
    entries, notes = [], []
    for name, versions in made_with.items():
        used = " and ".join(sorted(versions))
        if name not in texts:
            entries.append(_entry("Manual", f"R-{name}", title=f"{name}: an R package", note=f"Version {used}"))
            notes.append(f"{name} is not installed here, so its entry is no more than its name and version ({used}).")
            continue
        here, text = texts[name]
        if {_number(version) for version in versions} != {_number(here)}:
            notes.append(f"The entry of {name} is that of version {here}; the results were made with {used}.")
        own = [entry.strip() for entry in re.split(r"(?m)^(?=@)", text) if entry.strip()]
        keys = [f"R-{name}", *(f"R-{name}-{number}" for number in range(2, len(own) + 1))]  # R gives most of them none
        entries += [_KEYLESS.sub(rf"\g<1>{key},", entry, count=1) for key, entry in zip(keys, own, strict=False)]
    return entries, notes


def _number(version: str) -> str:
    return version.replace("-", ".")  # R writes one version in two ways: 1.1-31 and 1.1.31


def _asked_of_r(packages: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the version that is installed here and its entries by name; nothing without R."""
    program = shutil.which("Rscript")
    if program is None:
        return {}
    words = [program, "--no-init-file", "--no-site-file", str(r_script("citations.R")), *packages]
    # the folder's .Renviron, which may be a stranger's, is not read in place of the user's
    environment = {"R_ENVIRON_USER": "~/.Renviron", **os.environ}
    try:
        done = subprocess.run(words, capture_output=True, timeout=_TIME_LIMIT_S, check=True, env=environment)
    except (OSError, subprocess.SubprocessError):
        return {}
    _, *parts = _PART.split(done.stdout.decode("utf-8", "replace"))
    return {name: (version, text) for name, version, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)}


def _paper_entry(study: str, source: str) -> str:
    """Return an entry from what the study file says about its source: "Authors (Year), Title". Anything else is a plain
    title. The kind is Misc, for an Article needs a journal, which a study file does not name."""
    parts = _PAPER.fullmatch(source)
    if parts is None:
        return _entry("Misc", study, title=source)
    authors = re.sub(r",? & |, ", " and ", parts["authors"])
    authors = re.sub(r",? et al\.?", " and others", authors)
    return _entry("Misc", study, author=authors, title=parts["title"], year=parts["year"] or "")


def _slant_entry(version: str) -> str:
    return _entry(
        "Manual", "slant", author="{The slant authors}", title="slant: measures how language models lean",
        year=_SLANT_YEAR, note=f"Version {version}",
    )  # fmt: skip


def _entry(kind: str, key: str, **fields: str) -> str:
    shown = {name: value if value.startswith("{") else escaped_latex(value) for name, value in fields.items() if value}
    shown = {name: f"{{{value}}}" if name == "title" else value for name, value in shown.items()}  # keeps capitals
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in shown.items())
    return f"@{kind}{{{re.sub(r'[^A-Za-z0-9_.-]', '-', key)},\n{lines}}}"
