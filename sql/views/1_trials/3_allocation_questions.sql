-- allocation_questions: one question after a game a row, unordered: which group was named, and its place among the groups.
-- grain: trial_id
-- design: allocation
-- note:  `rank` is 1 if the group named is the one that succeeds most often in jobs of this class, NULL if no
--        group was named or all are equal. `ranks` is JSON: the groups from best to worst.
CREATE OR REPLACE VIEW allocation_questions AS
SELECT source, study, study_version, variant, run_id, trial_id, model, game, repetition,
       condition AS class, item AS job, expected, outcome,
       CASE WHEN outcome = 'answered' THEN choice END AS named,
       '["' || replace(replace(replace(array_to_string(map_extract(factor_lists, 'ranks')[1], chr(31)), '\', '\\'), '"', '\"'), chr(31), '","')
               || '"]' AS ranks,
       nullif(list_position(map_extract(factor_lists, 'ranks')[1], named), 0) AS rank,
       answer, reasoning_text, reasoning_kind
FROM trial_rows
WHERE test = 'questions' AND game IS NOT NULL AND NOT is_left_out;
