-- forced_choice_checked: one answer of a forced choice a row, as checks read it.
-- grain: trial_id
-- order: source, study, study_version, variant, model_no, model, test_no, test, condition_no, condition, position,
--        trial_id
-- design: forced_choice
-- inner: yes
-- note:  missing answers are among them. `first_letter` is the option that was shown first, `expected_is_first` whether
--        that is the consistent one.
CREATE OR REPLACE VIEW forced_choice_checked AS
SELECT * EXCLUDE (domain, domain_label, domain_no, block, block_label, block_no, category),
       'A' AS first_letter, consistent_letter = 'A' AS expected_is_first
FROM forced_choice_trials;
