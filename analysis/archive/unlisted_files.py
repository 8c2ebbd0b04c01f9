"""Check files of an archive that no step of its record names: made again if something makes them, else named as not
compared. Otherwise a falsified file would only have to be left out of replay.json.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from slant.analysis.archive import layout
from slant.analysis.archive.comparison import (
    DIFFERS,
    NOT_COMPARED,
    Compared,
    Rule,
    compare_bytes,
    compare_tables,
)
from slant.analysis.archive.sealed_data import codebook_rows, data_file, source_texts
from slant.collector.system.files import write_file

_RESULTS = (layout.DATA, layout.TABLES, layout.FITS, layout.FIGURES, layout.DRAWS)
_SOURCES = {layout.STUDY: "study", layout.PROMPTS: "prompts"}
_PAGE = "written once, when the study was sealed: what it says may be another's"
_WHY = {
    layout.JOURNAL: "all else is made of the journals, and only who collected them can vouch for them",
    layout.REPLAY: "it says what is to be made again",
    layout.ENVIRONMENT: "it says which software made the results, and nothing here can tell",
}


def source_rows(db: Path, study: str, sealed: Path, made: Path, names: Collection[str]) -> Iterator[Compared]:
    """Yield the study's files and the prompts, compared with those in the journals."""
    texts, _ = source_texts(db, study)
    for name in sorted(names):
        kind = _SOURCES.get(name.partition("/")[0])
        if kind is None:
            continue
        if name not in texts:
            yield Compared(kind, name, DIFFERS, note="no journal of the archive has it")
            continue
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(made / name, texts[name])
        if kind == "prompts":
            yield compare_tables(kind, name, sealed / name, made / name, Rule())
        else:
            yield compare_bytes(kind, name, sealed / name, made / name)


def codebook_row(
    study: str, listed: Sequence[Mapping[str, str]], sealed: Path, made: Path, names: Collection[str]
) -> Iterator[Compared]:
    """Yield the codebook, compared with that of the data made again, if all of them were."""
    files = [data_file(study, row["view"]) for row in listed]
    if layout.CODEBOOK in names and files and all((made / file.parquet).is_file() for file in files):
        write_file(made / layout.CODEBOOK, codebook_rows(files, made).write_csv())
        yield compare_tables("codebook", layout.CODEBOOK, sealed / layout.CODEBOOK, made / layout.CODEBOOK, Rule())


def remaining_rows(names: Collection[str], compared: Collection[Compared]) -> Iterator[Compared]:
    """Yield a row for each file that no other row covers. A result that nothing makes differs: no archive of
    slant's has one."""
    done = {row.name for row in compared if row.kind != "hash"}
    for name in sorted(set(names) - done - {layout.MANIFEST}):
        place = name.partition("/")[0]
        if place in _RESULTS:
            note = f"nothing makes it: {layout.REPLAY} has no step for it"
            yield Compared(place.removesuffix("s"), name, DIFFERS, note=note)
        else:
            kind = "journal" if place == layout.JOURNAL else "page"
            yield Compared(kind, name, NOT_COMPARED, note=_WHY.get(place, _PAGE))
