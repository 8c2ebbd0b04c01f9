"""Opens every view of a database with the duckdb of the interpreter that runs this, and nothing else of slant.

    python open_all_views.py DATABASE

Prints the version, then one line per view: its name and number of rows, or to stderr why it can't be read.
"""

from __future__ import annotations

import sys

import duckdb

print(duckdb.__version__)  # noqa: T201
with duckdb.connect(sys.argv[1], read_only=True) as connection:
    connection.execute("SET autoinstall_known_extensions = false")
    views = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL").fetchall()
    failed = 0
    for (view,) in views:
        try:
            print(view, len(connection.execute(f'SELECT * FROM "{view}"').fetchall()))  # noqa: S608, T201
        except duckdb.Error as error:
            failed += 1
            print(f"{view}: {error}", file=sys.stderr)  # noqa: T201
sys.exit(failed > 0)
