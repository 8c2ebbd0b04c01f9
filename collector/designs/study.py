"""A study together with its design: what everything above both is handed."""

from __future__ import annotations

from dataclasses import dataclass, field

from slant.collector.designs.design import Design
from slant.collector.study.records import StudyFile


@dataclass(frozen=True)
class Study(StudyFile):
    """A study, read and checked: data (TOML and CSV, see `StudyFile`) and the `design` that reads it, which is code."""

    design: Design = field(kw_only=True)
