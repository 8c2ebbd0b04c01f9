"""Pack a finished study as one file that replays: `analyze seal` and `analyze replay`."""
