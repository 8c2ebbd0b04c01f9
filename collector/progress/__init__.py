"""How far a run or a study is: the bar, and `collect status` from the database or next to a run of another process."""
