-- Of occasions: the intraclass correlation of what trials of one test and condition differ by, with its interval.
ALTER TABLE retests ADD COLUMN icc_residual DOUBLE;
ALTER TABLE retests ADD COLUMN icc_residual_low DOUBLE;
ALTER TABLE retests ADD COLUMN icc_residual_high DOUBLE;
