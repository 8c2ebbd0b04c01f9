-- codings: whether a coder gives a text a code: a row for each text, coder and code of the codebook.
-- grain: sorted by source, study, study_version, variant, item, coder, repetition, code
-- design: coding
-- note:  of a coder who has coded a text several times (a sheet imported again) the last coding counts. `given` is 1 or 0;
--        of a scale, whose code is called "scale", the point. NULL if the coder gave no code that can be read.
CREATE OR REPLACE VIEW codings AS
WITH latest AS (
    SELECT c.*
    FROM coding_answer_rows c
    LEFT JOIN runs r USING (run_id)
    QUALIFY row_number() OVER (
        PARTITION BY c.source, c.study, c.study_version, c.variant, c.coded_trial_id, c.coder, c.repetition
        ORDER BY r.started_at DESC, c.run_id DESC, c.trial_id DESC -- ids name the second only
    ) = 1
), coded AS (
    SELECT * EXCLUDE (code_order), unnest(CASE WHEN kind = 'scale' THEN ['scale'] ELSE code_order END) AS code
    FROM latest
)
SELECT source, study, study_version, variant, coded_trial_id AS item, test, condition, coder, is_person, repetition, code,
       CASE WHEN codes IS NULL THEN NULL
            WHEN kind = 'scale' THEN try_cast(codes[1] AS DOUBLE)
            ELSE list_contains(codes, code)::INTEGER::DOUBLE END AS given,
       second_coding AS coding, kind, outcome, attributes
FROM coded;
