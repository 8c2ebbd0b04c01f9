"""Seal one study, with everything made from it, as one file that others can check and make again.

It is all made from a copy of the database that holds only this study, and that is made from the very journals that are
packed: so nothing else can get in, and what a replay will find has been found once.
"""

from __future__ import annotations

import functools
import json
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.archive import journals, layout, study_copy
from slant.analysis.archive.layout import write_manifest, write_zip
from slant.analysis.archive.sealed_data import Contents, add_data, add_sources, add_tables
from slant.analysis.archive.sealed_pages import add_documents
from slant.analysis.archive.steps import Frames, steps_of
from slant.analysis.bridge.worker import needed_versions, versions_here
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import model_folder
from slant.analysis.plots.drawing import figures
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import flat
from slant.analysis.stages import Stages
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, RError, UnknownNameError, UsageError, check_known
from slant.collector.keep.database import fetched, reading
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_loader import load_journals
from slant.collector.keep.stored_attempts import designs_in
from slant.collector.provenance.bibtex import NO_R_PACKAGE
from slant.collector.providers import PROVIDERS
from slant.collector.studies.catalogue import Study
from slant.collector.system.files import moved, remove, write_file
from slant.collector.system.scratch import scratch_near
from slant.collector.system.shipped_files import current_code_version, git_commit, sql_query

_PACKAGES = ("lme4", "lmerTest", "ggplot2")  # a seal uses these if they are installed
_CALLED = ("clubSandwich", "sandwich", "pbkrtest")  # engines call these whose own packages they are not
_OF_PEOPLE = "SELECT 1 FROM runs WHERE study = ? AND source = 'human' LIMIT 1"


@dataclass(frozen=True)
class Sealed:
    """Report what was packed: `manifest_sha256` identifies all of it by one hash; `notes` say what was left out, and
    why."""

    path: Path
    study: str
    manifest_sha256: str
    n_files: int
    n_bytes: int
    n_trials: int
    notes: tuple[str, ...]


