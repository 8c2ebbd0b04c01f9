"""Remove from stored rows what reveals who collected them, to give them away anonymously.

It goes by column names, so that tables, views and rows of any layout are treated alike. What a study, a prompt
or a model says is left as it is: it is what was measured.
"""

from __future__ import annotations

import duckdb

from slant.collector.providers import PROVIDERS
from slant.collector.sources import SOURCES

_PUBLIC = ", ".join(f"'{p.base_url}'" for p in PROVIDERS.values() if p.base_url and p.key_variable)
_GIVEN_AWAY = ", ".join(f"'{name}'" for name in SOURCES)
# Names of a request's user (OpenAI's and Anthropic's), and what an import calls its files.
_PERSONAL = '\'{"user": null, "metadata": null, "safety_identifier": null, "prompt_cache_key": null, "files": null}\''
_OBJECT = (
    "CASE WHEN json_valid(COLUMN) AND json_type(COLUMN) = 'OBJECT' "
    f"THEN json_merge_patch(COLUMN, {_PERSONAL})::VARCHAR END"
)
# "HTTP 401: …", "ClientConnectorError: Cannot connect to host …": what follows the colon names hosts and accounts
_SAID = r"regexp_replace(COLUMN, '^(HTTP [0-9]+|\w*(?:Error|Timeout)|no connection within 30 s)\b.*$', '\1', 's')"
_FOLDERS = r"""regexp_replace(COLUMN, '(~|[A-Za-z]:)?([\\/][^\\/\s''"]+)+[\\/]', '…/', 'g')"""
# A registration is published under its author's name: its hash or its text leads there.
_REGISTERED = (
    "CASE WHEN starts_with((CASE WHEN json_valid(COLUMN) THEN json_extract_string(COLUMN, '$.format') END), "
    "'slant registration ') IS NOT TRUE THEN COLUMN END"
)
_LAST_NAME = r"regexp_replace(COLUMN, '^([/\\~.…]|[A-Za-z]:).*[/\\]', '')"

INSTEAD: dict[str, str] = {
    **dict.fromkeys(("command", "git_commit", "headers", "request_id", "response", "batch_id", "answers"), "NULL"),
    **dict.fromkeys(("registration", "sha256"), "NULL"),
    "text": _REGISTERED,
    **dict.fromkeys(("request", "settings", "sent"), _OBJECT),
    **dict.fromkeys(("error", "detail"), _SAID),
    **dict.fromkeys(("messages", "problem", "reasons"), _FOLDERS),
    **dict.fromkeys(("served_model", "served_models"), _LAST_NAME),
    "study_file": r"regexp_extract(COLUMN, '[^\\/]*$')",
    "machine": "nullif(regexp_extract(COLUMN, 'Python [0-9.]+'), '')",
    "base_url": f"CASE WHEN COLUMN IN ({_PUBLIC}) THEN COLUMN END",
    "source": f"CASE WHEN COLUMN IN ({_GIVEN_AWAY}) THEN COLUMN ELSE 'another database' END",
    "versions": """CASE WHEN json_valid(COLUMN) THEN json_merge_patch(COLUMN, '{"machine": null}')::VARCHAR END""",
}
"""Map a column of text to the SQL of its replacement, in which COLUMN is the column's value."""


def anonymised(rows: duckdb.DuckDBPyRelation, is_wanted: bool) -> duckdb.DuckDBPyRelation:
    """Return the same rows; if `is_wanted`, without what reveals who collected them. Columns and types stay."""
    if not is_wanted:
        return rows
    columns = []
    for name, kind in zip(rows.columns, map(str, rows.types), strict=True):
        quoted = '"' + name.replace('"', '""') + '"'
        instead = INSTEAD.get(name) if kind == "VARCHAR" else None
        columns.append(f"({instead.replace('COLUMN', quoted)})::VARCHAR AS {quoted}" if instead else quoted)
    return rows.project(", ".join(columns))
