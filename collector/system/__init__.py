"""What the machine and Python bring: processes, files, locks, entry points of packages."""
