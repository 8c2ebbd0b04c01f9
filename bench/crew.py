"""One run of `collect` with so many processes, timed from the first answer that is seen to the last.

    python -m bench.crew URL DB REPETITIONS IN_FLIGHT PROCESSES

Prints, as JSON: per_s, answers.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from slant.collector import Options, Watcher, collect


class Timed(Watcher):
    def __init__(self) -> None:
        self.moments: list[float] = []

    def change(self, lane: Any, outcome: str) -> None:
        self.moments.append(time.monotonic())


def run(url: str, db: str, repetitions: int, in_flight: int, processes: int) -> dict[str, float]:
    watcher = Timed()
    collect(
        db, "rmiat", ["local/m"], base_url=url, repetitions=repetitions, options=Options(concurrency=in_flight),
        processes=processes, watcher=watcher,
    )  # fmt: skip
    # without the first and the last tenth: the processes neither start nor end at the same moment
    tenth = len(watcher.moments) // 10
    seen = watcher.moments[tenth:-tenth]
    return {"per_s": len(seen) / (seen[-1] - seen[0]), "answers": float(len(watcher.moments))}


if __name__ == "__main__":
    url, db, *numbers = sys.argv[1:]
    sys.stdout.write(json.dumps(run(url, db, *map(int, numbers))) + "\n")
