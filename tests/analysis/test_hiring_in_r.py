"""R's game_indices() and the view allocation_indices give the same numbers for the same rounds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from slant.analysis.bridge.r_code import r_folder
from slant.analysis.bridge.r_home import r_installation
from slant.collector.keep.frames import frame_of
from tests.analysis.test_game_indices import KEPT, all_rounds
from tests.support import SUPPORT
from tests.support.given import in_memory, insert
from tests.support.plain_r import environment


@pytest.mark.slow
def test_the_same_rounds_have_the_same_indices_in_sql_and_in_r(tmp_path: Path) -> None:
    installed = r_installation()
    if installed is None:
        pytest.skip("R is not here")
    draws = np.random.default_rng(3)
    with in_memory() as connection:
        games = {name: draws.poisson(mean, (8, 4, 4)).tolist() for name, mean in [("few", 0.6), ("many", 3.0)]}
        insert(connection, [row for name, played in games.items() for row in all_rounds(name, played)])
        connection.sql("SELECT model, game, class, choice FROM allocation_rounds").write_csv(
            str(tmp_path / "rounds.csv")
        )
        kept = frame_of(connection.sql("FROM allocation_indices")).rows(named=True)
    script = SUPPORT / "game_indices_from_csv.R"
    done = subprocess.run(
        [installed.rscript, "--vanilla", script, tmp_path / "rounds.csv", r_folder()],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    found = {(model, index): values for model, index, *values in (line.split(",") for line in done.stdout.split())}
    assert len(found) == len(kept) * len(KEPT)
    for row in kept:
        for name in KEPT:
            estimate, sd = found[row["model"], name]
            assert float(estimate) == pytest.approx(row[name], rel=1e-9)
            if f"{name}_sd" in row:
                assert float(sd) == pytest.approx(row[f"{name}_sd"], rel=1e-9)
