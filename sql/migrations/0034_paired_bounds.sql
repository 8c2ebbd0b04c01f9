-- Equivalence of a version with the baseline, against a bound that the study names (NULL without one).
ALTER TABLE paired_versions ADD COLUMN bound DOUBLE;
ALTER TABLE paired_versions ADD COLUMN p_equivalence DOUBLE;
ALTER TABLE paired_versions ADD COLUMN finding TEXT;
