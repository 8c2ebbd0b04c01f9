"""Read and compress the files of journals: as they are written (RUN_ID.jsonl), or compressed when nothing more is added
(RUN_ID.jsonl.zst, one zstd frame that states its size). All offsets and sizes are those of the text; a journal is named
RUN_ID.jsonl whatever its file."""

from __future__ import annotations

import logging
import sys
from binascii import b2a_base64
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast
from zlib import crc32

from slant.collector.errors import JournalError
from slant.collector.system import files

if TYPE_CHECKING or sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd


log = logging.getLogger(__name__)
PLAIN, PACKED = ".jsonl", ".jsonl.zst"
MIN_BYTES = 100_000  # a shorter journal is left as it is: compressing gains little
_BLOCK = 1_000_000
LONGEST_LINE = 200_000_000
"""Limit the bytes of a line. The longest answer that is read, 32 MB, takes less, however escaped, with all its
columns."""
TOO_LONG = b'{"kind":"line of more than 200 MB"}\n'
# Requests repeat what all prompts share, some of it kilobytes before: a window of 8 MB finds it. A repetition of less
# than six bytes is chance, among ids and checksums: without such ones a journal is 6 to 11 % smaller
_OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: 8,
    zstd.CompressionParameter.window_log: 23,
    zstd.CompressionParameter.min_match: 6,
}


UNREADABLE = (zstd.ZstdError, EOFError)
"""List what reading a damaged compressed journal raises."""


def journal_paths(folder: Path) -> list[Path]:
    """Return the file of each journal, ordered by name; the text itself if both exist."""
    by_name: dict[str, Path] = {}
    for path in files.regular_files(folder, f"*{PACKED}", f"*{PLAIN}"):
        by_name[journal_name(path)] = path
    return [by_name[name] for name in sorted(by_name)]


def left_out_files(folder: Path) -> list[str]:
    """Return sentences about anything that has a journal's name but is not a file, or the folder's name but is not a
    folder.
    """
    if folder.is_symlink():
        return [f"{folder}: skipped with all journals in it, because it is {files.irregularity(folder)}"]
    found = files.irregular_files(folder, f"*{PACKED}", f"*{PLAIN}")
    return [f"{path}: skipped, because it is {what}" for path, what in found]


def journal_name(path: Path) -> str:
    return path.name.removesuffix(".zst")


def journal_run(path: Path) -> str:
    """Return the run that a journal is named after."""
    return journal_name(path).removesuffix(PLAIN)


def journal_size(path: Path) -> int:
    """Return the bytes of its text. Raise JournalError for a file that is not compressed so, or lacks its size."""
    if path.name.endswith(PLAIN):
        with suppress(FileNotFoundError):
            return path.lstat().st_size
        path = _packed(path)  # it was compressed at this moment
    try:
        with files.opened(path) as file:
            size = zstd.get_frame_info(file.read(64)).decompressed_size
    except (OSError, zstd.ZstdError) as error:
        raise _unreadable(path, error) from error
    if size is None:
        raise JournalError(f'Can\'t read the journal "{path}": it is not one that slant has compressed.')
    return int(size)


def opened_journal(path: Path) -> IO[bytes]:
    """Open its text, to be read from the beginning or from any offset (which takes as long as reading up to there)."""
    if path.name.endswith(PLAIN):
        with suppress(FileNotFoundError):
            return files.opened(path)
        path = _packed(path)
    return cast("IO[bytes]", _PackedText(path))


class _PackedText(zstd.ZstdFile):
    """Read the text of a compressed journal; close its file when done."""

    def __init__(self, path: Path) -> None:
        self._packed = files.opened(path)
        super().__init__(self._packed, "rb")

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._packed.close()


