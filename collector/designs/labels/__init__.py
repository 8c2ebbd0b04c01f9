"""Which label an answer chooses, however a model spells it."""
