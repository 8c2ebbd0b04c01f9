"""Answers of people: only columns that were asked for by name come in, and a person is a running number."""
