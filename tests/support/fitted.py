"""A small database whose fits are quick, and functions that tests run inside R workers."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from tests.support.given import Row, database

MODELS = ("o3-mini", "deepseek-r1")
RUN: Row = {
    "run_id": "r1", "source": "simulated", "study": "rmiat", "study_version": "v1", "variant": "base",
    "models": [{"model": "o3-mini", "model_no": 1}, {"model": "deepseek-r1", "model_no": 2, "label": "DeepSeek-R1"}],
    "tests": [{"test": "flowers_insects", "test_no": 1, "label": "Flowers <b>& Insects</b>"}],
    "started_at": "2026-01-01",
}  # fmt: skip


def trials(source: str = "simulated", tests: tuple[str, ...] = ("flowers_insects",)) -> Iterator[Row]:
    """2 models x tests x 2 conditions x 10 wordings x 4 words; every 20th answer is a refusal."""
    chance = random.Random(7)
    number = 0
    for model in MODELS:
        for test in tests:
            for condition in ("compatible", "incompatible"):
                for wording in range(1, 11):
                    for item in ("aster", "tulip", "wasp", "ant"):
                        number += 1
                        tokens = round(chance.gauss(200 + 6 * wording + 30 * (condition == "incompatible"), 40))
                        answer = "I'd rather not." if number % 20 == 0 else "Pleasant"
                        yield {
                            "source": source,
                            "model": model,
                            "test": test,
                            "condition": condition,
                            "item": item,
                            "wording": wording,
                            "tokens": tokens,
                            "answer": answer,
                        }


def small_database(path: Path, source: str = "simulated", tests: tuple[str, ...] = ("flowers_insects",)) -> Path:
    return database(path, trials(source, tests), [{**RUN, "source": source}])


def round_trip(frame: pl.DataFrame, factors: dict[str, list[str]] | None = None) -> pl.DataFrame:
    from slant.analysis.bridge import r

    found: pl.DataFrame = r.from_r(r.to_r(frame, factors))
    return found


def call_r(name: str, *arguments: Any) -> Any:
    from slant.analysis.bridge import r

    value, conditions = r.call(name, *arguments)
    return value, conditions


def require(package: str) -> None:
    from slant.analysis.bridge import r

    r.require((package,))


def environment_of_r(names: list[str]) -> dict[str, str]:
    from slant.analysis.bridge import r

    r.start()
    getenv = r._session["ri"].baseenv["Sys.getenv"]
    return {name: str(getenv(name)[0]) for name in names}


def square_or_die(number: int) -> int:
    """Number 3 is killed as the kernel kills a process that takes too much memory."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def end(how: str) -> None:
    """As a process ends that memory ran out for, that crashes in C, or in which R gives up."""
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "crashed":
        os.abort()
    os._exit(2)


def wait_forever(path: str) -> None:
    import time

    Path(path).write_text(str(os.getpid()))
    time.sleep(600)


def wait_forever_with_a_child(path: str) -> None:
    import subprocess

    child = subprocess.Popen(["sleep", "600"])
    Path(path).write_text(str(child.pid))
    child.wait()


def process_id(_: int) -> int:
    import time

    time.sleep(0.2)  # so that a second worker gets its share
    return os.getpid()


def references_lost(frame: pl.DataFrame) -> int:
    """How many references to None fifty round trips give back without having taken them."""
    round_trip(frame)
    before = sys.getrefcount(None)
    for _ in range(50):
        round_trip(frame)
    return before - sys.getrefcount(None)
