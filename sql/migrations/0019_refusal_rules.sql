-- What the study of a run calls a refusal: outcome (the outcome refused), or exact_label, the rule of a paper: whatever is
-- not exactly one of the two labels. NULL if it was not given: outcome.
ALTER TABLE runs ADD COLUMN refusal_rule TEXT;
