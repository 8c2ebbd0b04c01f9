-- factorial_answer_rows: one answer to one question a row, unordered and unlabelled: what tables count over.
-- grain: trial_id, question, about
-- design: factorial
-- inner: yes
-- note:  a trial that asks several questions in one answer has a row for each. `about` is the number of the profile
--        that a question is about, 0 for the task as a whole. `value` is what was read: a point of the scale as the
--        study lists it, whichever way it was shown (`direction`), an option, yes or no, a number, of a choice among
--        profiles the number of the chosen one; NULL if nothing was, and `outcome` says why. `names` and `levels`
--        are the attributes that were shown, profile by profile, `shares` those of the levels under the design.
--        A measure of an answer ([measures]) is a question of its own, of the kind number.
--        `not_reached` are later questions of a chain that this answer ended: nobody was asked them.
--        `respondent` is model and persona, of people the one who answered.
CREATE OR REPLACE VIEW factorial_answer_rows AS
WITH shown AS (
    SELECT source, study, study_version, variant, run_id, trial_id, coalesce(game, trial_id) AS task, model, participant,
           condition, wording, item, repetition, position, answer, outcome AS trial_outcome, detail, tokens, token_source,
           latency_s, response_time_ms, cost_usd, served_model, served_model_differs,
           map_extract(factor_lists, 'names')[1] AS names, map_extract(factor_lists, 'levels')[1] AS levels,
           map_extract(factor_lists, 'shares')[1] AS shares,
           nullif(array_to_string(map_extract(factor_lists, 'order')[1], ','), '') AS attribute_order,
           map_extract(factor_lists, 'template')[1][1] AS template,
           nullif(map_extract(factor_lists, 'persona')[1][1], '') AS persona,
           try_cast(map_extract(factor_lists, 'n_profiles')[1][1] AS INTEGER) AS n_profiles,
           map_extract(factor_lists, 'questions')[1] AS questions, map_extract(factor_lists, 'kinds')[1] AS kinds,
           map_extract(factor_lists, 'lows')[1] AS lows, map_extract(factor_lists, 'highs')[1] AS highs,
           map_extract(factor_lists, 'directions')[1] AS directions, map_extract(factor_lists, 'abouts')[1] AS abouts,
           regexp_extract_all(map_extract(factor_lists, 'not_asked')[1][1], '"(\w+)":', 1) AS not_reached,
           coalesce(map_extract(factor_lists, 'measures')[1], []) AS measures,
           coalesce(map_extract(factor_lists, 'measured')[1], []) AS measured,
           map_extract(factor_lists, 'measured_outcomes')[1] AS measured_outcomes,
           map_extract(factor_lists, 'values')[1] AS "values", map_extract(factor_lists, 'outcomes')[1] AS outcomes
    FROM trial_rows
    WHERE NOT is_left_out AND study IN (SELECT study FROM studies WHERE design = 'factorial')
), with_measures AS (
    SELECT * REPLACE (
               questions || measures AS questions, abouts || list_transform(measures, lambda x: '0') AS abouts,
               kinds || list_transform(measures, lambda x: 'number') AS kinds, "values" || measured AS "values",
               -- an outcome that the provider says is that of all questions
               CASE WHEN len(measures) = 0 THEN outcomes
                    ELSE coalesce(outcomes, list_transform(questions, lambda x: trial_outcome)) || measured_outcomes
               END AS outcomes)
    FROM shown
), numbered AS (
    SELECT * EXCLUDE (measures, measured, measured_outcomes), unnest(range(1, len(questions) + 1)) AS place
    FROM with_measures
), read AS (
    SELECT * EXCLUDE (place, questions, kinds, lows, highs, directions, abouts, "values", outcomes, trial_outcome,
                      not_reached),
           CASE WHEN place = 1 THEN not_reached END AS not_reached,
           (place - greatest(try_cast(abouts[place] AS INTEGER) - 1, 0))::INTEGER AS question_place,
           CASE WHEN abouts[place] = '0' THEN questions[place]
                ELSE regexp_replace(questions[place], '_[0-9]+$', '') END AS question,
           kinds[place] AS kind, directions[place] AS direction, try_cast(abouts[place] AS INTEGER) AS about,
           try_cast(lows[place] AS INTEGER) AS low, try_cast(highs[place] AS INTEGER) AS high,
           CASE WHEN outcomes IS NULL THEN trial_outcome ELSE outcomes[place] END AS outcome,
           CASE WHEN outcomes[place] = 'answered' THEN "values"[place] END AS read_value
    FROM numbered
)
SELECT * EXCLUDE (read_value, item, direction), item,
       CASE WHEN kind = 'scale' THEN direction END AS direction,
       CASE WHEN outcome <> 'rejected' THEN outcome = 'refused' END AS is_refusal,
       model || coalesce(' ' || participant, ' as ' || persona, '') AS respondent,
       read_value AS "value",
       CASE WHEN kind = 'scale' THEN try_cast(read_value AS INTEGER) END AS rating,
       CASE WHEN kind = 'number' THEN try_cast(read_value AS DOUBLE) END AS number
FROM read;
