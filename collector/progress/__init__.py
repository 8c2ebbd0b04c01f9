"""How far a run or a study is: the bar, and `collect status` from the database or beside a run of another process."""
