"""Reach R: one session, its workers, its packages and its compiler."""
