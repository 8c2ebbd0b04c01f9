"""Ask the design decision: two people are described, and each gets one of two things, in one answer or in turns."""
