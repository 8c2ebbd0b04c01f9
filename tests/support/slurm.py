"""A Slurm of one node on this machine, without root's configuration: its own folder, ports and user.

Its programs are those of Debian's slurmctld, slurmd and slurm-client. Where these are not installed, the variable
SLANT_SLURM names a folder into which these packages, slurm-wlm-basic-plugins and libmunge2 were unpacked (`dpkg -x`).
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.support.clusters import free_port
from tests.support.processes import wait_until

_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_PROGRAMS = {"slurmctld": ("slurmctld-wlm", "slurmctld"), "slurmd": ("slurmd-wlm", "slurmd")}
_SETTINGS = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={d_port}
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
PluginDir={plugins}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=20000 State=UNKNOWN
PartitionName={queue} Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def slurm_root() -> Path | None:
    """The folder in which Slurm's usr/ lies; None where it is not here."""
    root = Path(os.environ.get("SLANT_SLURM", "/"))
    has_all = all(_program(root, name) for name in _PROGRAMS) and (root / "usr/bin/sbatch").exists()
    return root if has_all else None


@contextlib.contextmanager
def slurm(root: Path, folder: Path, queue: str) -> Iterator[dict[str, str]]:
    """While it runs: the environment in which `sbatch` and the like reach it. Its node says to have eight cores."""
    libraries = root / _LIBRARIES
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    environment["PATH"] = f"{root / 'usr/bin'}:{os.environ['PATH']}"
    if root != Path("/"):
        environment["LD_LIBRARY_PATH"] = f"{libraries}:{libraries / 'slurm-wlm'}"
    host = socket.gethostname().partition(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    settings = _SETTINGS.format(
        host=host, ctld_port=free_port(), d_port=free_port(), user=getpass.getuser(), plugins=libraries / "slurm-wlm",
        folder=folder, queue=queue,
    )  # fmt: skip
    (folder / "slurm.conf").write_text(settings)
    step = next(path for name in ("slurmstepd-wlm", "slurmstepd") if (path := root / "usr/sbin" / name).exists())
    commands = (
        [_program(root, "slurmctld"), "-D", "-c"],
        [_program(root, "slurmd"), "-D", "-N", host, "-d", str(step)],
    )
    with contextlib.ExitStack() as stack:
        for command in commands:
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            process = stack.enter_context(subprocess.Popen(command, env=environment, **quiet))  # type: ignore[call-overload]
            stack.callback(process.terminate)

        def is_ready() -> bool:
            state = subprocess.run(
                ["sinfo", "-h", "-o", "%t"], env=environment, capture_output=True, text=True, check=False
            )
            return state.stdout.strip() == "idle"

        assert wait_until(is_ready, 60), (folder / "slurmd.log").read_text()
        yield environment
        subprocess.run(["scancel", "--user", getpass.getuser()], env=environment, check=False)
        wait_until(is_ready, 20)


def _program(root: Path, name: str) -> str | None:
    return next((found for other in _PROGRAMS[name] if (found := shutil.which(str(root / "usr/sbin" / other)))), None)
