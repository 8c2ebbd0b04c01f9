"""Check what a model's token count is worth: `collect check-model`, second counts, and probabilities of options."""
