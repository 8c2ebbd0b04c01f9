"""Write a study in which a model codes the answers of another study: those that a rule left undecided, and a sample of
those that it decided, which shows how far both agree."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slant.collector.designs.coding.design import COLUMNS, DESIGN
from slant.collector.designs.study import Study
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.new_study import STUDY_FILE, write_new_study
from slant.collector.study.folder import MAX_READ_BYTES
from slant.collector.system.files import contents, replace_on_disk, write_file
from slant.collector.system.scratch import temporary_folder
from slant.collector.system.shipped_files import sql_query

ANSWERS_FILE = "answers.csv"
_LONGEST_SHOWN = 20_000
"""Show this many characters at the end of an answer, the same that the rule reads."""


@dataclass(frozen=True, slots=True)
class CodingStudy:
    """Report a written study and what it asks: undecided answers, and those that were coded before."""

    file: Path
    n_undecided: int
    n_decided: int


def write_coding_study(
    db: Path, study: Study, sources: Sequence[str], n_decided: int, folder: Path, models: Sequence[str] = ()
) -> CodingStudy:
    """Write the study into `folder`. Its answers are those in the database now; a study file that already exists there,
    perhaps with a custom prompt, stays as it is.

    Raise UsageError if the design has no answers that are coded by rule, if the database has none, if nothing is
    undecided, if there are more than a study can hold, if the folder holds something else, or if it can't ask one of
    `models`. Then nothing is written.
    """
    with reading(db) as connection:
        values = {"study": study.name, "variant": study.variant, "sources": list(sources), "n_decided": n_decided}
        cursor = connection.execute(sql_query("answers_to_code"), values)
        columns = [column[0] for column in cursor.description or ()]
        rows = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    n_undecided = sum(row["first_coding"] is None for row in rows)
    if not n_undecided:
        raise UsageError(
            f'No answer is undecided in "{study.name}" ({study.variant}; {", ".join(sources)}) in {db}: '
            "nothing needs a second coding.",
            "Only answers that a rule decides, as those of decisions, can be left undecided. Simulated ones are coded "
            "with --simulated.",
        )
    text = _answers_text(study, rows)
    if len(text.encode()) > MAX_READ_BYTES:
        raise UsageError(
            f"{len(rows):,} answers have {len(text.encode()) / 1e6:.0f} MB; a study can hold {MAX_READ_BYTES / 1e6:g}.",
            f"Take fewer that are decided (--decided, now {n_decided}), or one variant at a time.",
        )
    with temporary_folder("coding") as place:
        texts = _texts_of_study(coding_name(study), text, place)
        known = _known_study(folder, study) or load_study(place / STUDY_FILE)
        for model in models:
            known.model(model)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in texts.items():
        if name == ANSWERS_FILE or not (folder / name).exists():
            replace_on_disk(folder / name, content.encode())
    return CodingStudy(folder / STUDY_FILE, n_undecided, len(rows) - n_undecided)


def _texts_of_study(name: str, answers: str, folder: Path) -> dict[str, str]:
    """Return the files of a new study by name, as they will be in `folder`, with its answers last."""
    for path in write_new_study(name, DESIGN.name, folder):
        if path.name == ANSWERS_FILE:
            write_file(path, answers)
    names = sorted((path.name for path in folder.iterdir()), key=lambda file: file == ANSWERS_FILE)
    return {file: contents(folder / file).decode("utf-8") for file in names}


def _known_study(folder: Path, study: Study) -> Study | None:
    """Return the folder's coding of this study; None if it holds none, and nothing would be
    overwritten.
    """
    if not (folder / ANSWERS_FILE).exists():
        return None
    file = folder / STUDY_FILE
    coding = load_study(file) if file.exists() else None
    if coding is None or (coding.name, coding.design.name) != (coding_name(study), DESIGN.name):
        raise UsageError(
            f'"{folder / ANSWERS_FILE}" is there already, and no file of the coding of "{study.name}".',
            "Nothing was written. Give another folder: --folder PATH",
        )
    return coding


def coding_name(study: Study) -> str:
    """Name the study that codes this one."""
    return f"{study.name}_{DESIGN.name}" if study.variant == "base" else f"{study.name}_{study.variant}_{DESIGN.name}"


def _answers_text(study: Study, rows: Sequence[dict[str, Any]]) -> str:
    design = study.design
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        # Python's csv does not quote a lone carriage return, which ends a row for any reader.
        lines = (row["text"] or "").replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
        shown = lines.strip()[-_LONGEST_SHOWN:]
        options = design.reads.coded_options(study, row)
        writer.writerow((row["trial_id"], row["test"], *options, shown, row["first_coding"] or ""))
    return text.getvalue()
