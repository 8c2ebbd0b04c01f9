"""Topics: slant's preparing, fitting and searching beside tm's and stm's own, on the authors' texts."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from bench.measures import ROOT, Measure, measured
from slant.analysis.bridge.r_home import r_installation
from slant.collector.studies.catalogue import load_study

DATA = ROOT.parent / "shared" / "data" / "rmiat"


def topics() -> list[Measure]:
    """About four minutes on an idle machine, most of it the published way of preparing and fitting."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "some.rds"
        found = both_ways(file)
        one, two = (measured("search", file, cores)["wall_s"] for cores in (1, 2))
    some, published = (sum(found[f"some_{part}{way}_s"] for part in ("fit", "effects")) for way in ("", "_published"))
    return [
        Measure("preparing all texts for topics", found["prepare_s"], "s", found["prepare_published_s"], 0.20, "ratio"),
        Measure("topics and effects, all texts", found["fit_s"] + found["effects_s"], "s", None, 15, "value"),
        Measure("topics and effects, 3,000 texts", some, "s", published, 0.15, "ratio"),
        Measure("search of topics, two cores", two, "s", one, 1 / 1.7, "ratio"),
    ]


def both_ways(file: Path) -> dict[str, Any]:
    """What bench/topics.R prints; stops where both ways don't give the same."""
    installed = r_installation()
    if installed is None or not DATA.is_dir():
        raise SystemExit(f"This bench needs R, and the authors' raw data in {DATA}.")
    words = file.with_name("removed_words.txt")
    words.write_text("\n".join(load_study("rmiat").fits["stm"].settings["removed_words"]), "utf-8")
    command = [str(installed.rscript), "bench/topics.R", str(DATA), str(file), str(words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if not (found["prepared_alike"] and found["fitted_alike"]):
        raise SystemExit("slant's topics differ from stm's: their speed means nothing.")
    return found
