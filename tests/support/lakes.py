"""Give a lake that was changed by hand the checksums of its files, as one who made it wrong from the start would."""

from __future__ import annotations

from pathlib import Path

from slant.collector.keep.lake_files import CHECKSUMS, LOCK, checksum


def sign(lake: Path) -> None:
    names = [
        path.relative_to(lake).as_posix()
        for path in sorted(lake.rglob("*.parquet"))
        if path.is_file() and not path.is_symlink() and path.parent != lake / "tables"  # second names
    ]
    (lake / CHECKSUMS).write_text("".join(f"{checksum(lake / name)}  {name}\n" for name in (*names, LOCK)))
