"""The files of the views, by name, and what their heads say."""

from __future__ import annotations

import re

from slant.collector.keep.view_heads import TableInfo, read_header
from slant.collector.system.shipped_files import sql_dir
from tests.support.each_row import each_row

FILES = {re.sub(r"^\d+_", "", file.stem): file for file in sorted(sql_dir().glob("views/*/*.sql"))}
every_view = each_row("view", FILES)


def head(view: str) -> TableInfo:
    return read_header(FILES[view].read_text("utf-8"))


def is_ordered(view: str) -> bool:
    return bool(head(view).order) or "ORDER BY" in FILES[view].read_text("utf-8").rpartition("\nFROM")[2]
