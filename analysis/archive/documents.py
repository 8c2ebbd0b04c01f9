"""The pages of an archive, filled in from the database: README.md after the data editors' template, CITATION.cff."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from slant.collector.templates import template_environment


def page(name: str, values: Mapping[str, Any]) -> str:
    """One page by the name of its template. What models and studies wrote stays on one line and in its cell."""
    environment = template_environment(
        "slant.analysis.archive",
        is_html=False,
        finalize=lambda value: _one_line(value) if isinstance(value, str) else value,
        filters={"tojson": lambda value: json.dumps(value, ensure_ascii=False)},
        keep_trailing_newline=True,
    )
    return environment.get_template(f"{name}.j2").render(**values)


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
