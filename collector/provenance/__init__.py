"""Record where answers come from: what a run stores about itself, and what a paper says about it."""
