"""What tests share: servers on loopback, made-up studies and answers, scripts of R."""

from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
TESTS = SUPPORT.parent
ROOT = TESTS.parent
