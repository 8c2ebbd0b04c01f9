"""How fast a provider may be asked: limits, budgets and pauses."""
