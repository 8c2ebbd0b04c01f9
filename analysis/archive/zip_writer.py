"""Write a folder as a ZIP file: the same files give the same bytes, whenever and by whom they are packed."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import cast

from slant.analysis.archive.layout import MANIFEST, why_not_allowed
from slant.collector.errors import SlantError
from slant.collector.system.files import moved, opened, write_file
from slant.collector.system.scratch import scratch_near

_FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a ZIP file can hold: the time of packing should not matter
_BLOCK = 1 << 20
_PACKED_BY_THEMSELVES = (".parquet", ".png")
OnBytes = Callable[[int, int], None]
"""Receive how many bytes are done, and how many there are."""


def sha256_of(path: Path) -> str:
    with opened(path) as file:
        return hashlib.file_digest(cast(BufferedReader, file), "sha256").hexdigest()


def member_names(folder: Path) -> list[str]:
    """Return the files in a folder and below, as an archive names them, in its order."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def write_manifest(folder: Path) -> str:
    """Write the SHA-256 of each file, as `sha256sum -c` reads it; return that of the manifest itself."""
    lines = [f"{sha256_of(folder / name)}  {name}\n" for name in member_names(folder) if name != MANIFEST]
    write_file(folder / MANIFEST, "".join(lines))
    return sha256_of(folder / MANIFEST)


def write_zip(folder: Path, out: Path, on_bytes: OnBytes = lambda done, of_all: None) -> None:
    """Pack all files of a folder; `out` appears complete or not at all."""
    names = member_names(folder)
    for name in names:
        if reason := why_not_allowed(name):
            raise SlantError(f'Can\'t seal "{name}": {reason}.')
    of_all, done = sum((folder / name).stat().st_size for name in names), 0
    try:
        with scratch_near(out) as place:
            with zipfile.ZipFile(place / out.name, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
                for name in names:
                    info = zipfile.ZipInfo(name, _FIXED_TIME)
                    info.create_system, info.external_attr = 3, 0o100644 << 16
                    info.compress_type = (
                        zipfile.ZIP_STORED if name.endswith(_PACKED_BY_THEMSELVES) else zipfile.ZIP_DEFLATED
                    )
                    info.file_size = (folder / name).stat().st_size
                    with opened(folder / name) as file, archive.open(info, "w") as member:
                        while block := file.read(_BLOCK):
                            member.write(block)
                            done += len(block)
                            on_bytes(done, of_all)
            moved(place / out.name, out)
    except OSError as error:
        raise SlantError(f'Can\'t write "{out}": {error.strerror or error}.') from error
