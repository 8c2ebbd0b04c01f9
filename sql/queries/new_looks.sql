-- Those of the looks (looked_at) that the table does not have yet.
SELECT study, source, variant, analysis, model, test, n_trials FROM looked_at
EXCEPT
SELECT study, source, variant, analysis, model, test, n_trials FROM looks
