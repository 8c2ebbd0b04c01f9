-- The texts of the study $study on which people differ.
SELECT DISTINCT item FROM coded_texts WHERE study = $study AND is_disputed
