"""Replay an archive: check that it is as sealed, and that its journals give the same tables, fits and figures again.

The archive may come from anywhere: it is checked before it is unpacked, and only steps that slant knows are run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.archive import comparison, layout
from slant.analysis.archive.comparison import AGREES, DIFFERS, NOT_COMPARED, NOT_MADE, Compared, Rule
from slant.analysis.archive.journals import KINDS, REASONING
from slant.analysis.archive.layout import Archive, ArchiveError, check_room, opened_archive
from slant.analysis.archive.sealed_data import data_file, read_by, study_tables, write_tables
from slant.analysis.archive.sealing import r_versions, software
from slant.analysis.archive.steps import Step, read_step
from slant.analysis.archive.study_copy import DRAWS, in_one_order, load_sealed, stored_study
from slant.analysis.bridge.r_home import version_numbers
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import model_folder
from slant.analysis.plots.drawing import figures
from slant.analysis.rows.views import flat
from slant.analysis.stages import Stages
from slant.collector.arguments import checked_arguments
from slant.collector.errors import RError, SlantError, UsageError
from slant.collector.keep.database import fetched
from slant.collector.keep.export import export_trials
from slant.collector.keep.journal import journal_folder
from slant.collector.studies.catalogue import Study, fits_of
from slant.collector.study.toml_table import checked_name
from slant.collector.system.files import contents, copied, write_file
from slant.collector.system.scratch import whole_folder

DATABASE, _SEALED, _MADE = "replayed.duckdb", "sealed", "made"
_MAX_RECORD_BYTES = 5_000_000
_NOT_ASKED = "R was not asked"
_DRAWING = ("slant", "slant commit", "Python", "duckdb", "polars")  # versions that no number of R depends on
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, pl.exceptions.PolarsError)


@dataclass(frozen=True)
class Replayed:
    """Report a replay. `table`: for each file its hash, and a comparison with what was made: kind (hash, data,
    codebook, study, prompts, table, fit, draws, figure, journal, page), name, status (agrees, differs, not made, not
    compared), within, largest_difference, n_values, note. `versions`: name, sealed, here. `notes`: what else to
    know."""

    table: pl.DataFrame
    versions: pl.DataFrame
    notes: tuple[str, ...]
    db: Path

    @property
    def agrees(self) -> bool:
        """Return whether nothing differs; what could not be made (without R), or compared, does not count."""
        return DIFFERS not in self.table["status"]

    @property
    def problems(self) -> pl.DataFrame:
        """Return the rows that differ or were not made."""
        return self.table.filter(pl.col("status").is_in((DIFFERS, NOT_MADE)))

    @property
    def not_compared(self) -> pl.DataFrame:
        """Return files that nothing makes again: journals, pages, and images that were drawn differently."""
        return self.table.filter(pl.col("status") == NOT_COMPARED)


@dataclass
class _Replay:
    """Hold a replay under way: what the archive says, and where its results are put."""

    sealed: Path
    made: Path
    db: Path
    names: frozenset[str]
    here: dict[str, str]
    with_r: bool
    study: Study
    steps: list[Step]
    data: list[Mapping[str, str]]
    left_out: tuple[str, ...]
    sealed_versions: dict[str, str]
    has_figures: bool
    lacks_steps: bool = False

    def is_same_software(self) -> bool:
        """Return whether R and its packages are those that made the results."""
        names = [name for name in self.sealed_versions if name not in _DRAWING]
        return all(
            version_numbers(self.sealed_versions[name]) == version_numbers(self.here.get(name, "")) for name in names
        )


@checked_arguments()
def replay(
    archive: str | Path,
    out: str | Path = "check",
    workers: Workers = None,
    progress: Stages | None = None,
    executor: Executor | None = None,
    with_r: bool = True,
) -> Replayed:
    """Check an archive of `seal()`, and make everything in it again from its journals, in the new folder `out`.

    Hashes come first; then a fresh database; then each file of data, table, fit and figure, which is compared with that
    of the archive: those by SQL exactly, those by R within 1e-8 (draws bit by bit, or within Monte Carlo error if the
    versions differ). Without R, or with `with_r=False`, what needs it is "not made". `out` appears once everything is
    there: the archive (`sealed`), what was made (`made`) and the database. `workers`, `executor`: as for `fit()`.

    Raise UsageError if `out` exists and is not empty; raise SlantError, with nothing unpacked, for an archive that
    holds what slant does not put into one.
    """
    archive, out, stages = Path(archive), Path(out), progress or Stages()
    with opened_archive(archive) as opened:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise UsageError(f"{out} is there already, and not empty.", "Name a new folder: --out FOLDER")
        if not out.absolute().parent.is_dir():
            raise UsageError(f'There is no folder "{out.absolute().parent}" to replay in.', "Make it first: mkdir")
        check_room(opened, out.absolute().parent)
        with whole_folder(out) as made:
            replayed = _replayed(opened, made, executor or workers, stages, with_r=with_r)
    return replace(replayed, db=out / DATABASE)


def _replayed(opened: Archive, out: Path, workers: Workers | Executor, stages: Stages, *, with_r: bool) -> Replayed:
    rows = _unpacked(opened, out / _SEALED, stages)
    names = frozenset(name for name in opened.members if (out / _SEALED / name).is_file())
    notes: list[str] = []
    record = _record(out / _SEALED / layout.REPLAY)
    state = _begun(record, out, names, stages, notes, with_r=with_r)
    with in_one_order(state.db, out):
        rows += _data_rows(state, stages)
        rows += _step_rows(state, workers, stages)
        rows += _table_rows(state, stages)
        rows += _figure_rows(state, workers, stages)
        rows += comparison.source_rows(state.db, state.study.name, state.sealed, state.made, names)
        rows += comparison.codebook_row(state.study.name, state.data, state.sealed, state.made, names)
    rows += comparison.remaining_rows(names, rows)
    table = pl.DataFrame([asdict(row) for row in rows], schema=_SCHEMA)
    write_file(out / "replay.csv", table.write_csv())
    return Replayed(table, _version_rows(state), tuple(notes), state.db)


_SCHEMA = {
    "kind": pl.String, "name": pl.String, "status": pl.String, "within": pl.String,
    "largest_difference": pl.Float64, "n_values": pl.Int64, "note": pl.String,
}  # fmt: skip


def _unpacked(archive: Archive, folder: Path, stages: Stages) -> list[Compared]:
    """Return the comparison of each file's hash with the manifest."""
    rows, done = [], 0
    with stages.stage("Checking hashes", "MB") as on_bytes:
        for name, info in archive.members.items():
            problem = archive.unpack(name, folder)
            done += info.file_size
            on_bytes(done, archive.n_bytes)
            if name != layout.MANIFEST:
                rows.append(Compared("hash", name, DIFFERS if problem else AGREES, "exactly", note=problem or ""))
    return rows


