"""Find fitted models and their draws: in the folder NAME.duckdb.models next to the database, by the fit's id."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from slant.collector.errors import DatabaseError
from slant.collector.system.files import check_folder, irregularity, opened, real_file

_BLOCK = 1 << 20


def model_folder(db: str | Path) -> Path:
    """Return the folder of a database's fitted models."""
    path = Path(db).resolve()
    path = real_file(path)
    return path.with_name(path.name + ".models")


def made_model_folder(db: str | Path) -> Path:
    """Return the same folder, made if possible: if not, R says that the model was not kept. DatabaseError if something
    else has its name: a model would be written elsewhere.
    """
    folder = model_folder(db)
    try:
        check_folder(folder)
    except OSError as error:
        raise DatabaseError(f'Can\'t keep models in "{folder}": {error.strerror}.', "Move it away.") from error
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
    return folder


def model_file(db: str | Path, call_id: str, ending: str = ".rds") -> Path:
    """Return the path of a file of this fit. Ids also come from the database, so they must be letters and digits."""
    if not call_id.isalnum() or not call_id.isascii():
        raise DatabaseError(f'"{db}" holds a fit with the id "{call_id}", which slant did not make.')
    return model_folder(db) / f"{call_id}{ending}"


def checked_file(path: Path, md5: object, what: str, again: str) -> Path:
    """Return `path` if it is the very file that slant wrote: reading an .rds file can run code. Else DatabaseError.

    `what` is a word for it ("model"), `again` says how to make it again.
    """
    if not path.is_file() or irregularity(path):
        raise DatabaseError(f'The fitted {what} is not next to the database: there is no file "{path}".', again)
    if md5_of(path) != md5:
        raise DatabaseError(f'"{path}" is not the {what} that this database recorded.', again)
    return path


def md5_of(path: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with opened(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
