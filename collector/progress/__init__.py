"""Show how far a run or a study is: in a progress bar, and by `collect status`, also next to another process's run."""
