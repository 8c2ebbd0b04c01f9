"""A copy of what git tracks in the checkout (as it stands, changes included), for tests that build from it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def tracked_files(root: Path) -> list[str]:
    """What is or may become part of the project: links and files, as paths below the checkout."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=root, capture_output=True)
    if listed.returncode:
        pytest.skip("this is no git checkout")
    return [name for name in listed.stdout.decode().split("\0") if name]


def tracked_copy(root: Path, to: Path) -> Path:
    """What lies about a working folder (databases, environments) is no part of a package."""
    for name in tracked_files(root):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, to / name)
    return to
