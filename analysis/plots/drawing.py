"""The figures, drawn by R in worker processes: SVG, PNG or PDF, and the words that say what is to be seen in them."""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.bridge.worker import WorkerError
from slant.analysis.calls.call import Answer, Call, answered, computed
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import Progress
from slant.analysis.plots.registry import FigureRows, figure_kinds, figure_rows
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import flat
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, RError, UnknownNameError, UsageError, check_known
from slant.collector.keep.database import opens_once
from slant.collector.studies.catalogue import Study
from slant.collector.system.files import contents, made_folder, real_file
from slant.collector.system.scratch import temporary_folder, write_whole_file

FORMATS = ("svg", "png", "pdf")
DEFAULT_FORMATS = ("svg", "png")
PAGE_DPI = 110  # a figure of nine inches is about as wide as a page's text
_INCHES = (1.0, 50.0)  # R checks the same: below nothing can be read, above hardly a program shows it


@dataclass(frozen=True)
class Figure:
    """Hold one drawn figure: the R function that drew it, the bytes of the file, its text alternative, and what must be
    known of the drawing (letters that no font here has), if anything."""

    name: str
    image: bytes
    alt_text: str
    note: str | None = None


@checked_arguments()
@opens_once
def figures(
    db: str | Path,
    study: str | Study | None = None,
    out: str | Path = "figures",
    names: Sequence[str] = (),
    formats: Sequence[str] = DEFAULT_FORMATS,
    source: str | None = None,
    workers: Workers = None,
    progress: Progress | None = None,
    variants: Sequence[str] = (),
    width: float | None = None,
    height: float | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    order: Sequence[str] = (),
    highlight: Sequence[str] = (),
    executor: Executor | None = None,
    with_rows: bool = False,
) -> pl.DataFrame:
    """Draw the figures of `study` (default: all of FIGURES that the data have something for) into the folder `out`.

    Each source, study version and variant has files of its own: effect_sizes-imported-base.svg … (games, whose variants
    are compared, have one for all: steers-simulated.svg; of figures that show one variant, `variants` are drawn). An
    SVG file holds its text alternative, too. `formats` are of "svg", "png" and "pdf". `width` and `height` are in
    inches (default: each figure's own; words wrap to a width that is given, and the height follows); `title` and
    `subtitle` replace a figure's own. Of what a figure shows (levels, models, tests), names in `order` come first
    ("value": the largest value does), and those not in `highlight`, if there are any, are pale. `with_rows` puts the
    rows that each figure is drawn from next to it, as a CSV of its name. `workers` and `executor` as of `fit()`.

    Returns one row a file: source, study_version, variant (null where variants are compared), figure, part (which fit
    or variant it is of, where there are several, else null), path (null where it could not be drawn), alt_text, problem
    (why not, else null), note (what must be known of it, else null).

    Raises UnknownNameError for an unknown figure or format, UsageError if `out` can't be written or a size can't be
    drawn, DatabaseError if there is nothing to draw, RError without R.
    """
    for name in formats:
        check_known("format", name, FORMATS)
    sizes = {"width": checked_inches(width, "width"), "height": checked_inches(height, "height")}
    asked = {**sizes, "title": title, "subtitle": subtitle}
    names_asked = {"order": list(order), "highlight": list(highlight)}
    study = study_in(db, study)
    was_there = Path(out).exists()
    folder = _folder(Path(out))  # before minutes of work
    try:
        to_draw = list(figure_rows(db, study, names, source, executor or workers, progress, variants))
        if not to_draw:
            kinds = figure_kinds(study)
            commands = {kinds[name].hint.format(study=study.as_typed) for name in names if kinds[name].hint}
            hints = [f"To compute their rows: {command}" for command in sorted(commands)]
            raise DatabaseError(f'"{db}" has nothing to draw{f" from {source}" if source else ""}.', *hints)
    except BaseException:
        if not was_there:
            folder.rmdir()
        raise
    function_rows = [(figure.function, figure.rows) for figure in to_draw]
    own = [_shown_names(names_asked, figure.rows) for figure in to_draw]
    for name in {*order, *highlight} - {"value"}:
        if not any(name in names for arguments in own for names in arguments.values()):
            raise UnknownNameError("name to order or highlight in these figures", name, _all_names(to_draw))
    drawn_files = {ending: draw(function_rows, executor or workers, ending, own, **asked) for ending in formats}
    has_versions = len({figure.grain.get("study_version") for figure in to_draw} - {None}) > 1
    rows = []
    for number, figure in enumerate(to_draw):
        name_parts = [figure.figure, *filter(None, [figure.part]), figure.grain["source"]]
        name_parts += filter(None, [figure.grain.get("variant")])
        name_parts += filter(None, [figure.grain.get("study_version") if has_versions else None])
        stem = "-".join(re.sub(r"[^A-Za-z0-9_.]+", "_", part) for part in name_parts)
        if with_rows:
            write_whole_file(folder / f"{stem}.csv", flat(figure.rows).write_csv().encode("utf-8"))
        for ending in formats:
            path = folder / f"{stem}.{ending}"
            about = {**dict.fromkeys(GRAIN), **figure.grain, "figure": figure.figure, "part": figure.part}
            drawn = drawn_files[ending][number]
            notes = [figure.note, drawn.note if isinstance(drawn, Figure) else None]
            rows.append({**about, **_written(drawn, path), "note": " ".join(filter(None, notes)) or None})
    return pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))


def _shown_names(asked: Mapping[str, Sequence[str]], rows: pl.DataFrame) -> dict[str, list[str]]:
    """Return the requested names that these rows hold."""
    held = {"value", *_texts(rows)}
    own = {argument: [name for name in names if name in held] for argument, names in asked.items()}
    return {argument: names for argument, names in own.items() if names}


