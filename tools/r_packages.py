"""R packages that the system has not, from CRAN or from the repository in SLANT_CRAN.

Packages for the analysis must be had. Others are tried once, quietly, not for long, and what is missing is a line.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from debian import has_apt, r_is_of_system
from steps import Step, last_lines, run, say, stop

if TYPE_CHECKING:
    from r_home import RInstallation

Missing = dict[str, list[str]]  # R package: repositories where it was sought in vain
Row = dict[str, str]  # of analysis/r_packages.csv

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "tools" / "install_r_packages.R"
LIMIT_S = 90  # for a package that slant can do without
CRAN = "CRAN"


def repository_named() -> str:
    """Folder or address in SLANT_CRAN, else "CRAN"; part of what decides whether a package is tried again. A password
    in the address is left out: this is kept, and shown."""
    named = os.environ.get("SLANT_CRAN", "")
    if not named.strip():
        return CRAN
    if "://" in named:
        return _checked_address(named)
    if "\0" in named or not os.path.isdir(named):
        stop(f"SLANT_CRAN must be a folder or an address, but there is no folder {json.dumps(named[:200])}.")
    return str(Path(named).resolve())


def _checked_address(named: str) -> str:
    try:
        parts = urlsplit(named)
        where = parts.path if parts.scheme == "file" else parts.hostname
        is_one = parts.scheme in ("http", "https", "file") and bool(where) and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one or re.search(r"[\s\x00-\x1f\x7f\"'\\\\]", named):
        stop(
            f"SLANT_CRAN names no address of R packages: {json.dumps(named[:200])}. It is http://, https:// or file://."
        )
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def r_environment() -> dict[str, str]:
    """Variables with which R runs no profile of the user's or of this folder, and still finds the libraries that they
    name. The site's profile runs: it may say where packages come from."""
    sys.path.insert(0, str(ROOT / "python"))
    from slant.analysis.bridge.r_home import startup_environment

    return {name: value for name, value in startup_environment().items() if name != "R_PROFILE"}


def wanted_rows() -> list[Row]:
    with (ROOT / "analysis" / "r_packages.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lacking_rows(r: RInstallation) -> list[Row]:
    """Packages that are not installed or too old."""
    from r_home import version_numbers

    rows = wanted_rows()
    command = [str(r.rscript), str(ROOT / "R" / "package_versions.R"), *(row["package"] for row in rows)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | r_environment())
    if answer.returncode:
        stop(f"Can't ask R for its packages: {answer.stderr.strip()}", f"See the output of: {r.rscript} --version")
    found = {row["package"]: row["version"] for row in csv.DictReader(answer.stdout.splitlines())}
    return [row for row in rows if version_numbers(found[row["package"]]) < version_numbers(row["at_least"])]


def install_r_packages(r: RInstallation, tried: Missing, log: Path) -> Missing:
    """Installs what is lacking and can be had; gives back what is missing and where it was sought."""
    lacking = lacking_rows(r)
    if not lacking:
        return {}
    repository = repository_named()
    kinds = repository_kind(r, log)
    if not kinds:
        where = "CRAN" if repository == CRAN else repository
        say(f"no packages come from {where}, which can't be reached")
    sought = [row for row in lacking if kinds and worth_trying(row, tried, kinds)]
    if has_apt() and r_is_of_system():
        each_for_itself(r, sought, log)
    elif sought:
        all_together(r, sought, log)
    missing = lacking_rows(r)
    end_without_the_needed(missing, log)
    say_what_is_missing(missing, kinds)
    return {row["package"]: [*tried.get(row["package"], []), repository] for row in missing}


def repository_kind(r: RInstallation, log: Path) -> str:
    """ "binary" or "source", or "" where the repository does not answer within seconds (a firewall, no network)."""
    with log.open("ab") as file:
        command = [str(r.rscript), str(SCRIPT), "--kind"]
        try:
            answer = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=file, text=True, timeout=30, check=False,
                env=os.environ | r_environment(),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return ""
    return answer.stdout.strip()


def worth_trying(row: Row, tried: Missing, kind: str) -> bool:
    if os.environ.get("SLANT_COMPILE"):
        return True
    takes_long = row["compiles"] and kind == "source"
    return not takes_long and repository_named() not in tried.get(row["package"], [])


def each_for_itself(r: RInstallation, rows: list[Row], log: Path) -> None:
    """What the system's R lacks is a handful of packages that slant can do without."""
    limit_s = None if os.environ.get("SLANT_COMPILE") else LIMIT_S
    if not rows:
        return
    names = ", ".join(row["package"] for row in rows)
    with Step(f"setup: trying R packages that the system has not ({names})"):
        for row in rows:
            run([r.rscript, SCRIPT, row["package"]], log, limit_s, environment=on_all_cores() | r_environment())


def all_together(r: RInstallation, rows: list[Row], log: Path) -> None:
    with Step(f"setup: installing {len(rows)} R packages from CRAN (many minutes where they have to be compiled)"):
        run([r.rscript, SCRIPT, *(row["package"] for row in rows)], log, environment=on_all_cores() | r_environment())


def on_all_cores() -> dict[str, str]:
    return {"MAKEFLAGS": f"-j{os.cpu_count() or 1}"}


def end_without_the_needed(missing: list[Row], log: Path) -> None:
    needed = [row for row in missing if row["needed_for"] == "analysis"]
    if not needed:
        return
    sys.stderr.write("\n".join(last_lines(log)) + "\n")
    names = ", ".join(f"{row['package']} >= {row['at_least']}" for row in needed)
    stop(
        f"Can't go on without these R packages: {names}.",
        f"To see why: Rscript -e 'install.packages(\"{needed[0]['package']}\")'",
        "A repository that can be reached: SLANT_CRAN=FOLDER-OR-ADDRESS make setup",
    )


def say_what_is_missing(missing: list[Row], kind: str) -> None:
    for row in missing:
        how = f'install.packages("{row["package"]}") in R'
        if row["compiles"] and kind == "source" and not os.environ.get("SLANT_COMPILE"):
            how = f"SLANT_COMPILE=yes make setup ({row['compiles']})"
        say(f"without R's {row['package']}: {row['costs']}. To have it: {how}")
    if missing:
        say("to try them again: rm .setup-done; make setup (SLANT_CRAN=FOLDER-OR-ADDRESS names another repository)")
