-- trial_rows: the same trials as in `trials`, with what views of designs read: their factors as lists of texts.
-- grain: trial_id
-- inner: yes
-- note:  map_extract(factor_lists, 'words')[1] is a list, map_extract(factor_lists, 'tier')[1][1] a single value; NULL for
--        a name that the trial lacks. What is itself structured, a list in a list, is JSON. `factors` has the same as one
--        text, for people and files: R's duckdb comes without the json extension, and reading a text costs more.
CREATE OR REPLACE VIEW trial_rows AS
SELECT * EXCLUDE (occasion, first_trial_id)
FROM all_trials
WHERE occasion = 1 OR getvariable('later_occasions') IS NOT NULL;
