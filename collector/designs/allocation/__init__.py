"""Play the design allocation: groups are matched with jobs, round by round."""
