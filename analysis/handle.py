"""Open a database once, and ask it several questions without saying each time which rows are meant and where R runs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import Progress
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import check_measure
from slant.collector.arguments import bound_values, checked_arguments
from slant.collector.errors import UsageError
from slant.collector.keep.database import kept_open, reading
from slant.collector.studies.catalogue import Study

_ROWS = ("source", "measure")  # what decides which rows an answer is about, so that no question may leave it out
_ONE_OF = ("workers", "executor")


class Database:
    """Hold a database, and what each question about it is asked with: study, source, measure, workers, refit, progress.

    Every function of `slant.analysis` that reads a database is a method: `db.fit("lme4")` is
    `slant.fit(db, study, "lme4", source=source, …)`. Its own arguments come first, in the order of the function; what
    was given to `open()` can be replaced by name for one call, as in `db.fit("lme4", source="collected")`, and
    `help(db.fit)` shows both. In a `with` block the file stays open from one question to the next: DuckDB opens it
    once, and other processes can write only while R computes.
    """

    def __init__(self, db: Path, study: Study | None, **settings: Any) -> None:
        self.db = db
        self.study = study
        self.settings = settings
        self._open = ExitStack()

    def __enter__(self) -> Database:
        self._open.enter_context(kept_open(self.db))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def __repr__(self) -> str:
        given = {"study": self.study.name if self.study else None, **self.settings}
        named = [f"{name}={value!r}" for name, value in given.items() if value not in (None, False)]
        return f"slant.open({', '.join([repr(str(self.db)), *named])})"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = _question(name)
        if function is None:
            raise AttributeError(f"slant has no question {name!r} about a database.")
        return self._asking(function)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(_question, import_module("slant.analysis").__all__)})

    def _asking(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function without this database's arguments; they stay as keywords."""
        signature = inspect.signature(function)
        carried = self._carried(signature)
        own = [parameter for name, parameter in signature.parameters.items() if name not in carried]
        shown = {name: value.name if isinstance(value, Study) else value for name, value in carried.items()}
        brought = [
            signature.parameters[name].replace(kind=inspect.Parameter.KEYWORD_ONLY, default=value)
            for name, value in shown.items()
        ]
        rest = signature.replace(parameters=sorted([*own, *brought], key=lambda parameter: parameter.kind))

        @functools.wraps(function)
        def asked(*given: Any, **named: Any) -> Any:
            values = bound_values(function.__name__, rest, given, named)
            for name in _ROWS:
                if self.settings[name] is not None and name not in signature.parameters:
                    raise UsageError(
                        f"{function.__name__}() takes no {name}, and this database was opened with {name}="
                        f"{self.settings[name]!r}.",
                        f"Open it without, or call slant.{function.__name__}().",
                    )
            kept = {name: value for name, value in carried.items() if not (name in _ONE_OF and {*_ONE_OF} & {*values})}
            return function(**{**kept, **values})

        asked.__signature__ = rest  # type: ignore[attr-defined]
        return asked

    def _carried(self, signature: inspect.Signature) -> dict[str, Any]:
        carried = {"db": self.db, "pilot": self.db, "study": self.study, **self.settings}
        taken = {name: value for name, value in carried.items() if name in signature.parameters}
        if self.study is not None and "study" in taken and "Study" not in str(signature.parameters["study"].annotation):
            taken["study"] = self.study.name
        return taken


def _question(name: str) -> Callable[..., Any] | None:
    """Return the public function of this name if it is about a database."""
    analysis = import_module("slant.analysis")
    function = getattr(analysis, name) if name in analysis.__all__ else None
    is_question = inspect.isfunction(function) and {"db", "pilot"} & inspect.signature(function).parameters.keys()
    return function if is_question and function is not open else None


@checked_arguments()
def open(
    db: str | Path,
    study: str | Study | None = None,
    source: str | None = None,
    measure: str | None = None,
    workers: Workers = None,
    refit: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Database:
    """Return a database that several questions are asked of: `slant.open("slant.duckdb", "rmiat").fit("lme4")`.

    `study` (a name, or its TOML file, which is read now), `source`, `measure`, `workers`, `refit`, `progress` and
    `executor` are as for `fit()`, and go to every question that takes them. A question that takes no `source` or no
    `measure` raises UsageError if one is given here, for it would show other rows.

    Raise DatabaseError if `db` is missing or not slant's, UnknownNameError for an unknown study, source or measure.
    """
    with reading(db):
        pass
    check_measure(measure)
    return Database(
        Path(db),
        None if study is None else study_in(db, study),
        source=source,
        measure=measure,
        workers=workers,
        refit=refit,
        progress=progress,
        executor=executor,
    )
