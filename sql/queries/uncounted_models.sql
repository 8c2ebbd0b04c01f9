-- Models whose answers came without a token count: how many answers, and how many with readable reasoning.
SELECT study, provider, requested_model, sum(n_answers), sum(n_readable)
FROM uncounted_answers
GROUP BY ALL
ORDER BY ALL
