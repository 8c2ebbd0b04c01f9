"""A study that has the answers of another one coded by a model: those that a rule left undecided, and a sample of those
that it decided, which say how far both agree."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slant.collector.designs import design_named
from slant.collector.designs.coding.design import COLUMNS
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.studies.new_study import STUDY_FILE, write_new_study
from slant.collector.study.folder import MOST_READ_BYTES
from slant.collector.study.records import Study
from slant.collector.system.shipped_files import sql_query

ANSWERS_FILE = "answers.csv"
_DESIGN = "coding"
_LONGEST_SHOWN = 20_000
"""Characters at the end of an answer that are shown, as the rule reads them."""


@dataclass(frozen=True, slots=True)
class CodingStudy:
    """Where it was written, and what it asks: answers that were undecided, and those that were coded before."""

    file: Path
    n_undecided: int
    n_decided: int


def write_coding_study(db: Path, study: Study, sources: Sequence[str], n_decided: int, folder: Path) -> CodingStudy:
    """Writes the study into `folder`. Its answers are those in the database now; a study file that lies there already,
    perhaps with a prompt of somebody's own, stays as it is.

    UsageError where the design has no answers that are coded by rule, where there are none in the database, where
    nothing is undecided, and where there are more than a study can hold.
    """
    with reading(db) as connection:
        values = {"study": study.name, "variant": study.variant, "sources": list(sources), "n_decided": n_decided}
        cursor = connection.execute(sql_query("answers_to_code"), values)
        columns = [column[0] for column in cursor.description or ()]
        rows = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    n_undecided = sum(row["first_coding"] is None for row in rows)
    if not n_undecided:
        raise UsageError(
            f'There is no undecided answer of "{study.name}" ({study.variant}; {", ".join(sources)}) in {db}: '
            "nothing needs a second coding.",
            "Only answers that a rule decides, as those of decisions, can be left undecided. Simulated ones are coded "
            "with --simulated.",
        )
    text = _answers_text(study, rows)
    if len(text.encode()) > MOST_READ_BYTES:
        raise UsageError(
            f"{len(rows):,} answers have {len(text.encode()) / 1e6:.0f} MB; a study can hold "
            f"{MOST_READ_BYTES / 1e6:g}.",
            f"Take fewer that are decided (--decided, now {n_decided}), or one variant at a time.",
        )
    file = folder / STUDY_FILE
    if not file.exists():
        (folder / ANSWERS_FILE).unlink(missing_ok=True)
        write_new_study(coding_name(study), _DESIGN, folder)
    (folder / ANSWERS_FILE).write_text(text, "utf-8")
    return CodingStudy(file, n_undecided, len(rows) - n_undecided)


def coding_name(study: Study) -> str:
    """The name of the study that codes this one."""
    return f"{study.name}_{_DESIGN}" if study.variant == "base" else f"{study.name}_{study.variant}_{_DESIGN}"


def _answers_text(study: Study, rows: Sequence[dict[str, Any]]) -> str:
    design = design_named(study.design)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        shown = (row["text"] or "").replace("\0", "").replace("\r\n", "\n").strip()[-_LONGEST_SHOWN:]
        options = design.coded_options(study, row)
        writer.writerow((row["trial_id"], row["test"], *options, shown, row["first_coding"] or ""))
    return text.getvalue()