def _record(path: Path) -> dict[str, Any]:
    """Return the record of steps in the archive; ArchiveError if it is not valid."""
    try:
        if path.stat().st_size > _MAX_RECORD_BYTES:
            raise ValueError("it is too long")
        record = json.loads(contents(path))
        checked: dict[str, Any] = {
            "study": checked_name(str(record["study"]), "study"),
            "steps": [read_step(step) for step in record["steps"]],
            "left_out": tuple(kind for kind in record["left_out"] if kind in KINDS),
            "sealed_versions": {str(name)[:80]: str(version)[:80] for name, version in record["versions"].items()},
            "data": [{key: str(row[key]) for key in ("view", "csv", "parquet")} for row in record["data"]],
            "has_figures": record["figures"] is True,
        }
    except (OSError, SlantError, *_UNREADABLE) as error:
        raise ArchiveError(f"Can't replay: {layout.REPLAY} in the archive can't be read ({error}).") from error
    return checked


def _begun(
    record: dict[str, Any], out: Path, names: frozenset[str], stages: Stages, notes: list[str], *, with_r: bool
) -> _Replay:
    """Return the fresh database, made from the journals, and the study as it keeps it."""
    sealed, db = out / _SEALED, out / DATABASE
    journals = [name for name in sorted(names) if name.startswith(f"{layout.JOURNAL}/")]
    journal_folder(db).mkdir()
    for name in journals:
        copied(sealed / name, journal_folder(db) / Path(name).name)
    with stages.stage("Loading journals", "MB") as on_bytes:
        report = load_sealed(db, on_bytes)
    notes += [f"A line of a journal can't be read: {Path(problem).name}" for problem in report.problems[:10]]
    studies = fetched(db, "SELECT DISTINCT study FROM attempts")
    if (record["study"],) not in studies:
        raise ArchiveError(f'Can\'t replay: no journal of the archive has answers of "{record["study"]}".')
    study = stored_study(db, record["study"], out / "study")
    named = [*record["sealed_versions"], *(name for step in record["steps"] for name in step.packages)]
    packages = dict.fromkeys(name for name in named if name not in (*_DRAWING, "R"))
    known = tuple(name for name in packages if name.replace(".", "").isalnum() and name.isascii())
    here = software(r_versions([], known if with_r else ()))
    return _Replay(sealed, out / _MADE, db, names, here, with_r, **record | {"study": study})


