"""Carry out a run: in this process, or shared out among several on this machine."""
