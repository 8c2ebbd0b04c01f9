"""Where answers come from: what a run writes down about itself, and what a paper says of it."""
