"""Tests of analysis/, R/ and sql/."""
