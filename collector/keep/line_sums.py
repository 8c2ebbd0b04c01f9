"""The checksum at the end of each line of a journal: a flipped bit must not become another answer, count or id.

Each line is an object whose last key is "sum": 24 bits of the CRC-32 of what stands before it, in base64. It stands in
the text, so that compressed journals are proven by it, too: where a damaged file can be unpacked at all, each line that
came out changed is told from those that did not.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Sequence
from zlib import crc32

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
    """Return the lines as JSON without their sums, and by index why not: None stands in for such a line.

    Lines that have no sum are taken only where none has one: among others somebody else has put them.
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


def is_sound(line: bytes) -> bool:
    """Whether a line (without its end) is what was written; one without a sum is."""
    return not checked_lines([line])[1]


def _sum(start: bytes) -> bytes:
    return b2a_base64((crc32(start) & 0xFFFFFF).to_bytes(3, "big"), newline=False)
