"""Makes all that slant needs: R, its packages, and .venv with slant in it. Does only what is missing; asks nothing.

    python3 tools/setup.py      what `make setup` types; any Python from 3.9 on runs it

    SLANT_CRAN     folder or address of a repository of R packages (default: CRAN)
    SLANT_COMPILE  "yes": also compile R packages that take minutes (R's duckdb: half an hour)
    PYTHON         the Python to build .venv from (default: the first one that is new enough)

R comes from the system (Debian and Ubuntu: by apt; elsewhere it must be there). What `analysis/r_packages.csv` names
and the system has not comes from CRAN. Only packages for the analysis must be had. The others are tried once for each
value of SLANT_CRAN: `.setup-done` keeps what was missed, so deleting that file tries again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path

from debian import has_apt, install_debian_packages
from pythons import install_python_packages, python_to_use
from r_packages import Missing, install_r_packages, repository_named
from steps import say, stop

ROOT = Path(__file__).resolve().parent.parent
STAMP = ROOT / ".setup-done"
LOG = ROOT / ".setup-log"
PARTS = ("setup.py", "steps.py", "debian.py", "pythons.py", "r_packages.py", "install_r_packages.R")
DECIDES = (
    "pyproject.toml",
    "constraints.txt",
    "analysis/r_packages.csv",
    "analysis/bridge/r_home.py",
    *(f"tools/{part}" for part in PARTS),
)

sys.path.insert(0, str(ROOT / "analysis" / "bridge"))
from r_home import HOW_TO_INSTALL_R, RInstallation, r_installation  # noqa: E402


def fingerprint(python: str) -> str:
    """What decides whether the last set-up still holds; the folder too, because a venv can't be moved."""
    r = r_installation()
    said = [str(ROOT), python, f"{r.home} {r.version_text}" if r else "no R"]
    return hashlib.sha256(
        "\n".join(said).encode() + b"".join((ROOT / name).read_bytes() for name in DECIDES)
    ).hexdigest()


def last_set_up() -> tuple[str, Missing]:
    """The fingerprint of the last set-up that ended well, and the R packages that it missed."""
    try:
        kept = json.loads(STAMP.read_text("utf-8"))
        return kept["fingerprint"], kept["missing"]
    except (OSError, ValueError, KeyError, TypeError):
        return "", {}


def is_done(before: str, missing: Missing, python: str) -> bool:
    if os.environ.get("SLANT_COMPILE") and missing:
        return False
    tried = all(repository_named() in repositories for repositories in missing.values())
    return tried and (ROOT / ".venv" / "bin" / "slant").exists() and before == fingerprint(python)


def usable_r() -> RInstallation:
    r = r_installation()
    if r is None or r.is_too_old:
        found = f"R {r.version_text}" if r else "no R"
        stop(f"slant needs R 4.1 or newer, but {found} was found.", HOW_TO_INSTALL_R, "Then: make setup")
    return r


def main() -> None:
    os.chdir(ROOT)
    begun = time.monotonic()
    repository_named()  # which ends here where SLANT_CRAN names nothing
    before, missing = last_set_up()
    if is_done(before, missing, python_to_use(or_stop=False)):
        return
    LOG.write_text("")
    if has_apt():
        install_debian_packages(LOG)
    python = python_to_use()
    r = usable_r()
    install_python_packages(python, r, LOG)
    missing = install_r_packages(r, missing if before == fingerprint(python) else {}, LOG)
    STAMP.write_text(json.dumps({"fingerprint": fingerprint(python), "missing": missing}, indent=1), "utf-8")
    say(f"done in {time.monotonic() - begun:.0f} s. Next: make demo")


if __name__ == "__main__":
    main()
