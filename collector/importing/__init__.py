"""Answers that somebody else collected: `collect import`. The layouts of their files are in importing/layouts/."""
