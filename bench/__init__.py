"""Speed and memory, measured against a bare loop or an ideal on the same machine. `make bench` runs all of it."""
