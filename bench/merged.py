"""One merge in a process of its own.

    python -m bench.merged DB SOURCE…

Prints, as JSON: wall_s, cpu_s, rows, peak_mb, and `ratio`, a journal's text beside its compressed file.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from slant.collector import merge
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_paths, journal_size
from slant.collector.system.operating_system import peak_memory_mb

if __name__ == "__main__":
    db, *sources = map(Path, sys.argv[1:])
    began, cpu = time.monotonic(), time.process_time()
    report = merge(db, sources)
    wall_s, cpu_s = time.monotonic() - began, time.process_time() - cpu
    paths = journal_paths(journal_folder(sources[0]))
    ratio = sum(map(journal_size, paths)) / sum(path.stat().st_size for path in paths)
    found = {
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "rows": report.attempts_loaded,
        "peak_mb": peak_memory_mb(),
        "ratio": ratio,
    }
    sys.stdout.write(json.dumps(found) + "\n")
