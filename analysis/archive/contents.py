"""Hold an archive while it is put together."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from slant.analysis.archive.codebook import DataFile
from slant.analysis.archive.journals import SealedJournal
from slant.analysis.archive.privacy import PrivateWords
from slant.analysis.archive.steps import Step
from slant.collector.studies.catalogue import Study
from slant.collector.system.files import write_file


@dataclass
class Contents:
    """Hold what goes into the archive while it is put together in `folder`; `copy` is this study's own database."""

    study: Study
    folder: Path
    copy: Path
    private: PrivateWords
    without: tuple[str, ...]
    journals: list[SealedJournal] = field(default_factory=list)
    data: list[DataFile] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    results: list[dict[str, str]] = field(default_factory=list)
    run_times: list[dict[str, str]] = field(default_factory=list)
    computed: list[pl.DataFrame] = field(default_factory=list)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, self.private.in_text(text))
