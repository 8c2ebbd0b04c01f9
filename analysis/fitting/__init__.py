"""Make fits of every engine, and keep their results."""
