"""Takes from Python what another system lacks: SLANT_LACKS names it. Python runs this file in every process that has
this folder in PYTHONPATH, before anything else (see tests/project/test_lacking.py).
"""

import os
import sys
from importlib import import_module

LACKING = os.environ.get("SLANT_LACKS", "").split()

if {"sched_getaffinity", "posix"} & set(LACKING):  # Python 3.13's process_cpu_count() asks it where it was there
    os.process_cpu_count = os.cpu_count

for name in {"fdatasync", "posix_fallocate", "sched_getaffinity"} & set(LACKING):
    delattr(os, name)
if "forkserver" in LACKING:
    from multiprocessing import context, reduction

    reduction.HAVE_SEND_HANDLE = False  # which is how Python finds out
    del context._concrete_contexts["forkserver"]
if "posix" in LACKING:  # as on Windows, as far as a Python module can tell; what is loaded before would need more of it
    signal, *_ = map(import_module, ("signal", "subprocess", "multiprocessing.context", "click", "shutil"))
    for module in ("fcntl", "pwd", "grp", "termios", "resource"):
        sys.modules[module] = None
    for name in ("SIGHUP", "SIGKILL", "pthread_sigmask"):
        delattr(signal, name)
    for name in ("fdatasync", "posix_fallocate", "sched_getaffinity", "fork", "killpg", "setpgid", "getpgrp"):
        delattr(os, name)
    sys.platform = "win32"