@checked_arguments()
def seal(
    db: str | Path,
    study: str | Study | None = None,
    out: str | Path = "study.zip",
    without: Sequence[str] = (),
    authors: Sequence[str] = (),
    license: str | None = None,
    workers: Workers = None,
    progress: Stages | None = None,
    executor: Executor | None = None,
    overwrite: bool = False,
    with_r: bool = True,
    people_texts: bool = False,
) -> Sealed:
    """Pack `study` (default: the database's only one) into the new file `out`.

    Quick fits and figures are made as needed, in R; other results are packed if they are kept and from current rows and
    code. `without=["reasoning"]` leaves the texts of reasoning out, and keeps their hashes. `authors` and `license` (an
    SPDX name) go into CITATION.cff and README.md, which otherwise say TO FILL. `workers` and `executor` are as for
    `fit()`. Without R there are no figures, and only kept fits; `notes` of the result say so. `with_r=False` leaves
    both out. What people wrote in their own words is left out, and its hashes stay, unless `people_texts` is true.

    The same database gives the same bytes. Raise UsageError if `out` exists or can't be made, DatabaseError without
    trials, if a journal is missing, or while a process collects into the database.
    """
    db, out, stages = Path(db), Path(out), progress or Stages()
    for kind in without:
        check_known("kind of texts to leave out", kind, journals.KINDS)
    if out.exists() and not overwrite:
        raise UsageError(f"There is a file {out} already.", "To replace it: --overwrite (from Python: overwrite=True)")
    if not out.parent.is_dir() or out.is_dir() or out.suffix.lower() != ".zip":
        raise UsageError(f'Can\'t seal into "{out}".', "Name a ZIP file in a folder that is there: --out study.zip")
    with suppress(DatabaseError):  # a file that may not be written: the comparison of counts reports what it lacks
        load_journals(db)
    chosen = study_copy.stored_study(db, study_in(db, study).name, None)
    with reading(db) as connection:
        if chosen.name not in (studies := designs_in(connection)):
            raise UnknownNameError("study in this database", chosen.name, studies)
        is_of_people = bool(connection.execute(_OF_PEOPLE, [chosen.name]).fetchall())
    left_out = (*without, journals.PEOPLE) if is_of_people and not people_texts else tuple(without)
    paths = journals.journals_of(db, chosen.name)
    with scratch_near(out) as place:
        folder = place / "archive"
        folder.mkdir()
        public = [known.base_url for known in PROVIDERS.values() if known.base_url and known.key_variable]
        own_servers = fetched(db, sql_query("own_servers"), {"study": chosen.name, "public": public})
        addresses = [address for (address,) in own_servers]  # of models that this machine, or one next to it, served
        private = journals.private_words(db.resolve().parent, out.resolve().parent, addresses=addresses)
        contents = Contents(chosen, folder, place / f"{chosen.name}.duckdb", private, left_out)
        with stages.stage("Copying journals", "MB") as on_bytes:
            to = journal_folder(contents.copy)
            contents.journals = journals.seal_journals(paths, to, private, contents.without, on_bytes)
        with stages.stage("Loading them", "MB") as on_bytes:
            study_copy.load_sealed(contents.copy, on_bytes)
        _check_is_whole(db, contents.copy, chosen.name)
        if with_r:
            with study_copy.in_one_order(db, place):
                _add_results(contents, db, executor or workers, stages)
        else:
            contents.notes.append("Fits and figures were left out: R was not asked.")
        packages = dict.fromkeys([*_PACKAGES, *(package for step in contents.steps for package in step.packages)])
        r = r_versions(contents.computed, tuple(packages) if with_r else ())
        contents.versions = software(r)
        needed = needed_versions((*packages, *_CALLED)) if r else {}
        write_environment(folder / layout.ENVIRONMENT, r, needed)
        with stages.stage("Writing data and tables"), study_copy.in_one_order(contents.copy, place):
            add_data(contents, authors, license)
            add_tables(contents)
            add_sources(contents)
        moved(journal_folder(contents.copy), folder / layout.JOURNAL)
        for left in (folder / layout.JOURNAL).glob("*"):
            if left.suffix != ".jsonl":
                remove(left)
        add_documents(contents, authors, license)
        digest = write_manifest(folder)
        n_trials = int(fetched(contents.copy, "SELECT count(*) FROM trials")[0][0])
        with stages.stage("Packing", "MB") as on_bytes:
            write_zip(folder, out, on_bytes)
        n_files = sum(1 for path in folder.rglob("*") if path.is_file())
    return Sealed(out, chosen.name, digest, n_files, out.stat().st_size, n_trials, tuple(contents.notes))


def _check_is_whole(db: Path, copy: Path, study: str) -> None:
    """Check that the journals hold the whole database."""
    query = "SELECT count(*) FROM attempts WHERE study = ?"
    counts = [fetched(path, query, [study])[0][0] for path in (db, copy)]
    if counts[0] != counts[1]:
        raise DatabaseError(
            f'Can\'t seal "{study}": the database has {counts[0]:,} attempts of it, its journals {counts[1]:,}.',
            "Load what is missing (collect load), or seal a database that is made of these journals alone.",
        )


def _add_results(contents: Contents, db: Path, workers: Workers, stages: Stages) -> None:
    """Add fits and figures, made in the user's own database, which keeps them; then copy all that is kept."""
    study, folder = contents.study, contents.folder
    kept = set(study_copy.kept_call_ids(db, study.name))
    steps = list(steps_of(db, study, kept))
    made: dict[str, Frames] = {}
    for step in steps:
        with stages.stage(f"{step.name} in R") as on_calls:
            try:
                made[step.name] = step.frames(db, study, workers, on_calls)
                contents.steps.append(step)
            except RError as error:
                contents.notes.append(f"{step.name} was left out: {contents.private.in_text(error.what)}")
    with stages.stage("Figures in R") as on_calls:
        _add_figures(contents, db, workers, on_calls)
    of_fits = frozenset().union(*(step.ids for step in contents.steps))
    now_kept = set(study_copy.kept_call_ids(db, study.name))
    fits = {call_id for (call_id,) in fetched(db, "SELECT call_id FROM fit_cells")}
    if stale := len((now_kept & fits) - of_fits):
        contents.notes.append(
            f"{stale} kept fits were left out: they are of earlier rows, settings or code, could not be made again, or "
            "were made for `analyze check`, which makes them again."
        )
    study_copy.copy_results(db, contents.copy, (now_kept - fits) | (now_kept & of_fits), contents.without)
    _write_frames(contents, made)
    for path in sorted(model_folder(contents.copy).glob(f"*{study_copy.DRAWS}")):
        (folder / layout.DRAWS).mkdir(exist_ok=True)
        moved(path, folder / layout.DRAWS / f"{path.name.removesuffix(study_copy.DRAWS)}.parquet")
    contents.computed = [frame for frames in made.values() for frame in frames.values()]


