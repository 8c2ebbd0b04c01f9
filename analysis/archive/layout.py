"""Define what an archive holds: where each kind of file is, and how a file of it may be named.

study.zip
├── README.md, CITATION.cff, codebook.csv, dataset_description.json, ro-crate-metadata.json
├── data/           the trials, one file per view, as CSV and Parquet
├── journal/        what the collector wrote down: the answers themselves
├── study/          the study's files, one folder per version
├── prompts/        each kind of prompt as sent
├── tables/ fits/ figures/ draws/   the results
├── environment/    which software made them
├── replay.json     what `analyze replay` makes again
└── manifest-sha256.txt

Archives of strangers are checked before they are unpacked, and only under names that are listed here.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import cast

from slant.collector.errors import SlantError, UsageError
from slant.collector.system.files import moved, opened, remove, write_file
from slant.collector.system.scratch import scratch_near
from slant.collector.terminal import printable

MANIFEST, README, REPLAY = "manifest-sha256.txt", "README.md", "replay.json"
CITATION, CODEBOOK, DESCRIPTION = "CITATION.cff", "codebook.csv", "dataset_description.json"
CRATE = "ro-crate-metadata.json"
DATA, JOURNAL, STUDY, PROMPTS = "data", "journal", "study", "prompts"
TABLES, FITS, FIGURES, DRAWS, ENVIRONMENT = "tables", "fits", "figures", "draws", "environment"

_TOP = (README, REPLAY, CITATION, CODEBOOK, DESCRIPTION, CRATE, MANIFEST)
_ENDINGS = {
    DATA: (".csv", ".parquet"),
    JOURNAL: (".jsonl",),
    STUDY: (".toml", ".csv"),
    PROMPTS: (".csv",),
    TABLES: (".csv",),
    FITS: (".csv",),
    FIGURES: (".svg", ".png", ".csv"),
    DRAWS: (".parquet",),
    ENVIRONMENT: (".lock", ".txt", ".json"),
}
_LONGEST = 300
_PART = re.compile(r'[^\x00-\x1f\x7f-\x9f\\/:*?"<>|\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+')
_OF_WINDOWS = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def why_not_allowed(name: str) -> str | None:
    """Return the reason why a file of this name can't be in an archive, in words; None if it can."""
    if len(name) > _LONGEST:
        return f"its name has {len(name):,} characters"
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
        return "its path is absolute"
    parts = name.split("/")
    if ".." in parts or "." in parts or "" in parts:
        return "its path leads elsewhere"
    if not all(_is_plain(part) for part in parts):
        return "its name has characters or a form that some systems take for something else"
    if len(parts) == 1:
        return None if name in _TOP else "slant puts no such file into an archive"
    endings = _ENDINGS.get(parts[0], ())
    if not name.lower().endswith(endings) or (len(parts) > 2 and parts[0] != STUDY):
        return "slant puts no such file into an archive"
    return None


def _is_plain(part: str) -> bool:
    return (
        _PART.fullmatch(part) is not None
        and part == unicodedata.normalize("NFC", part)
        and part == part.strip()
        and not part.endswith(".")
        and not _OF_WINDOWS.fullmatch(part)
    )


def folded(name: str) -> str:
    """Return the same text for all names that some file system takes to be the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


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
                    is_packed = name.endswith(_PACKED_BY_THEMSELVES)
                    info.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
                    info.file_size = (folder / name).stat().st_size
                    with opened(folder / name) as file, archive.open(info, "w") as member:
                        while block := file.read(_BLOCK):
                            member.write(block)
                            done += len(block)
                            on_bytes(done, of_all)
            moved(place / out.name, out)
    except OSError as error:
        raise SlantError(f'Can\'t write "{out}": {error.strerror or error}.') from error


MAX_FILES = 20_000
_MAX_LIST_BYTES = 8_000_000  # 20,000 names of 300 characters; a list of 10^6 files has 50 MB or more
_MAX_TIMES = 250  # how much packed files may grow: journals, whose prompts are alike, grow by 20 to 60
_FREE_BYTES = 50_000_000  # below it, the growth of a file is not checked
_MAX_MANIFEST_BYTES = MAX_FILES * 400
_END, _END64, _LOCATOR64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, struct.error, NotImplementedError, RuntimeError)


class ArchiveError(SlantError):
    """Report a file that is not one of slant's archives, or was changed since."""


@dataclass(frozen=True)
class Archive:
    """Hold an archive that may be unpacked. `hashes`: the SHA-256 of each file by its name, as its manifest says."""

    path: Path
    file: zipfile.ZipFile
    members: dict[str, zipfile.ZipInfo]
    hashes: dict[str, str]

    @property
    def n_bytes(self) -> int:
        return sum(info.file_size for info in self.members.values())

    def unpack(self, name: str, folder: Path) -> str | None:
        """Write one file into `folder`, under its own name; return how it differs from the manifest, or None."""
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        try:
            with self.file.open(self.members[name]) as member, opened(target, "xb") as file:
                while block := member.read(_BLOCK):
                    digest.update(block)
                    file.write(block)
        except (zipfile.BadZipFile, zlib.error, EOFError, struct.error) as error:
            remove(target)
            return f"it is damaged ({error})"
        if name in self.hashes and digest.hexdigest() != self.hashes[name]:
            return f"its SHA-256 is {digest.hexdigest()[:12]}…, the manifest says {self.hashes[name][:12]}…"
        return None


