"""Run batch jobs of the providers, for half the price and an answer within a day: `collect --batch`."""
