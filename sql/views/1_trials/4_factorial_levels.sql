-- factorial_levels: one attribute of one profile, with what was answered about the profile, a row, unordered.
-- grain: trial_id, question, position, attribute
-- reads: factorial_profile_rows
-- design: factorial
-- note:  the long form of factorial_profiles: attributes are the factors of the study, what its files say of their levels
--        (a name's gender), and what is so of the persona; and the template, with the persona where there is one.
CREATE OR REPLACE VIEW factorial_levels AS
WITH listed AS (
    SELECT * EXCLUDE (names, levels, shares),
           list_concat(names, CASE WHEN persona IS NULL THEN ['template'] ELSE ['template', 'persona'] END) AS names,
           list_concat(levels, CASE WHEN persona IS NULL THEN [template] ELSE [template, persona] END) AS levels,
           shares
    FROM factorial_profile_rows
)
SELECT * EXCLUDE (names, levels, shares),
       unnest(names) AS attribute, unnest(levels) AS level,
       try_cast(unnest(list_concat(shares, [NULL, NULL])[1 : len(names)]) AS DOUBLE) AS share
FROM listed;