@contextmanager
def opened_archive(path: Path) -> Iterator[Archive]:
    """Yield the archive after checking all of it; ArchiveError if it may not be unpacked."""
    if not path.is_file():
        raise UsageError(f'There is no archive "{path}".', "Name the file that analyze seal wrote.")
    _check_list(path)
    try:
        with opened(path.resolve()) as whole, zipfile.ZipFile(whole) as file:
            members = _checked_members(file, path)
            yield Archive(path, file, members, _manifest(file, members, path))
    except _DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise _refused(path, f"it can't be read as a ZIP file ({error})") from error


def _refused(path: Path, reason: str) -> ArchiveError:
    return ArchiveError(
        f'Can\'t open "{path}": {printable(reason)}.',
        "Nothing was unpacked. An archive of analyze seal holds what its manifest names, and nothing else.",
    )


def _check_list(path: Path) -> None:
    """Check how long the list of files is, from the very end of the file, before anything reads it into memory."""
    size = path.stat().st_size
    with opened(path.resolve()) as file:
        file.seek(max(0, size - 42))
        tail = file.read()
        end = tail[-22:]
        if len(end) < 22 or end[:4] != _END:
            raise _refused(path, "it is no ZIP file, or something follows its end")
        n_files, list_bytes = struct.unpack("<HL", end[10:16])
        if len(tail) == 42 and tail[:4] == _LOCATOR64:
            file.seek(struct.unpack("<Q", tail[8:16])[0])
            record = file.read(56)
            if len(record) < 56 or record[:4] != _END64:
                raise _refused(path, "the list of its files is not where it says")
            n_files, list_bytes = struct.unpack("<QQ", record[32:48])
    if n_files > MAX_FILES or list_bytes > _MAX_LIST_BYTES:
        raise _refused(path, f"it lists {n_files:,} files in {list_bytes:,} bytes, and {MAX_FILES:,} are the most")


def _checked_members(file: zipfile.ZipFile, path: Path) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    taken: dict[str, str] = {}
    for info in file.infolist():
        name = info.orig_filename  # as it was written: zipfile cuts a name at a null character
        shown = name[:80]
        if reason := why_not_allowed(name) or _why_no_file(info):
            raise _refused(path, f'the file "{shown}" in it is refused: {reason}')
        if (other := taken.get(folded(name))) is not None:
            how = f'it has "{shown}" twice' if other == name else f'"{shown}" and "{other}" are one name'
            raise _refused(path, how)
        members[name], taken[folded(name)] = info, name
    for name in members:
        parts = name.split("/")
        if any(folded("/".join(parts[:count])) in taken for count in range(1, len(parts))):
            raise _refused(path, f'"{name[:80]}" is inside of a file')
    if MANIFEST not in members:
        raise _refused(path, f"it has no {MANIFEST}")
    _check_sizes(members, path)
    return members


def _why_no_file(info: zipfile.ZipInfo) -> str | None:
    mode = info.external_attr >> 16
    if info.is_dir() or (mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode)):
        return "it is a link, a folder or a device"
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"it is compressed in a way that slant does not use ({info.compress_type})"
    return None


def _check_sizes(members: dict[str, zipfile.ZipInfo], path: Path) -> None:
    size, end = path.stat().st_size, 0
    if min(info.header_offset for info in members.values()) != 0:
        raise _refused(path, "something precedes its first file")
    for info in sorted(members.values(), key=lambda info: info.header_offset):
        name = info.filename[:80]
        if info.header_offset < end or info.header_offset + 30 + info.compress_size > size:
            raise _refused(path, f'"{name}" shares its bytes with another file')
        end = info.header_offset + 30 + info.compress_size
        if info.file_size > max(_FREE_BYTES, _MAX_TIMES * info.compress_size):
            raise _refused(path, f'"{name}" would grow from {info.compress_size:,} to {info.file_size:,} bytes')
    of_all = sum(info.file_size for info in members.values())
    if of_all > _FREE_BYTES + _MAX_TIMES * size:
        raise _refused(path, f"it would grow from {size:,} to {of_all:,} bytes")


def _manifest(file: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], path: Path) -> dict[str, str]:
    if members[MANIFEST].file_size > _MAX_MANIFEST_BYTES:
        raise _refused(path, f"its {MANIFEST} has {members[MANIFEST].file_size:,} bytes")
    hashes: dict[str, str] = {}
    try:
        lines = file.read(members[MANIFEST]).decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise _refused(path, f"its {MANIFEST} is no text") from None
    for number, line in enumerate(lines[:-1] if lines[-1] == "" else lines, 1):
        match = _LINE.fullmatch(line)
        if match is None or match[2] in hashes:
            raise _refused(path, f"line {number} of its {MANIFEST} is none")
        hashes[match[2]] = match[1]
    for name in sorted((members.keys() - {MANIFEST}) ^ hashes.keys()):
        what = "is not named by its manifest" if name in members else "is named by its manifest, and not there"
        raise _refused(path, f'"{name[:80]}" {what}')
    return hashes


def check_room(archive: Archive, folder: Path) -> None:
    """Raise ArchiveError if the disk has no room for the unpacked files, and a database of the same size."""
    free = shutil.disk_usage(folder).free
    if free < 3 * archive.n_bytes:
        raise ArchiveError(
            f'Can\'t unpack "{archive.path}": it needs some {3 * archive.n_bytes // 1_000_000:,} MB in "{folder}", '
            f"and {free // 1_000_000:,} MB are free."
        )
