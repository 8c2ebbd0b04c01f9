"""Read which label an answer chooses, however a model spells it."""
