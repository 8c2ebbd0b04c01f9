"""Where the data of a report come from, as readers elsewhere may know it: runs, versions, and a paragraph for the
methods section. Neither the machine nor its folders are told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from slant.analysis.fitting.fits import FitResult
from slant.collector.provenance.methods import command_line, paragraph, references
from slant.collector.provenance.run_history import run_histories

_QUOTED_FOLDERS = re.compile(r"""(?<=["'])/(?:[^"'/\n]+/)+([^"'/\n]+)/?(?=["'])""")
_FOLDERS = re.compile(r"(?<![\w.:/~-])/(?:[^\s/\"']+/)+")
_RUN_COLUMNS = (
    "run_id", "source", "study_version", "variant", "seed", "repetitions", "code_version", "git_commit", "started_at",
    "finished_at", "end_reason", "command",
)  # fmt: skip


def runs_told(runs: pl.DataFrame) -> pl.DataFrame:
    """The runs in order: not their machine, and of files and folders only the last name. Empty columns are left out."""
    told = runs.select(_RUN_COLUMNS).with_columns(
        pl.col("command").map_elements(without_folders, return_dtype=pl.String),
        pl.col("git_commit").str.head(12),
        pl.col("started_at", "finished_at").dt.to_string("%Y-%m-%d %H:%M"),
    )
    return told.select(name for name in told.columns if told[name].null_count() < told.height)


@dataclass(frozen=True)
class Told:
    """What is to be written about answers that were collected together, and the command that asks for them again."""

    paragraph: str
    references: tuple[str, ...]
    command: str


def methods(db: str | Path, run_ids: Sequence[str]) -> list[Told]:
    """One for each group of runs that together are one collection of answers.

    `run_ids` from the oldest to the latest; a run that a later one goes on from is told with that one.
    """
    found: list[Told] = []
    covered: set[tuple[str, str]] = set()
    for run_id, history in zip(run_ids[::-1], run_histories(Path(db), run_ids)[::-1], strict=True):
        told = replace(history, run={**history.run, "machine": None})
        its = {(run_id, model["model"]) for model in told.models}
        if its and its <= covered:
            continue
        covered |= {(row["run_id"], row["model"]) for row in told.provenance}
        command = without_folders(command_line(told) or "")
        found.append(Told(paragraph(told), tuple(references(told)), command))
    return found[::-1]


def versions_of(*results: FitResult) -> dict[str, str]:
    """Versions of R and its packages, by name; several of one where results were made with several."""
    found: dict[str, set[str]] = {}
    for text in pl.concat([one.diagnostics["versions"].drop_nulls() for one in results]).unique(maintain_order=True):
        for name, version in json.loads(text).items():
            found.setdefault(name, set()).add(str(version))
    found.pop("definition", None)
    return {name: " and ".join(sorted(versions)) for name, versions in found.items()}


def without_folders(text: str) -> str:
    """Absolute paths cut to their last name. A folder's name may hold blanks, so what is quoted is one path."""
    return _FOLDERS.sub("", _QUOTED_FOLDERS.sub(r"\1", text))
