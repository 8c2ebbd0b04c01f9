"""A headless Chromium for the tests of the report, where apt-get can fetch one without asking; elsewhere they skip.

Only tests need it, so set-up, which `make demo` waits for, does not bring it.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from debian import APT, as_root, has_apt
from steps import Step, run

PROGRAMS = ("chromium", "chromium-headless-shell")


def install_browser() -> None:
    root = as_root() if has_apt() and not any(map(shutil.which, PROGRAMS)) else None
    if root is None:
        return
    command = [*root, *APT, "install", "-y", "--no-install-recommends", "chromium-headless-shell"]
    with (
        tempfile.NamedTemporaryFile() as file,
        Step("tests: installing Chromium for tests of the report"),
    ):
        log = Path(file.name)
        # Package lists are fetched only when the ones here don't serve.
        if run(command, log) and run([*root, *APT, "update"], log) == 0:
            run(command, log)
