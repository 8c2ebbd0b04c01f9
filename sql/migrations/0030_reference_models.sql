-- The model that an effect over words and wordings is compared with (the study's own) is called its reference model.

ALTER TABLE crossed_effects RENAME COLUMN beside TO reference_model;
ALTER TABLE crossed_effects RENAME COLUMN estimate_beside TO reference_estimate;
ALTER TABLE crossed_effects RENAME COLUMN std_error_beside TO reference_std_error;
ALTER TABLE crossed_effects RENAME COLUMN p_beside TO reference_p;
