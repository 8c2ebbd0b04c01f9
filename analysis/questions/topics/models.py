"""`read_topics()`: a topic model that was fitted before, with its tables and the file that R opens again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.calls.model_files import checked_file, model_file
from slant.analysis.rows.open import read_view, stored_views
from slant.collector.errors import DatabaseError
from slant.collector.keep.database import reading

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
    """One kept topic model. `about`: its row of the view topic_models. `tables`: the views topic_…, by their last word.

    `tables["examples"]["text"]` is what models wrote: not to be trusted.
    """

    about: Mapping[str, object]
    tables: Mapping[str, pl.DataFrame]
    _db: Path

    @property
    def path(self) -> Path:
        """The .rds file, for R: read_topics(path)$model. DatabaseError where it is not the one that was kept.

        Reading an .rds file can run code, so only the very file that slant wrote is named.
        """
        path = model_file(self._db, str(self.about["call_id"]))
        again = "To make it again: analyze --fit stm --refit"
        return checked_file(path, self.about["file_md5"], "model", again)

    def documents(self) -> pl.DataFrame:
        """The topic shares of each document: its id, and a column topic_1, topic_2 … for each topic. Needs R."""
        frame: pl.DataFrame = answered(Call("read_topics", arguments={"db": str(self.path), "what": "documents"}))
        return frame


def read_topics(db: str | Path, study: str | None = None, source: str | None = None) -> TopicModel:
    """The topic model of `db` (of this study and source, where named) that was fitted last.

    Raises DatabaseError where none was fitted.
    """
    with reading(db) as connection:
        if "topic_models" not in stored_views(connection):
            raise _none(db)
        models = read_view(connection, "topic_models")
        for column, value in (("study", study), ("source", source)):
            models = models if value is None else models.filter(pl.col(column) == value)
        if models.is_empty():
            raise _none(db)
        last = models.sort("fitted_at", maintain_order=True).tail(1)
        frames = {name: read_view(connection, f"topic_{name}") for name in _VIEWS}
        md5 = connection.execute("SELECT file_md5 FROM stm_models WHERE call_id = ?", [last["call_id"][0]]).fetchall()
    tables = {name: frame.join(last.select("call_id"), on="call_id", how="semi") for name, frame in frames.items()}
    return TopicModel({**last.to_dicts()[0], "file_md5": md5[0][0]}, tables, Path(db))


def _none(db: str | Path) -> DatabaseError:
    return DatabaseError(f'"{db}" holds no topic model.', f"To fit one: analyze --fit stm --db {db}")
