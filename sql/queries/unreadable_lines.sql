-- By journal, how many lines could not be read.
SELECT journal, count(*) FROM journal_problems GROUP BY journal ORDER BY journal
