"""tools/addition_costs.py: how many files an addition touched, from a history made here."""

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "addition_costs.py"


def committed(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, "commit", "-qm", "Add files"], cwd=root, check=True)


def test_an_engine_costs_the_files_that_carry_its_name(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    engines = "engine,what\nlme4,mixed models\n"
    committed(tmp_path, {"inst/engines.csv": engines, "R/other.R": "1\n"})
    added = {"R/fit_probit.R": "fit_probit <- 1  # probit\n", "tests/test_probit.R": "probit\n", "R/other.R": "2\n"}
    committed(tmp_path, {"inst/engines.csv": engines + "probit,probit models\n", **added})
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / TOOL.name).write_text(TOOL.read_text("utf-8"))
    command = [sys.executable, f"tools/{TOOL.name}", "--each", "--kind", "engine"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split("\t")[:2] + line.split("\t")[3:] for line in said[1:]] == [["engine", "probit", "3", "2"]]
