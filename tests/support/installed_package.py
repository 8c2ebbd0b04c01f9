"""A package of somebody else's: a wheel of one module, installed by pip into a folder of its own."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

WHEEL = "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def installed(folder: Path, package: str, module: str, entry_points: str) -> Path:
    """Where pip put `package`, whose only file has the text `module`; this environment is not touched."""
    name = package.replace("-", "_")
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": module,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n",
        f"{info}/WHEEL": WHEEL,
        f"{info}/entry_points.txt": entry_points,
    }
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        record = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
        for file, text in (files | {f"{info}/RECORD": record}).items():
            archive.writestr(file, text)
    target = folder / "installed"
    quiet = ["--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "install", *quiet, "--target", target, wheel], check=True)
    return target
