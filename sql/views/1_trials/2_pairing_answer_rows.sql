-- pairing_answer_rows: one answer of a pairing a row, unordered and unlabelled: what tables count over.
-- grain: trial_id
-- design: pairing, decision
-- inner: yes
-- paper: Bai et al. (2025), equation 1
-- note:  of the first occasion: what `collect --again` asked later is in all_pairing_answers, where the columns are
--        explained, and in retest_answers.
CREATE OR REPLACE VIEW pairing_answer_rows AS
SELECT * EXCLUDE (occasion, first_trial_id)
FROM all_pairing_answers
WHERE occasion = 1 OR getvariable('later_occasions') IS NOT NULL;