def whole_lines(path: Path, offset: int, chunk_bytes: int, size: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield chunks of complete lines from `offset` on (up to byte `size`), each with the offset after it.

    A half-written last line is left out; one that slant can't have written, because it is too long, is given as
    TOO_LONG and never held in memory. JournalError is raised for a damaged file after what could be read.
    """
    try:
        with opened_journal(path) as file:
            file.seek(offset)
            rest, skipped = b"", 0
            left = sys.maxsize if size is None else size - offset
            while block := _read(file, min(chunk_bytes, left)):
                left -= len(block)
                if skipped:
                    skipped += (end := block.find(b"\n") + 1 or len(block))
                    if block[end - 1 : end] != b"\n":
                        continue
                    offset, skipped, block = offset + skipped, 0, block[end:]
                    yield offset, TOO_LONG
                if cut := block.rfind(b"\n") + 1:
                    data = b"".join([rest, memoryview(block)[:cut]])
                    rest, block = block[cut:], b""  # what is not needed any more is let go before the lines are used
                    offset += len(data)
                    yield offset, data
                else:
                    rest += block
                if len(rest) > LONGEST_LINE:
                    rest, skipped = b"", len(rest)
            if isinstance(file, _PackedText) and left == 0 and file.read(1):
                raise EOFError("it holds more than it says")
    except UNREADABLE as error:
        raise _unreadable(path, error) from error


def _read(file: IO[bytes], n_bytes: int) -> bytes:
    """Return this many bytes, or what is left. It unpacks block by block: in a damaged file, what precedes the damage
    counts."""
    if not isinstance(file, _PackedText):
        return file.read(n_bytes)
    parts: list[bytes] = []
    while n_bytes > 0:
        try:
            part = file.read1(min(n_bytes, _BLOCK))
        except UNREADABLE:
            if not parts:
                raise
            break  # what precedes the damage is good; the next call meets it again
        if not part:
            break
        parts.append(part)
        n_bytes -= len(part)
    return b"".join(parts)


def compress(path: Path) -> Path:
    """Compress a journal to which nothing more is added; this needs the folder's lock. The text is removed when its
    compressed form is on disk and was read back. OSError if there is no room, and nothing is changed then."""
    size = path.stat().st_size
    packed = _packed(path)
    part = files.part_of(packed)
    if not packed.exists() or not _is_same(path, packed):
        try:
            with files.opened(path) as text, files.opened(part, "wb") as file:
                compressor = zstd.ZstdCompressor(options=_OPTIONS)
                compressor.set_pledged_input_size(size)
                while block := text.read(_BLOCK):
                    file.write(compressor.compress(block))
                file.write(compressor.flush())
            if not _is_same(path, part):
                raise OSError(f"{part} does not hold what was written to it")
            files.moved(part, packed)
        finally:
            files.remove(part)
    files.remove(path)
    log.info("%s was compressed from %d to %d bytes", path.name, size, packed.stat().st_size)
    return packed


def compress_finished(folder: Path) -> None:
    """Compress all journals of a folder; this needs its lock. It can wait: if there is no room, or a file is damaged,
    they stay as they are."""
    files.remove_left_parts(folder)
    for path in sorted(files.regular_files(folder, f"*{PLAIN}")):
        if path.stat().st_size < MIN_BYTES:
            continue
        try:
            compress(path)
        except OSError as error:
            log.info("%s stays as it is: %s", path.name, error)


def _is_same(text: Path, packed: Path) -> bool:
    """Return whether the compressed file holds this very text."""
    try:
        with files.opened(text) as one, opened_journal(packed) as other:
            while block := one.read(_BLOCK):
                if _read(other, len(block)) != block:
                    return False
            return not other.read(1)
    except UNREADABLE:
        return False


def _packed(path: Path) -> Path:
    return path.with_name(f"{path.name}.zst")


def _unreadable(path: Path, error: Any) -> JournalError:
    return JournalError(f'Can\'t read all of the journal "{path}": {error}.', "What could be read of it is kept.")


_KEY = b',"sum":"'
_END = b'"}'
_LENGTH = len(_KEY) + len(b"0000") + len(_END)
WRONG = "can't be read: damaged (it is not what was written)"
MISSING = "can't be read: without its checksum (slant did not write it)"


def with_sum(text: bytes) -> bytes:
    """Return a line, with its end, from the JSON of an object."""
    start = text[:-1]
    return b'%b%b%b"}\n' % (start, _KEY, _sum(start))


def checked_lines(lines: Sequence[bytes]) -> tuple[list[bytes | None], dict[int, str]]:
    """Return the lines as JSON without their sums, and the reasons by index; a bad line is None.

    Lines without a sum are taken only if none has one: among lines with sums they are foreign.
    """
    checked: list[bytes | None] = []
    bad: dict[int, str] = {}
    lacking = []
    for index, line in enumerate(lines):
        place = len(line) - _LENGTH
        if place < 1 or not line.startswith(_KEY, place):
            lacking.append(index)
            checked.append(line)
        elif line.endswith(_sum(start := line[:place]) + _END):
            checked.append(start + b"}")
        else:
            bad[index] = WRONG
            checked.append(None)
    if len(lacking) < len(lines):
        for index in lacking:
            bad[index] = MISSING
            checked[index] = None
    return checked, bad


def divided(text: bytes, special: bytes) -> tuple[bytes, list[bytes]] | None:
    """Return a text's plain lines and its special ones. Those that do not begin with `special` are one text with their
    sums, those that do are JSON without them. None unless every line has its right sum: then look at each by
    `checked_lines`.

    It copies no line by itself, and so takes a third of the time.
    """
    view, others, specials = memoryview(text), [], []
    start = copied = 0
    while (end := text.find(b"\n", start)) >= 0:
        place = end - _LENGTH
        if place <= start or text[place:end] != b"%b%b%b" % (_KEY, _sum(view[start:place]), _END):
            return None
        if text.startswith(special, start):
            others.append(view[copied:start])
            specials.append(text[start:place] + b"}")
            copied = end + 1
        start = end + 1
    return (b"".join([*others, view[copied:]]), specials) if start == len(text) else None


def is_sound(line: bytes) -> bool:
    """Return whether a line (without its end) is what was written; one without a sum counts as such."""
    return not checked_lines([line])[1]


def _sum(start: bytes | memoryview) -> bytes:
    return b2a_base64((crc32(start) & 0xFFFFFF).to_bytes(3, "big"), newline=False)
