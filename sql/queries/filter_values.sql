-- What a filter of trials can be set to: the values of each column, as the runs list them.
SELECT 'source' AS name, list(DISTINCT source ORDER BY source) AS known FROM runs
UNION ALL
SELECT 'study', list(DISTINCT study ORDER BY study) FROM runs
UNION ALL
SELECT 'study_version', list(DISTINCT study_version ORDER BY study_version) FROM run_versions
UNION ALL
SELECT 'variant', list(DISTINCT variant ORDER BY variant) FROM runs
UNION ALL
SELECT 'model', list(DISTINCT model ORDER BY model) FROM run_models
UNION ALL
SELECT 'test', list(DISTINCT test ORDER BY test) FROM run_tests
UNION ALL
SELECT 'condition', list(DISTINCT condition ORDER BY condition) FROM run_conditions
