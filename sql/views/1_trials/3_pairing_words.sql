-- pairing_words: one word of the list of one answer a row, unordered.
-- grain: trial_id, place
-- design: pairing, decision
-- note:  `place` counts from 1 in the order in which the words were shown; if that order is unknown (some imports)
--        it is the order of the plan, and `is_order_known` false. `given_to` is a or b; NULL for a word that was left
--        out or given to both groups. `pole`: p for attribute a (the positive one), n for b. Words of answers that
--        were refused, cut off or filtered are no rows.
CREATE OR REPLACE VIEW pairing_words AS
WITH listed AS (
    SELECT source, study, study_version, variant, run_id, trial_id, model, test, condition, wording, item, repetition,
           pair,
           first_group IS NOT NULL AND coalesce(map_extract(factor_lists, 'is_order_known')[1][1], 'true') = 'true' AS is_order_known, assigned, poles,
           map_extract(factor_lists, 'words')[1] AS words
    FROM pairing_answer_rows
    WHERE outcome = 'answered'
), numbered AS (
    SELECT * EXCLUDE (words), unnest(words) AS word, unnest(range(1, len(words) + 1)) AS place
    FROM listed
)
SELECT source, study, study_version, variant, run_id, trial_id, model, test, condition, wording, item, repetition,
       pair, is_order_known, place::INTEGER AS place,
       word,
       substr(poles, place, 1) AS pole,
       CASE WHEN substr(assigned, place, 1) IN ('a', 'b') THEN substr(assigned, place, 1) END AS given_to
FROM numbered;
