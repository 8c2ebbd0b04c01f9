-- tests: the tests of each study, as its runs list them.
-- grain: study, study_version, test
-- order: study, study_version, test_no, test
-- note:  if runs disagree the latest one wins. `planned` counts the trials of that test in one model. `groups` are
--        its categories of words, in the study's order (JSON), NULL if it has none.
CREATE OR REPLACE VIEW tests AS
SELECT r.study, r.study_version, t.test, coalesce(t.test_no, t.place) AS test_no,
       coalesce(t.label, t.test) AS label, t.groups, t.planned
FROM run_tests t
JOIN run_versions r ON r.run_id = t.run_id
WHERE t.test IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY r.study, r.study_version, t.test ORDER BY r.is_own DESC, r.started_at DESC, r.run_id DESC, t.place
) = 1;
