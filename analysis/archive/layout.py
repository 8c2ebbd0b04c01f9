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
"""

from __future__ import annotations

import re
import unicodedata

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
