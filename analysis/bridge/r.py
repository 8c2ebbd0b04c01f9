"""Call R; this is the only module that imports rpy2. Nothing of R starts before `start()` is called.

Columns go over as R vectors directly, never through pandas (which is slow here and changes values: ordered factors,
levels in order of appearance, big integers as text). What goes where:

    Polars                       R                          and back
    Int8 … Int64, UInt8 … 64     integer; double where      Int64; Float64
                                 a value needs > 32 bits
    Float32, Float64             double (NULL is NA)        Float64
    Boolean                      logical                    Boolean
    String, Categorical, Enum    character, UTF-8           String
    one of `factors`             factor with those levels   String

R runs on one thread with the locale C.UTF-8, so that numbers and the order of levels are the same on all machines.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from slant.analysis.bridge import r_home, r_vectors
from slant.analysis.bridge.r_packages import inst_folder, r_folder, what_is_lost
from slant.analysis.bridge.worker_start import ENVIRONMENT
from slant.collector.errors import RError

_R_OPTIONS = ("slant", "--quiet", *r_home.OPTIONS)
# R attaches these as it starts. In their own order they come after our functions; a user's objects in globalenv, and
# packages that are attached later, don't.
_ATTACHED = ("stats", "graphics", "grDevices", "utils", "datasets", "methods")
_session: dict[str, Any] = {}


def start() -> Any:
    """Start R in this process (once), source R/*.R into one environment, and return that environment.

    Raise RError if rpy2 or R is missing, or if they do not fit each other.
    """
    if not _session:
        # R reads these when it starts, and never again
        os.environ.update({**ENVIRONMENT, **r_home.startup_environment()})
        os.environ["SLANT_INST"] = str(inst_folder())
        ri, runtime_error = _rinterface()
        callbacks = importlib.import_module("rpy2.rinterface_lib.callbacks")
        for name in ("consolewrite_print", "consolewrite_warnerror"):
            setattr(callbacks, name, lambda text: print(text, end="", file=sys.stderr))  # noqa: T201  stdout is for rows
        _begin_r(ri)
        # rpy2 asks for events of windows, of which there are none, and for Ctrl-C: a thousand calls in a mixed model
        openrlib: Any = importlib.import_module("rpy2.rinterface_lib.openrlib")
        if hasattr(openrlib.rlib, "ptr_R_ProcessEvents"):  # not on Windows
            openrlib.rlib.ptr_R_ProcessEvents = openrlib.ffi.NULL
        # packages' exports, in front of base only: a name that is looked up from here is found there or nowhere. They
        # are bound as promises: reading them all takes as long as R's own start.
        exported = ri.baseenv["new.env"](parent=ri.baseenv["baseenv"]())
        for package in reversed(_ATTACHED):
            names = ri.baseenv["getNamespaceExports"](package)
            ri.baseenv["importIntoEnv"](exported, names, ri.baseenv["asNamespace"](package), names)
        environment = ri.baseenv["new.env"](parent=exported)
        for file in sorted(r_folder().glob("*.R")):
            ri.baseenv["sys.source"](ri.StrSexpVector([str(file)]), envir=environment)
        _session.update(ri=ri, environment=environment, RRuntimeError=runtime_error)
    return _session["environment"]


def load(packages: Sequence[str]) -> None:
    """Load R packages before the first call needs them; a missing one is reported by that call."""
    for package in packages:
        _session["ri"].baseenv["requireNamespace"](package, quietly=True)


def call(name: str, /, *arguments: Any, **keywords: Any) -> tuple[Any, pl.DataFrame]:
    """Call one of our R functions; return (its value, its warnings: a frame of `kind` and `text`).

    Arguments, by place or by name, may be Polars frames, lists, dicts, strings, numbers, booleans and None. Raise
    RError on an R error.
    """
    environment = start()
    try:
        function = environment[name]  # asking whether it is in there would list all functions first
    except KeyError as error:
        raise RError(f'There is no R function "{name}" in {r_folder()}.') from error
    try:
        outcome = from_r(environment["with_conditions"](_call_of(function, arguments, keywords)))
    except _session["RRuntimeError"] as error:
        raise RError(f"R could not finish {name}().", str(error).strip()) from error
    conditions = outcome["conditions"]
    errors = [text for kind, text in conditions.iter_rows() if kind == "error"]
    if errors:
        message, *details = errors[0].splitlines()
        raise RError(message, *(line.strip() for line in details))
    return outcome["value"], conditions


def to_r(value: Any, factors: Mapping[str, Sequence[str]] | None = None) -> Any:
    """Return a Python value as an R one. `factors` gives columns of a frame explicit levels; nothing else becomes a
    factor.
    """
    start()
    ri = _session["ri"]
    if value is None:
        return ri.NULL
    if isinstance(value, pl.DataFrame):
        return _data_frame(value, factors or {})
    if isinstance(value, pl.Series):
        return r_vectors.vector(ri, value)
    if isinstance(value, Mapping):
        return _named_list(ri, {str(k): to_r(v) for k, v in value.items()})
    if isinstance(value, (list, tuple)):
        return r_vectors.vector(ri, pl.Series("values", list(value)))
    if isinstance(value, (bool, int, float, str)):
        return r_vectors.vector(ri, pl.Series("value", [value]))
    raise RError(f"A {type(value).__name__} has no counterpart in R.")


def from_r(value: Any) -> Any:
    """Return an R value as a Python one: data frame -> Polars, named list -> dict, list -> list, vector -> Series."""
    ri = _session["ri"]
    if value is ri.NULL or isinstance(value, type(ri.NULL)):
        return None
    classes = set(value.rclass)
    if "data.frame" in classes:
        columns = zip(_names(value), value, strict=True)
        return pl.DataFrame({name: r_vectors.series(ri, column) for name, column in columns})
    if isinstance(value, ri.ListSexpVector):
        names = _names(value)
        items = [from_r(item) for item in value]
        return dict(zip(names, items, strict=True)) if names else items
    if isinstance(value, ri.SexpVector):
        return r_vectors.series(ri, value)
    raise RError(f"An R object of class {', '.join(classes)} has no counterpart in Python.")


def _rinterface() -> tuple[Any, Any]:
    installation = r_home.r_installation()
    if installation is None or installation.is_too_old:
        old = installation and f"This machine's R {installation.version_text} is too old"
        problem = old or "R is not on this machine"
        raise RError(
            f"{problem}, and the analysis needs R {'.'.join(map(str, r_home.OLDEST_R))} or newer.",
            r_home.HOW_TO_INSTALL_R,
            "What needs no R still works: collect, analyze tables",
        )
    # An R_HOME without R was ignored here, but rpy2 would use it.
    os.environ["R_HOME"] = str(installation.home)
    logging.getLogger("rpy2").setLevel(logging.CRITICAL)  # its warnings are followed by an error, which says more
    try:
        ri = _imported_rinterface(r_home.variables_of_script(installation.home))
        return ri, importlib.import_module("rpy2.rinterface_lib.embedded").RRuntimeError
    except ModuleNotFoundError as error:
        raise RError("The Python package rpy2 is missing.", r_home.how_to_install_rpy2(installation)) from error
    except (ImportError, OSError, ValueError, AttributeError) as error:
        raise RError(
            "The rpy2 that is installed does not fit the R of this machine.",
            (str(error).splitlines() or [repr(error)])[0],
            r_home.how_to_install_rpy2(installation),
        ) from error


def _imported_rinterface(variables: Mapping[str, str]) -> Any:
    """Spare rpy2 from starting R twice to learn these variables, which takes as long as R's own start."""
    if variables:
        situation: Any = importlib.import_module("rpy2.situation")
        situation.r_ld_library_path_from_subprocess = lambda _home: variables.get("LD_LIBRARY_PATH", "")
    ri: Any = importlib.import_module("rpy2.rinterface")
    if variables:
        ri._getrenvvars = lambda *_, **__: tuple(variables.items())
    return ri


def _begin_r(ri: Any) -> None:
    # R's own default would also load .RData of the current folder, whose functions would be taken for R's.
    importlib.import_module("rpy2.rinterface_lib.embedded").set_initoptions(_R_OPTIONS)
    try:
        ri.initr(interactive=False)
    except Exception as error:  # rpy2 asks R various things, and expects each answer
        home = os.environ["R_HOME"]
        raise RError(
            f'The R in "{home}" does not start.',
            f"Try it: {home}/bin/Rscript -e 1",
            "Where another R is on PATH: unset R_HOME. What else this machine lacks: analyze doctor",
        ) from error


def require(packages: Sequence[str]) -> None:
    """Load these packages. Raise RError, with what to type, if any is missing."""
    start()
    ri = _session["ri"]
    missing = [p for p in packages if not ri.baseenv["requireNamespace"](p, quietly=True)[0]]
    if missing:
        names = ", ".join(f'"{package}"' for package in missing)
        loss = what_is_lost(missing)
        raise RError(
            f"R lacks the package{'s' if len(missing) > 1 else ''} {', '.join(missing)}{f': {loss}' if loss else ''}.",
            f"To have it, in R: install.packages(c({names})). What else this machine lacks: analyze doctor",
            f"R looked in {', '.join(map(str, ri.baseenv['.libPaths']()))}. slant runs no .Rprofile.",
            "To add a library: export R_LIBS=FOLDER",
        )


def _call_of(function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Return this call as an R function; it is built as an object, so no text is ever parsed as code."""
    ri = _session["ri"]
    parts = ri.ListSexpVector([function, *(to_r(value) for value in (*arguments, *keywords.values()))])
    parts.names = ri.StrSexpVector(["", *[""] * len(arguments), *keywords])
    body = ri.baseenv["as.call"](parts)
    return ri.baseenv["as.function.default"](ri.ListSexpVector([body]), _session["environment"])


def _named_list(ri: Any, items: Mapping[str, Any]) -> Any:
    r_list = ri.ListSexpVector(list(items.values()))
    r_list.names = ri.StrSexpVector(list(items))
    return r_list


def _data_frame(frame: pl.DataFrame, factors: Mapping[str, Sequence[str]]) -> Any:
    ri = _session["ri"]
    columns = {
        column.name: r_vectors.factor(ri, column, factors[column.name])
        if column.name in factors
        else r_vectors.vector(ri, column)
        for column in frame
    }
    r_frame = _named_list(ri, columns)
    r_frame.do_slot_assign("row.names", ri.IntSexpVector([r_vectors.NA_INTEGER, -frame.height]))
    r_frame.rclass = ri.StrSexpVector(["data.frame"])
    return r_frame


def _names(value: Any) -> list[str]:
    names = value.names
    return [] if isinstance(names, type(_session["ri"].NULL)) else [str(name) for name in names]
