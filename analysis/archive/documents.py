"""The pages of an archive, filled in from the database: README.md after the data editors' template, CITATION.cff."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def page(name: str, values: Mapping[str, Any]) -> str:
    """One page by the name of its template. What models and studies wrote stays on one line and in its cell."""
    environment = Environment(
        loader=PackageLoader("slant.analysis.archive"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: _one_line(value) if isinstance(value, str) else value,
    )
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment.get_template(f"{name}.j2").render(**values)


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
