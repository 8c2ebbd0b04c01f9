"""Tests of collector/."""
