"""A machine that has nothing: a root made by debootstrap with git, make and python3, a clone of what is committed here.

Mounts live in a namespace of their own and go with the command that runs, so nothing of this machine can be deleted.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from steps import Step, last_lines, run, stop

ROOT = Path(__file__).resolve().parent.parent
HAS = "ca-certificates,git,make,python3"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PASSED_ON = ("SSL_CERT_FILE", "PIP_CERT", "PIP_FIND_LINKS", "http_proxy", "https_proxy", "no_proxy", "TERM")


def check_rights() -> None:
    lacking = [name for name in ("debootstrap", "unshare", "chroot") if not shutil.which(name)]
    if os.geteuid() == 0 and not lacking:
        return
    found = f"{', '.join(lacking)} can't be found" if lacking else "you are not root"
    how = "On Debian: sudo apt-get install debootstrap, then as root: make test-fresh"
    stop("Can't make fresh machines: this needs root and debootstrap.", f"Here {found}.", how)


def mirror() -> str:
    """The address that this machine's own apt has its packages from."""
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)", "Created-By: Packages"]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    found = [line.split()[1] for line in lines if line.startswith("Debian ") and "security" not in line]
    if not found:
        stop("Can't make fresh machines: apt names no mirror of Debian here.", "Name one: --mirror ADDRESS")
    return found[0]


def make_root(folder: Path, suite: str, address: str, log: Path) -> None:
    """Makes `folder` a minimal Debian, unless it is one."""
    if (folder / "fresh").is_dir():
        return
    command = ["debootstrap", "--variant=minbase", f"--include={HAS}", suite, folder, address]
    with Step(f"fresh: making a root of {suite}"):
        failed = run(command, log)
    if failed:
        stop(f"Can't make a root of {suite}: debootstrap ended with an error.", *last_lines(log, 5))
    # The root is thrown away, so nothing has to survive a power cut.
    (folder / "etc/dpkg/dpkg.cfg.d/unsafe-io").write_text("force-unsafe-io\n")
    (folder / "fresh").mkdir()


def bring(folder: Path) -> None:
    """What this machine knows of the network, and a clone of what is committed here."""
    pip = Path.home() / ".config" / "pip"
    for path in map(Path, ("/etc/resolv.conf", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")):
        if path.exists():
            there = folder / path.relative_to("/")
            there.unlink(missing_ok=True)  # a link in the root may lead to a file of this machine
            shutil.copy(path, there)
    if pip.is_dir():
        shutil.copytree(pip, folder / "root/.config/pip", dirs_exist_ok=True)
    shutil.rmtree(folder / "fresh" / "main", ignore_errors=True)
    subprocess.run(["git", "clone", "-q", ROOT, folder / "fresh" / "main"], check=True)


def folders_of_pip() -> list[str]:
    """Folders that pip looks into."""
    files = (Path("/etc/pip.conf"), Path.home() / ".config/pip/pip.conf")
    text = "\n".join(
        [*(path.read_text("utf-8") for path in files if path.exists()), os.environ.get("PIP_FIND_LINKS", "")]
    )
    named = {Path(place).resolve() for place in re.findall(r"(?:(?<=file://)|(?<=[\s=]))/[^\s]+", text)}
    # An index of links names files next to itself.
    named = {place.parent if place.name == "simple" else place for place in named}
    return sorted(str(place) for place in named if place.is_dir() and not place.is_relative_to("/etc"))


def command_in(folder: Path, command: str, bound: dict[str, Path], environment: dict[str, str]) -> list[str]:
    """What runs `command` by a shell in /fresh/main of the root; `bound`: folders of here under their names there."""
    binds = {**{place: Path(place) for place in folders_of_pip()}, **bound}
    mounts = [f'mount --rbind /dev "{folder}/dev"', f'mount -t proc proc "{folder}/proc"']
    for there, here in binds.items():
        mounts += [f'mkdir -p "{folder}{there}"', f'mount --bind -o ro "{here}" "{folder}{there}"']
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    settings = {"HOME": "/root", "LANG": "C.UTF-8", "PATH": PATH, **passed, **environment}
    words = [f"{name}={value}" for name, value in settings.items()]
    script = " && ".join([*mounts, 'exec chroot "$0" env -i "$@"'])
    inside = [*words, "sh", "-c", f"cd /fresh/main && {command}"]
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, str(folder), *inside]