def _texts(rows: pl.DataFrame) -> set[str]:
    return {text for column in rows.select(pl.selectors.string()) for text in column.unique() if text is not None}


def _all_names(figures: Sequence[FigureRows]) -> list[str]:
    columns = [f"{name}{end}" for name in ("level", "model", "test", "condition") for end in ("", "_label")]
    frames = (figure.rows.select(name for name in columns if name in figure.rows.columns) for figure in figures)
    return sorted(set[str]().union(*map(_texts, frames)))


def checked_inches(value: float | str | None, name: str) -> float | None:
    """Return a size in inches; None is each figure's own. Raises UsageError for what is no number, or no size of a
    figure.
    """
    if value is None:
        return None
    try:
        inches = float(value)
    except ValueError:
        inches = math.nan
    smallest, largest = _INCHES
    if not smallest <= inches <= largest:
        raise UsageError(
            f'Can\'t draw figures with the {name} "{value}": it must be a number of inches from {smallest:g} to '
            f"{largest:g}.",
            f"A column of a journal is about 3.5 inches wide, a page 7: --{name} {3.5 if name == 'width' else 5}",
        )
    return inches


def draw(
    figures: Sequence[tuple[str, pl.DataFrame]],
    workers: Workers = None,
    ending: str = "png",
    own: Sequence[Mapping[str, Any]] = (),
    **asked: Any,
) -> list[Figure | str]:
    """Draw figures by the names of their R functions; for one that can't be drawn, the sentence that says why. `own`:
    the arguments of each.

    `asked` are arguments of all: of R's `draw_figure()` width, height, title, subtitle, order, highlight, dpi.
    """
    with temporary_folder("figures") as folder:
        files = [folder / f"{number}.{ending}" for number in range(len(figures))]
        calls = [
            Call(
                "draw_figure", rows, {"name": name, **asked, **arguments}, writes={"file": file}, packages=("ggplot2",)
            )
            for (name, rows), file, arguments in zip(figures, files, own or [{}] * len(files), strict=True)
        ]
        results: dict[int, Figure | str] = {}
        try:
            with closing(computed(calls, workers)) as answers:
                for number, answer in answers:
                    results[number] = _read(figures[number][0], files[number], answer)
        except WorkerError:
            raise
        except RError as error:  # without R no figure can be drawn, but whatever they stand next to is worth seeing
            return [results.get(number, str(error)) for number in range(len(figures))]
    return [results[number] for number in range(len(figures))]


def embedded(figure: Figure | str) -> dict[str, Any]:
    """Return a PNG for a page to hold in itself, with its size, so that nothing moves while the page opens: uri,
    alt_text, width, height; `problem` says why there is none.
    """
    if isinstance(figure, str):
        return {"problem": figure}
    uri = "data:image/png;base64," + base64.b64encode(figure.image).decode()
    width, height = struct.unpack(">II", figure.image[16:24])
    about = {"alt_text": figure.alt_text, "note": figure.note, "width": width, "height": height}
    return {"problem": "", "uri": uri, **about}


def require_packages(packages: Sequence[str], workers: Workers = None) -> None:
    """Raise RError, with what to type, where R or one of these packages is missing."""
    answered(Call("package_versions", arguments={"packages": list(packages)}, packages=tuple(packages)), workers)


def _read(name: str, file: Path, answer: Answer) -> Figure | str:
    if answer.error:
        return str(RError(*answer.error))
    notes = answer.value.get("note")
    note = None if notes is None or len(notes) == 0 else notes[0]
    return Figure(name, contents(file), answer.value["alt_text"][0], note)


def _written(figure: Figure | str, path: Path) -> dict[str, str | None]:
    if isinstance(figure, str):
        return {"path": None, "alt_text": None, "problem": figure}
    write_whole_file(path, figure.image)
    return {"path": str(path), "alt_text": figure.alt_text, "problem": None}


def _folder(out: Path) -> Path:
    try:
        made_folder(real_file(out))
    except OSError as error:
        raise UsageError(f'Can\'t write figures to "{out}": {error.strerror}.', "Name another: --out FOLDER") from None
    return out


def check_figure_name(file: Path) -> str:
    """Return the ending of `file`, svg or png. UsageError for another one, before anything is computed for the
    figure.
    """
    ending = file.suffix.lower()[1:]
    if ending not in ("svg", "png"):
        raise UsageError(f'Can\'t draw into "{file}".', "The name of a figure ends in .svg or .png.")
    return ending


def draw_into(file: Path, function: str, rows: pl.DataFrame, workers: Workers = 1) -> str:
    """Draw one figure into `file` (.svg or .png); returns the path and its text alternative. UsageError for rows of
    several sources, study versions or variants.
    """
    ending = check_figure_name(file)
    for name in (name for name in GRAIN if name in rows.columns):
        values = rows[name].unique(maintain_order=True).to_list()
        if len(values) > 1:
            raise UsageError(
                f"A figure shows one {name.replace('_', ' ')}, but here are {len(values)}: {', '.join(values)}.",
                "Narrow it down, as with --source; `analyze figures` draws one for each.",
            )
    (figure,) = draw([(function, rows)], workers, ending)
    if isinstance(figure, str):
        raise RError("The figure could not be drawn.", figure)
    try:
        write_whole_file(file, figure.image)
    except OSError as error:
        raise UsageError(f'Can\'t write the figure to "{file}": {error.strerror}.') from None
    return " ".join(filter(None, [f"{file}: {figure.alt_text}", figure.note]))
