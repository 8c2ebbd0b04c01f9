"""The way to R and back: one session, its workers, its packages and its compiler."""
