"""A run carried out: in this process, or shared out among several on this machine."""
