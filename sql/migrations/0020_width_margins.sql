-- How much wider than the model's own an interval is taken to be where a run may stop because it is narrow (R's
-- width_margin()): `half_width` of a look has this margin in it.
ALTER TABLE crossed_effects ADD COLUMN width_margin DOUBLE;
ALTER TABLE precision_looks ADD COLUMN width_margin DOUBLE;
