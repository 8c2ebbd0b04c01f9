-- factorial_answer_rows: one answer to one question a row, unordered and unlabelled: what tables count over.
-- grain: trial_id, question, about
-- reads: trials, studies
-- design: factorial
-- note:  a trial that asks several questions in one answer has a row for each. `about` is the number of the profile
--        that a question is about, 0 for the task as a whole. `value` is what was read: a point of the scale as the
--        study lists it, whichever way it was shown (`direction`), an option, yes or no, a number, of a choice among
--        profiles the number of the chosen one; NULL if nothing was, and `outcome` says why. `names` and `levels`
--        are the attributes that were shown, profile by profile, `shares` those of the levels under the design.
--        `respondent` is model and persona, of people the one who answered. `factors` is read as text: R's duckdb comes without the json extension.
CREATE OR REPLACE VIEW factorial_answer_rows AS
WITH shown AS (
    SELECT source, study, study_version, variant, run_id, trial_id, coalesce(game, trial_id) AS task, model, participant,
           condition, wording, item, repetition, position, answer, outcome AS trial_outcome, detail, tokens, token_source,
           latency_s, response_time_ms, cost_usd, served_model, served_model_differs,
           string_split(split_part(split_part(factors, '"names":["', 2), '"],"levels":["', 1), '","') AS names,
           string_split(split_part(split_part(factors, '"levels":["', 2), '"],"shares":[', 1), '","') AS levels,
           string_split(split_part(split_part(factors, '"],"shares":[', 2), '],"order":[', 1), ',') AS shares,
           nullif(replace(split_part(split_part(factors, '],"order":[', 2), '],"template":"', 1), '"', ''), '')
               AS attribute_order,
           split_part(split_part(factors, '],"template":"', 2), '","persona":"', 1) AS template,
           nullif(split_part(split_part(factors, '","persona":"', 2), '","n_profiles":', 1), '') AS persona,
           try_cast(split_part(split_part(factors, '","n_profiles":', 2), ',"questions":["', 1) AS INTEGER)
               AS n_profiles,
           string_split(split_part(split_part(factors, ',"questions":["', 2), '"],"kinds":["', 1), '","') AS questions,
           string_split(split_part(split_part(factors, '"],"kinds":["', 2), '"],"lows":[', 1), '","') AS kinds,
           string_split(split_part(split_part(factors, '"],"lows":[', 2), '],"highs":[', 1), ',') AS lows,
           string_split(split_part(split_part(factors, '],"highs":[', 2), '],"directions":["', 1), ',') AS highs,
           string_split(split_part(split_part(factors, '],"directions":["', 2), '"],"abouts":[', 1), '","')
               AS directions,
           string_split(split_part(split_part(factors, '"],"abouts":[', 2), ']', 1), ',') AS abouts,
           contains(factors, '"values":["') AS is_read,
           string_split(split_part(split_part(factors, '"values":["', 2), '"],"outcomes":["', 1), '","') AS "values",
           string_split(split_part(split_part(factors, '"],"outcomes":["', 2), '"]', 1), '","') AS outcomes
    FROM trials
    WHERE NOT is_left_out AND study IN (SELECT study FROM studies WHERE design = 'factorial')
), numbered AS (
    SELECT *, unnest(range(1, len(questions) + 1)) AS place
    FROM shown
), read AS (
    SELECT * EXCLUDE (place, questions, kinds, lows, highs, directions, abouts, "values", outcomes, trial_outcome, is_read),
           (place - greatest(try_cast(abouts[place] AS INTEGER) - 1, 0))::INTEGER AS question_place,
           CASE WHEN abouts[place] = '0' THEN questions[place]
                ELSE regexp_replace(questions[place], '_[0-9]+$', '') END AS question,
           kinds[place] AS kind, directions[place] AS direction, try_cast(abouts[place] AS INTEGER) AS about,
           try_cast(lows[place] AS INTEGER) AS low, try_cast(highs[place] AS INTEGER) AS high,
           CASE WHEN is_read THEN outcomes[place] ELSE trial_outcome END AS outcome,
           CASE WHEN is_read AND outcomes[place] = 'answered' THEN "values"[place] END AS read_value
    FROM numbered
)
SELECT * EXCLUDE (read_value, item, direction), item,
       CASE WHEN kind = 'scale' THEN direction END AS direction,
       CASE WHEN outcome <> 'rejected' THEN outcome = 'refused' END AS is_refusal,
       model || coalesce(' ' || participant, ' as ' || persona, '') AS respondent,
       -- of what JSON escapes: a backslash, a quote, a line break
       replace(replace(replace(replace(read_value, '\\', chr(1)), '\"', '"'), '\n', chr(10)), chr(1), '\') AS "value",
       CASE WHEN kind = 'scale' THEN try_cast(read_value AS INTEGER) END AS rating,
       CASE WHEN kind = 'number' THEN try_cast(read_value AS DOUBLE) END AS number
FROM read;
