"""What is fixed before the data: a plan with its analyses, as one canonical text, and how a run stands to it."""
