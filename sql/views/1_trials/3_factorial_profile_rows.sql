-- factorial_profile_rows: one profile that was shown, with what was answered about it, a row, unordered and unlabelled.
-- grain: trial_id, question, position
-- design: factorial
-- inner: yes
-- note:  `position` is the place of the profile in its task, from 1. `chosen` is 1 for the one that was chosen and 0 for
--        the others, of a yes/no question 1 for yes; NULL in all rows of a task without an answer. A rating of the task
--        as a whole is in all of its rows. `names` and `levels` are those of the profile; `item`, `scale` and `scored`
--        (a rating with the key of its item) belong to questionnaires.
CREATE OR REPLACE VIEW factorial_profile_rows AS
WITH placed AS (
    SELECT *, unnest(range(1, n_profiles + 1)) AS place
    FROM factorial_answer_rows
), profiles AS (
    SELECT * EXCLUDE (place, position, levels, shares), place::INTEGER AS position, position AS plan_position,
           levels[(place - 1) * len(names) + 1 : place * len(names)] AS levels,
           shares[(place - 1) * len(names) + 1 : place * len(names)] AS shares,
           -- what is so of the persona comes last, and has no share: it is not drawn
           list_count(shares[1 : len(names)]) AS n_drawn
    FROM placed
    WHERE about IN (0, place)
), keyed AS (
    SELECT *, coalesce(levels[list_position(names, 'item')], item) AS item_name,
           levels[list_position(names, 'scale')] AS scale, levels[list_position(names, 'key')] AS item_key
    FROM profiles
)
SELECT * EXCLUDE (item_name, item_key) REPLACE (item_name AS item),
       CASE WHEN outcome = 'answered' AND kind = 'profile' THEN ("value" = position::VARCHAR)::INTEGER
            WHEN outcome = 'answered' AND kind = 'yes_no' THEN ("value" = 'yes')::INTEGER END AS chosen,
       CASE WHEN item_key = '-1' THEN low + high - rating ELSE rating END AS scored
FROM keyed;
