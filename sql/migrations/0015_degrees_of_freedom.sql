-- How the degrees of freedom of an effect over words and wordings were found ('Kenward-Roger', or 'capped': those of the
-- fewest words or wordings, less 1), and what it is claimed over ('wording, item'; nothing of which there are fewer
-- than three).
ALTER TABLE crossed_effects ADD COLUMN df_method TEXT;
ALTER TABLE crossed_effects ADD COLUMN generalises_to TEXT;
