"""List the files of a lake with their checksums: what is not in the list is no part of the lake, what differs from it
is damaged.

The list is replaced as a whole once a part is complete, so it is what commits an export: a killed one leaves files that
are not in it, which no reader takes and the next export removes. Its lines are those of md5sum; checksums tell damage,
not malice. The lock file comes last, so that a list that was cut off is known.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from io import BufferedReader
from pathlib import Path
from typing import cast

from slant.collector.errors import DatabaseError
from slant.collector.system import files
from slant.collector.terminal import count_text

CHECKSUMS, LOCK = "checksums.md5", "lake.lock"
_LINE = re.compile(r"([0-9a-f]{32})  (attempts/[!-~]+\.parquet|tables/[\w.-]+/\w+\.parquet|lake\.lock)", re.ASCII)
_SHOWN = 3
_AT_ONCE = 4
_AGAIN = "To write it again, into an empty folder: collect export --layout lake FOLDER --db DB"


def checksum(path: Path) -> str:
    with files.opened(path) as file:
        return hashlib.file_digest(cast(BufferedReader, file), _md5).hexdigest()


def listed_files(folder: Path) -> dict[str, str]:
    """Return the checksums of a lake's Parquet files, by their names in the folder. Raise DatabaseError if the list is
    missing, damaged or cut off."""
    try:
        text = files.contents(folder / CHECKSUMS).decode("ascii", "replace")
    except FileNotFoundError:
        raise _damaged_list(folder, "missing") from None
    except OSError as error:
        raise DatabaseError(f'Can\'t read the lake "{folder}": {CHECKSUMS}: {error.strerror}.') from error
    lines = [_LINE.fullmatch(line) for line in text.split("\n")[:-1]]
    listed = {line[2]: line[1] for line in lines if line is not None and ".." not in line[2].split("/")}
    if len(listed) < len(lines) or not text.endswith(f"  {LOCK}\n"):
        raise _damaged_list(folder, "damaged")
    del listed[LOCK]
    return listed


def check_files(folder: Path) -> list[str]:
    """Return the files of a lake. Raise DatabaseError if one of them is missing, or differs from what was written."""
    listed = listed_files(folder)
    with ThreadPoolExecutor(_AT_ONCE) as pool:  # hashing leaves the interpreter to others
        found = list(pool.map(lambda name: _found(folder / name), listed))
    rows = [(*row, what) for row, what in zip(listed.items(), found, strict=True)]
    if damaged := [row for row in rows if row[1] != row[2]]:
        raise DatabaseError(
            f'Can\'t read the lake "{folder}": {len(damaged):,} of its {count_text(len(listed), "file")} '
            f"{'is' if len(damaged) == 1 else 'are'} damaged or missing.",
            *(f"{name}: its checksum must be {right}; found: {what}" for name, right, what in damaged[:_SHOWN]),
            f"Put copies of them back. {_AGAIN}",
        )
    return list(listed)


def write_list(folder: Path, listed: Mapping[str, str]) -> None:
    """Write the list, which survives a power cut once this returns."""
    named = [*sorted(listed.items()), (LOCK, checksum(folder / LOCK))]
    files.replace_on_disk(folder / CHECKSUMS, "".join(f"{right}  {name}\n" for name, right in named).encode("ascii"))


def _damaged_list(folder: Path, what: str) -> DatabaseError:
    return DatabaseError(f'Can\'t read the lake "{folder}": its list of files ({CHECKSUMS}) is {what}.', _AGAIN)


def _found(path: Path) -> str:
    try:
        return checksum(path)
    except OSError as error:
        return error.strerror or str(error)


def _md5() -> hashlib._Hash:
    return hashlib.md5(usedforsecurity=False)
