"""Tables of a database or a lake, read by a process of its own, one after the other.

    python -m bench.table DB TABLE…

Prints, as JSON, of each table: wall_s, cpu_s, rows, peak_mb (of the whole process so far).
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import click

from slant.collector.keep.database import reading
from slant.collector.system.operating_system import peak_memory_mb

if __name__ == "__main__":
    found = {}
    with reading(Path(sys.argv[1])) as connection:
        for name in sys.argv[2:]:
            began, cpu = time.perf_counter(), time.process_time()
            rows = connection.view(name).fetchall()
            wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
            found[name] = {"wall_s": wall_s, "cpu_s": cpu_s, "rows": len(rows), "peak_mb": peak_memory_mb()}
    click.echo(json.dumps(found))
