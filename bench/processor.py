"""Seconds of a command on the wall, and of the processor in all processes that it starts: a busy machine changes the
first more than the second.

    python -m bench.processor COMMAND …

Prints both as JSON. On Linux also processes whose parent ended count, as those of a fork server do.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import time

import click

_SET_CHILD_SUBREAPER = 36  # of prctl(2)

if __name__ == "__main__":
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began = time.perf_counter()
    subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall_s = time.perf_counter() - began
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    click.echo(json.dumps({"wall_s": wall_s, "processor_s": used.ru_utime + used.ru_stime}))