def _write_frames(contents: Contents, made: dict[str, Frames]) -> None:
    for step in contents.steps:
        for table, frame in made[step.name].items():
            if not frame.height:
                continue
            shared = journals.texts_left_out(frame) if journals.REASONING in contents.without else frame
            name = f"{layout.FITS}/{step.name}.{table}.csv"
            contents.write(name, flat(shared).write_csv())
            contents.results.append({"file": name, "command": step.command, "what": f"{step.kind}: {table}"})
            if "seconds" in frame.columns and table in ("diagnostics", "refits", "table"):
                seconds = frame["seconds"].cast(pl.Float64).sum()
                contents.run_times.append({"name": step.name, "seconds": f"{seconds:.1f} s"})


def _add_figures(contents: Contents, db: Path, workers: Workers, on_calls: Any) -> None:
    study, folder = contents.study, contents.folder / layout.FIGURES
    try:
        rows = figures(db, study, folder, workers=workers, progress=on_calls, with_rows=True)
    except RError as error:
        contents.notes.append(f"Figures were left out: {contents.private.in_text(error.what)}")
        return
    except DatabaseError:
        return  # there is nothing to draw
    command = f"analyze figures --study {study.name}"
    for row in rows.to_dicts():
        if row["path"] is None:
            contents.notes.append(f"The figure {row['figure']} was left out: {row['problem']}")
            continue
        name = f"{layout.FIGURES}/{Path(row['path']).name}"
        contents.results.append({"file": name, "command": command, "what": row["alt_text"]})


_REQUIRED = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")


@functools.cache
def python_versions() -> dict[str, str]:
    """Return the packages that slant needs here, and those that they need, by name."""
    found: dict[str, str] = {}
    todo = ["slant"]
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in found:
            continue
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        found[name] = distribution.version
        matches = [_REQUIRED.match(line) for line in distribution.requires or () if "extra ==" not in line]
        todo += [match[0] for match in matches if match]
    return dict(sorted((name, version) for name, version in found.items() if name != "slant"))


def r_versions(frames: Iterable[pl.DataFrame], packages: tuple[str, ...]) -> dict[str, str]:
    """Return R and its packages: those that made the results, according to the results, else those here. Of several
    versions it is the last by number; empty if there is no R and no result, or no package is requested."""
    made: dict[str, str] = {}
    if packages:
        with suppress(RError):
            made = {name: version for name, version in versions_here(packages).items() if version is not None}
    for frame in frames:
        if "versions" in frame.columns:
            for text in frame["versions"].drop_nulls().unique().sort():
                made |= {name: str(version) for name, version in json.loads(text).items()}
    return {name: made[name] for name in sorted(made) if name not in NO_R_PACKAGE}


def software(r: Mapping[str, str]) -> dict[str, str]:
    """Return the versions behind the numbers, by name."""
    python = python_versions()
    return {
        "slant": current_code_version(),
        "slant commit": git_commit() or "unknown",
        "Python": platform.python_version(),
        **{name: python[name] for name in ("duckdb", "polars") if name in python},
        **r,
    }


def write_environment(folder: Path, r: Mapping[str, str], needed: Mapping[str, str]) -> None:
    """Write which versions made the results: `r` those of R that they name, `needed` all packages behind them."""
    folder.mkdir()
    lines = [f"{name}=={version}\n" for name, version in python_versions().items()]
    write_file(folder / "constraints.txt", "".join(lines))
    packages = {
        name: {"Package": name, "Version": version, "Source": "Repository"}
        for name, version in sorted({**needed, **r}.items())
        if name != "R"
    }
    if r:
        lock = {"R": {"Version": r["R"], "Repositories": []}, "Packages": packages}
        write_file(folder / "renv.lock", json.dumps(lock, indent=2) + "\n")
    about = {"system": platform.system(), "machine": platform.machine(), "software": software(r)}
    write_file(folder / "platform.json", json.dumps(about, indent=2) + "\n")