def _data_rows(state: _Replay, stages: Stages) -> Iterator[Compared]:
    with stages.stage("Writing data again"):
        (state.made / layout.DATA).mkdir(parents=True)
        for file in state.data:
            named = data_file(state.study.name, file["view"])
            for name in (file["csv"], file["parquet"]):
                if name not in state.names or name not in (named.csv, named.parquet):
                    problem = "the name of another view" if name in state.names else "not in the archive"
                    yield Compared("data", name[:80], DIFFERS, note=f"it is {problem}")
                    continue
                try:
                    export_trials(state.db, state.study.name, state.made / name, file["view"], prompts=True)
                except SlantError as error:
                    yield Compared("data", name, DIFFERS, note=f"it can't be made: {error.what}")
                    continue
                yield comparison.compare_bytes("data", name, state.sealed / name, state.made / name)


def _step_rows(state: _Replay, workers: Workers, stages: Stages) -> Iterator[Compared]:
    (state.made / layout.FITS).mkdir(parents=True, exist_ok=True)
    for step in state.steps:
        names = [name for name in sorted(state.names) if name.startswith(f"{layout.FITS}/{step.name}.")]
        reason = None
        if step.reads_texts and REASONING in state.left_out:
            reason = "it is made of texts that were left out"
        elif not state.with_r:
            reason = _NOT_ASKED
        else:
            with stages.stage(f"{step.name} in R") as on_calls:
                try:
                    frames = step.frames(state.db, state.study, workers, on_calls)
                except RError as error:
                    reason = error.what
                except SlantError as error:
                    yield from (
                        Compared("fit", name, DIFFERS, note=f"its step can't be made: {error.what}") for name in names
                    )
                    continue
                except _UNREADABLE as error:
                    raise ArchiveError(
                        f"Can't replay: the step \"{step.name}\" asks for what can't be ({error})."
                    ) from error
        if reason is not None:
            state.lacks_steps = True
            yield from (Compared("fit", name, NOT_MADE, note=reason) for name in names)
            continue
        made = {f"{layout.FITS}/{step.name}.{table}.csv": frame for table, frame in frames.items() if frame.height}
        rule = _rule(state, step)
        for name in sorted({*names, *made}):
            if name not in made or name not in names:
                yield _one_alone("fit", name, is_made=name in made)
                continue
            write_file(state.made / name, flat(made[name]).write_csv())
            yield comparison.compare_tables("fit", name, state.sealed / name, state.made / name, rule)
    yield from _draw_rows(state)


def _one_alone(kind: str, name: str, *, is_made: bool) -> Compared:
    place = "made, and not in the archive" if is_made else "in the archive, and not made"
    return Compared(kind, name, DIFFERS, note=f"it was {place}")


def _rule(state: _Replay, step: Step) -> Rule:
    if "brms" in step.packages:
        return _rule_of_draws(state)
    return Rule(tolerance_of(step, state.study), of_r=True)


def tolerance_of(step: Step, study: Study) -> float:
    """Return the tolerance for numbers of a step without draws."""
    definition = fits_of(study).get(str(step.arguments.get("fit")))
    several = definition is not None and (definition.formula or "").count("|") > 1
    return comparison.SEVERAL_EFFECTS if several or step.kind == "permutation" else comparison.COMPUTED


