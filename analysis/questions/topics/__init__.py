"""Ask about topic models: how many topics, which model is shown, and reading one back."""
