"""Whole numbers as the CSVs of a study give them."""

from __future__ import annotations

from slant.collector.errors import StudyError


def whole(text: str, where: str) -> int:
    """StudyError for anything but up to nine digits."""
    if not text.isdecimal() or not text.isascii() or len(text) > 9:
        raise StudyError(f'"{text}" in {where} must be a whole number.')
    return int(text)
