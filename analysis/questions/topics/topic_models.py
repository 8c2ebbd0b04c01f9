"""Read kept topic models: `read_topics()` with the file that R opens again, and which model is compared with print.

Print is about one definition and one set of texts, so only a fit of the study's own definition to the current texts
is compared with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.calls.model_files import checked_file, model_file
from slant.analysis.calls.results import unchanged_ids
from slant.analysis.fitting.fit_plan import plan_fits
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import read_view, stored_views
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import Study

STALE = "The stored topic model was fitted to other texts (or with other settings or R code); run: analyze --fit stm."


def models_to_show(db: str | Path, study: Study) -> pl.DataFrame:
    """Return rows of topic_models, one for each source, version and variant, and `is_own`: whether it may be compared.

    It is the study's own fit of the current texts if there is one, else the model that was fitted last. There are no
    rows if none was fitted.
    """
    with reading(db) as connection:
        models = read_view(connection, "topic_models", study=study.name)
    own_ids = _own_ids(db, study, models) if models.height else []
    ordered = models.with_columns(is_own=pl.col("call_id").is_in(own_ids)).sort(
        "is_own", "fitted_at", maintain_order=True
    )
    return ordered.unique(GRAIN, keep="last", maintain_order=True)


def stale_model_warnings(db: str | Path, study: Study) -> list[str]:
    """Return a sentence for each source whose topics are not those of its texts and the study's settings."""
    models = models_to_show(db, study)
    return [f"Topics ({source}): {STALE}" for source in models.filter(~pl.col("is_own"))["source"].unique().sort()]


def _own_ids(db: str | Path, study: Study, models: pl.DataFrame) -> list[str]:
    """Return the ids of those that `fit()` would reuse, whatever the versions of packages (which are
    reported).
    """
    definitions = [fit for fit in study.fits.values() if fit.engine == "stm"]
    return unchanged_ids([work.call for fit in definitions for work in plan_fits(db, study, fit)], models, None)


_VIEWS = (
    "models",
    "proportions",
    "quality",
    "words",
    "prevalence",
    "effects",
    "contrasts",
    "shifts",
    "correlations",
    "examples",
)


@dataclass(frozen=True)
class TopicModel:
    """Hold one kept topic model. `about`: its row of the view topic_models. `tables`: the views topic_…, by their last
    word.

    `tables["examples"]["text"]` is what models wrote: not to be trusted.
    """

    about: Mapping[str, object]
    tables: Mapping[str, pl.DataFrame]
    _db: Path

    @property
    def path(self) -> Path:
        """Return the .rds file, for R: read_topics(path)$model. DatabaseError if it is not the one that was kept.

        Reading an .rds file can run code, so only the very file that slant wrote is named.
        """
        path = model_file(self._db, str(self.about["call_id"]))
        how_to_refit = "To recompute it: analyze --fit stm --refit"
        return checked_file(path, self.about["file_md5"], "model", how_to_refit)

    def documents(self) -> pl.DataFrame:
        """Return the topic shares of each document: its id, and a column topic_1, topic_2 … for each topic. Needs R."""
        frame: pl.DataFrame = answered(Call("read_topics", arguments={"db": str(self.path), "what": "documents"}))
        return frame


@checked_arguments()
def read_topics(db: str | Path, study: str | None = None, source: str | None = None) -> TopicModel:
    """Return the topic model of `db` that was fitted last (of this study and source, if named).

    Raise DatabaseError if none was fitted.
    """
    with reading(db) as connection:
        if "topic_models" not in stored_views(connection):
            raise _none(db)
        models = read_view(connection, "topic_models", study=study, source=source)
        if models.is_empty():
            raise _none(db)
        last = models.sort("fitted_at", maintain_order=True).tail(1)
        frames = {name: read_view(connection, f"topic_{name}") for name in _VIEWS}
        md5 = connection.execute("SELECT file_md5 FROM stm_models WHERE call_id = ?", [last["call_id"][0]]).fetchall()
    tables = {name: frame.join(last.select("call_id"), on="call_id", how="semi") for name, frame in frames.items()}
    return TopicModel({**last.to_dicts()[0], "file_md5": md5[0][0]}, tables, Path(db))


def _none(db: str | Path) -> DatabaseError:
    return DatabaseError(f'"{db}" holds no topic model.', f"To fit one: analyze --fit stm --db {db}")
