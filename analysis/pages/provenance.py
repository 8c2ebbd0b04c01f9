"""Show where results come from: runs, a paragraph for the methods section, and the versions of R and its packages, with
differences from those here. Neither the machine nor its folders are named, for readers are elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from slant.analysis.pages.report_tables import filled_columns
from slant.collector.provenance.methods import command_line, paragraph, references
from slant.collector.provenance.run_history import read_run_histories

_QUOTED_FOLDERS = re.compile(r"""(?<=["'])/(?:[^"'/\n]+/)+([^"'/\n]+)/?(?=["'])""")
_FOLDERS = re.compile(r"(?<![\w.:/~-])/(?:[^\s/\"']+/)+")
_RUN_COLUMNS = (
    "run_id", "source", "study_version", "variant", "seed", "repetitions", "code_version", "git_commit", "started_at",
    "finished_at", "end_reason", "command",
)  # fmt: skip


def described_runs(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the runs in order: without their machine, files and folders by last name only. Empty columns are left
    out.
    """
    described = runs.select(_RUN_COLUMNS).with_columns(
        pl.col("command").map_elements(without_folders, return_dtype=pl.String),
        pl.col("git_commit").str.head(12),
        pl.col("started_at", "finished_at").dt.to_string("%Y-%m-%d %H:%M"),
    )
    return filled_columns(described)


@dataclass(frozen=True)
class MethodsText:
    """Hold what to write about answers that were collected together, and the command that asks for them again."""

    paragraph: str
    references: tuple[str, ...]
    command: str


def describe_methods(db: str | Path, run_ids: Sequence[str]) -> list[MethodsText]:
    """Return a text for each group of runs that together are one collection of answers.

    `run_ids` from the oldest to the latest; a run that a later one continues is described with that one.
    """
    texts: list[MethodsText] = []
    covered: set[tuple[str, str]] = set()
    for run_id, history in zip(run_ids[::-1], read_run_histories(Path(db), run_ids)[::-1], strict=True):
        anonymous = replace(history, run={**history.run, "machine": None})
        run_models = {(run_id, model["model"]) for model in anonymous.models}
        if run_models and run_models <= covered:
            continue
        covered |= {(row["run_id"], row["model"]) for row in anonymous.provenance}
        command = without_folders(command_line(anonymous) or "")
        texts.append(MethodsText(paragraph(anonymous), tuple(references(anonymous)), command))
    return texts[::-1]


def without_folders(text: str) -> str:
    """Cut absolute paths to their last name. A folder's name may hold blanks, so a quoted one is one path."""
    return _FOLDERS.sub("", _QUOTED_FOLDERS.sub(r"\1", text))
