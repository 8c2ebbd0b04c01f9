"""Start a study of your own: write a design's template, filled in with a name, into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from slant.collector.designs import design_named
from slant.collector.errors import DesignError, StudyError, UnknownNameError, UsageError
from slant.collector.example_models import with_example_models
from slant.collector.studies.catalogue import list_studies, load_variants
from slant.collector.study.toml_table import checked_name
from slant.collector.system.files import write_file
from slant.collector.system.scratch import temporary_folder
from slant.collector.system.shipped_files import templates_dir

STUDY_FILE = "study.toml"

CODED_TEXTS = ("answers", "reasoning", "refusals")
"""List which texts of a study may be coded: what was answered, the reasoning, and answers that refuse."""


def write_new_study(
    name: str, design: str, folder: Path, lists: Path | None = None, start: str | None = None
) -> list[Path]:
    """Write the files of a study of this design and return them, its TOML first. `lists` is a folder with published
    lists and prompts (see `Imports.published_study`); None takes those of the template. `start`: which of the
    design's studies to start from, if it has several (None: the usual one).

    Raise StudyError for an invalid name, UnknownNameError for an unknown design or start, UsageError if a file would
    have to be overwritten: then nothing is written.
    """
    checked_name(name, "study")
    if name in list_studies():
        raise UsageError(f'A study called "{name}" comes with slant.', "Take another name: both would be mixed up.")
    template = _template(design, start)
    texts = {file: with_example_models(text).replace("STUDY", name) for file, text in template.items()}
    if lists is not None:  # their texts may contain the template's word
        texts = design_named(design).imports.published_study(texts, lists)
        if not texts:
            raise UsageError(f"There is no layout of published lists for the design {design}.", "Leave out --lists.")
        files = sorted((templates_dir() / design / "published").glob("*.csv"))
        texts |= {file.name: file.read_text("utf-8") for file in files}  # the printed numbers of papers on these lists
        _check_study(texts, lists)
    paths = [folder / file for file in sorted(texts, key=lambda file: file != STUDY_FILE)]
    if existing := [path for path in paths if path.exists()]:
        raise UsageError(
            f"Can't write a new study into {folder}: {existing[0].name} is there already.",
            "Nothing was written. Give another folder: --folder PATH",
        )
    folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        write_file(path, texts[path.name])
    return paths


def _check_study(texts: Mapping[str, str], lists: Path) -> None:
    """Raise StudyError if these lists make no study that can be read."""
    with temporary_folder("new") as place:
        for file, text in texts.items():
            write_file(place / file, text)
        try:
            load_variants(place / STUDY_FILE)
        except StudyError as error:
            raise StudyError(f"No study can be made of the lists in {lists}: {error.what}", *error.details) from None


def _template(design: str, start: str | None) -> dict[str, str]:
    """Return the files of a design by name: those that ship with slant, or those in the package of another design."""
    starts = design_named(design).starts
    if start is not None and start not in starts:
        raise UnknownNameError(f"study to start from, of the design {design}", start, starts)
    folder = templates_dir() / design / (start or (starts[0] if starts else ""))
    own = design_named(design).template or {
        file.name: file.read_text("utf-8") for file in sorted(folder.glob("*.*")) if file.is_file()
    }
    if STUDY_FILE not in own:
        raise DesignError(f'The design "{design}" brings no study to start from.', "Its package says how to write one.")
    return dict(own)
