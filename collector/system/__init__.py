"""Use what the machine and Python provide: processes, files, locks, entry points of packages."""
