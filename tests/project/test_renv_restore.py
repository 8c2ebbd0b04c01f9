"""`renv::restore()` with renv.lock: what Debian has not comes from the folder of packages (SLANT_CRAN), in its version.

Debian's packages are linked into a new library, where the lock finds them in the versions that it names; all else has
to be restored. No network takes part.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from slant.analysis.bridge.r_home import RInstallation, r_installation

DEBIAN = Path("/usr/lib/R/site-library")
NO_NETWORK = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}


@pytest.fixture
def r(root: Path) -> RInstallation:
    found, lock = r_installation(), json.loads((root / "renv.lock").read_text("utf-8"))
    if found is None or found.version_text != lock["R"]["Version"] or not DEBIAN.is_dir():
        pytest.skip(f"the lock is for Debian's R {lock['R']['Version']}, which is not here")
    return found


@pytest.fixture
def repository(root: Path) -> Path:
    named = os.environ.get("SLANT_CRAN", str(root.parent / "shared" / "cran"))
    if not (Path(named) / "src" / "contrib" / "PACKAGES").exists():
        pytest.skip("there is no folder of R packages here (SLANT_CRAN, or ../shared/cran)")
    return Path(named).resolve()


def version_in(library: Path, package: str) -> str | None:
    description = library / package / "DESCRIPTION"
    found = re.search(r"^Version: (\S+)", description.read_text("utf-8"), re.M) if description.exists() else None
    return found[1] if found else None


def can_load(r: RInstallation, package: str) -> bool:
    """Whether the package that this machine has is whole: quanteda needs Debian's libtbb12, for one."""
    return subprocess.run([str(r.rscript), "-e", f"library({package})"], capture_output=True).returncode == 0


@pytest.mark.needs("renv")
@pytest.mark.slow
def test_the_lock_restores_every_version_that_it_names(
    root: Path, tmp_path: Path, r: RInstallation, repository: Path
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    for package in DEBIAN.iterdir():
        (library / package.name).symlink_to(package)
    locked = {name: p["Version"] for name, p in json.loads((root / "renv.lock").read_text())["Packages"].items()}
    left_out = [] if can_load(r, "quanteda") else ["quanteda"]
    script = [str(r.rscript), "--vanilla", str(root / "tests" / "support" / "restore_lock.R"), str(root / "renv.lock")]
    settings = {f"RENV_CONFIG_{name}_ENABLED": "FALSE" for name in ("PPM", "CACHE", "SANDBOX")}
    done = subprocess.run(
        [*script, str(library), str(repository), ",".join(left_out) or "-"],
        env={
            **os.environ,
            **NO_NETWORK,
            **settings,
            "RENV_CONFIG_REPOS_OVERRIDE": f"file://{repository}",
            "RENV_PATHS_ROOT": str(tmp_path / "renv"),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    missing = {p for p in locked if version_in(library, p) is None and version_in(DEBIAN.parent / "library", p) is None}
    assert missing <= set(left_out)
    found = {p: version_in(library, p) for p in locked if (library / p).exists()}
    assert {p: v for p, v in found.items() if v != locked[p]} == {}
    assert [p for p in found if not (library / p).is_symlink()], "nothing was restored: the test has lost its point"
