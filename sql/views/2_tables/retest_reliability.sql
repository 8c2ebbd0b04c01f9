-- retest_reliability: is it the same tomorrow? Agreement, intraclass correlation and shift of each later occasion.
-- grain: source, study, study_version, variant, model, test, measure, occasion
-- order: source, study, study_version, variant, models.model_no, model, occasion, measure, tests.test_no NULLS LAST,
--        test
-- note:  made by `analyze retest`, of `collect --again`. test NULL: all tests together. `share_equal` and Cohen's `kappa` are
--        of answers; `icc` (Shrout & Fleiss 1,1: of trials of all tests and conditions, whose means differ), `icc_residual`
--        (of what trials of one test and condition differ by), `icc_agreement` (2,1, in which a shift counts as
--        disagreement) and `shift` (later minus first, paired t) of the measure. Intervals are of 95 %. NULL if too few answers, or answers that are
--        all alike, tell nothing, as `messages` says.
CREATE OR REPLACE VIEW retest_reliability AS
SELECT r.* EXCLUDE (call_id), c.ended_at AS made_at
FROM retests r
JOIN calls c USING (call_id);
