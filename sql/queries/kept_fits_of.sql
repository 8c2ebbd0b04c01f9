-- What the kept results of the fit $fit of the study $study are about, each once.
SELECT DISTINCT about
FROM calls
JOIN fit_cells USING (call_id)
WHERE study = $study AND fit = $fit
ORDER BY ALL
