"""What a model's token count is worth: `collect check`, second counts, and probabilities of options."""
