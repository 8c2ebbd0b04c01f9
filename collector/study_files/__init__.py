"""The parts of a study file, read strictly. collector/study.py puts them together."""
