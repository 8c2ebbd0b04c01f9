"""Find the C++ compiler that R uses for Stan, and what it has made, without starting Stan."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from slant.analysis.bridge.r_home import RInstallation
from slant.collector.system.operating_system import user_caches

_PATIENCE_S = 20


def compiler_of(r: RInstallation) -> str | None:
    """Return the path of R's configured compiler, None if it or make is missing."""
    command = [str(r.rscript.with_name("R")), "CMD", "config", "CXX14"]
    try:
        words = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE_S).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return None
    return shutil.which(words[0]) if words and shutil.which("make") else None


def has_compiled_models() -> bool:
    """Return whether R's compiled_model() has kept one in the user's cache."""
    return any(cache_folder().glob("stan-*.rds"))


def cache_folder() -> Path:
    """Return the folder that tools::R_user_dir("slant", "cache") names in R."""
    if cache_home := os.environ.get("R_USER_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME"):
        return Path(cache_home) / "R" / "slant"
    return Path.home() / user_caches() / "R" / "slant"