def _rule_of_draws(state: _Replay) -> Rule:
    if state.is_same_software():
        return Rule(of_r=True)
    names = [name for name in state.names if name.startswith(layout.FITS) and name.endswith(".models.csv")]
    return Rule(ess=comparison.smallest_ess({name: state.sealed / name for name in names}), of_r=True)


def _draw_rows(state: _Replay) -> Iterator[Compared]:
    """Compare draws one by one, if the same software made them."""
    for name in sorted(state.names):
        if not name.startswith(f"{layout.DRAWS}/"):
            continue
        made = model_folder(state.db) / f"{Path(name).stem}{DRAWS}"
        if not made.is_file():
            yield Compared("draws", name, NOT_MADE, note="the fit that they are of was not made, or keeps none")
        elif state.is_same_software():
            yield comparison.compare_bytes("draws", name, state.sealed / name, made)
        else:
            yield Compared("draws", name, NOT_MADE, note="other versions draw otherwise: see the tables of the fit")


def _table_rows(state: _Replay, stages: Stages) -> Iterator[Compared]:
    with stages.stage("Tables"):
        frames = study_tables(state.db, state.study)
        made = set(write_tables(frames, state.made / layout.TABLES))
        reads = read_by(state.db)
    sealed = {Path(name).stem for name in state.names if name.startswith(f"{layout.TABLES}/")}
    for table in sorted(sealed | made):
        name, of_r = f"{layout.TABLES}/{table}.csv", bool(reads.get(table))
        if of_r and state.lacks_steps:
            yield from _partly_made(state, name, table in made)
        elif table not in made or table not in sealed:
            yield _one_alone("table", name, is_made=table in made)
        else:
            rule = Rule()
            if "brms_models" in reads.get(table, ()):
                rule = _rule_of_draws(state)
            elif of_r:
                rule = Rule(
                    max([comparison.COMPUTED, *(_rule(state, step).tolerance for step in state.steps)]), of_r=True
                )
            yield comparison.compare_tables("table", name, state.sealed / name, state.made / name, rule)


def _partly_made(state: _Replay, name: str, is_made: bool) -> Iterator[Compared]:
    """Yield a table of R's results of which some were not made; a complete one is compared."""
    if name not in state.names:
        return
    rule = Rule(comparison.SEVERAL_EFFECTS, of_r=True)
    compared = (
        comparison.compare_tables("table", name, state.sealed / name, state.made / name, rule) if is_made else None
    )
    if compared is None or compared.status == DIFFERS:
        compared = Compared("table", name, NOT_MADE, note="it is about fits that were not made again")
    yield compared


def _figure_rows(state: _Replay, workers: Workers, stages: Stages) -> Iterator[Compared]:
    names = [name for name in sorted(state.names) if name.startswith(f"{layout.FIGURES}/")]
    if not state.has_figures or not names:
        return
    try:
        if not state.with_r:
            raise RError(_NOT_ASKED)
        with stages.stage("Figures in R") as on_calls:
            figures(
                state.db, state.study, state.made / layout.FIGURES, workers=workers, progress=on_calls, with_rows=True
            )
    except SlantError as error:
        yield from (Compared("figure", name, NOT_MADE, note=error.what) for name in names)
        return
    for name in names:
        if (state.made / name).is_file():
            yield comparison.compare_figures(name, state.sealed, state.made, state.names)
        else:
            yield Compared("figure", name, NOT_MADE if state.lacks_steps else DIFFERS, note="it was not drawn")


def _version_rows(state: _Replay) -> pl.DataFrame:
    """Return a row for each package's versions, spelt as sealed where R spells them in two ways (1.1-31, 1.1.31)."""
    rows = []
    for name in dict.fromkeys([*state.sealed_versions, *state.here]):
        sealed, here = state.sealed_versions.get(name), state.here.get(name)
        is_one = sealed and here and name not in _DRAWING and version_numbers(sealed) == version_numbers(here)
        rows.append({"software": name, "sealed": sealed, "here": sealed if is_one else here})
    return pl.DataFrame(rows, schema={"software": pl.String, "sealed": pl.String, "here": pl.String})
