-- What printed numbers of games should be, by other printed numbers (printed, scopes) and by facts: constants of the
-- design, indices of the printed matrices, levels of chance. What nothing decides (unchecked) has a row without a number.
WITH best AS ( -- a cell as printed: where several places have it, with the most digits
    SELECT model, test, condition, quantity, arg_max(value, len(printed)) AS value
    FROM printed
    WHERE value IS NOT NULL
    GROUP BY ALL
), people AS (
    SELECT first(value ORDER BY number_no) AS si
    FROM printed
    WHERE place = 'text' AND model = 'humans' AND quantity = 'si'
), of_scopes AS ( -- the cells that a name for several models means, where all of them are printed
    SELECT p.number_no, favg(b.value) AS mean, count(*) FILTER (b.value > (SELECT si FROM people)) AS n_above_people
    FROM printed p
    JOIN scopes s ON s.scope = p.model
    LEFT JOIN best b ON b.model = s.model AND b.test = p.test AND b.condition = coalesce(s.condition, p.condition)
        AND b.quantity = CASE p.quantity WHEN 'n_cells_above_people' THEN 'si' ELSE replace(p.quantity, 'percent_', 'share_') END
    GROUP BY p.number_no
    HAVING count(b.value) = count(*)
), chance AS (
    SELECT max(value) FILTER (quantity = 'si') AS si, max(value) FILTER (quantity = 'bgd') AS bgd,
           max(value) FILTER (quantity = 'bgd_divergence_bits') AS bgd_divergence_bits
    FROM facts
    WHERE kind = 'chance'
), numbers AS (
    SELECT p.number_no, f.value AS recomputed
    FROM printed p
    JOIN facts f ON f.quantity = p.quantity AND CASE f.kind
        WHEN 'design' THEN p.place = 'design' AND f.test = p.test
        WHEN 'matrices' THEN f.model IS NULL OR p.place IN ('matrices', 'text') AND f.model = p.model
             AND f.test = p.test AND f.condition = p.condition
        WHEN 'chance' THEN p.model = 'random' AND p.place = 'text' END
    UNION ALL -- the people of the three settings add up to those used
    SELECT p.number_no, (SELECT sum(n.value) FROM printed n WHERE n.place = 'people'
                         AND n.quantity IN ('n_classic', 'n_success_0_1', 'n_diversity_steer'))
    FROM printed p
    WHERE p.place = 'people' AND p.quantity = 'n_used'
    UNION ALL
    SELECT p.number_no, coalesce(sum(b.value ORDER BY list_position(['best', 'second', 'third', 'fourth'], b.quantity[7:])), 0)
    FROM printed p
    LEFT JOIN best b ON b.model = p.model AND b.test = p.test AND b.condition IS NOT DISTINCT FROM p.condition
        AND b.quantity IN ('share_best', 'share_second', 'share_third', 'share_fourth')
    WHERE p.quantity = 'sum_of_shares'
    GROUP BY p.number_no
    UNION ALL
    SELECT p.number_no, CASE WHEN p.quantity = 'n_cells_above_people' THEN s.n_above_people
                             WHEN p.quantity IN ('si', 'gasi') THEN s.mean ELSE 100 * s.mean END
    FROM printed p
    JOIN of_scopes s USING (number_no)
    WHERE p.quantity = 'n_cells_above_people' OR p.place = 'text'
      AND p.quantity IN ('si', 'gasi', 'percent_best', 'percent_second', 'percent_third', 'percent_fourth')
    UNION ALL -- SI of four classes is at most 2, a Jensen-Shannon distance in natural logarithms at most sqrt(ln 2)
    SELECT p.number_no, (SELECT count(*) FROM printed n WHERE NOT starts_with(n.place, 'v') AND n.value NOT BETWEEN 0 AND
                         CASE split_part(n.quantity, '_', 1) WHEN 'si' THEN 2.0
                              WHEN 'bgd' THEN sqrt(ln(2)) WHEN 'gasi' THEN sqrt(ln(2)) END)
    FROM printed p
    WHERE p.quantity = 'n_out_of_bounds'
    UNION ALL -- whether a ratio can be: the lower model would be under what is printed of random choices
    SELECT p.number_no, first(h.value ORDER BY h.number_no) / any_value(replace(r.printed, '> ', '')::DOUBLE)
    FROM printed p
    JOIN scopes s ON s.scope = p.model AND s.scope_no = 1
    JOIN printed r ON r.quantity = 'si_ratio' AND r.model = p.model
    JOIN printed h ON h.place = 'text' AND h.quantity = 'si' AND h.model = s.model AND h.test = p.test
        AND h.condition = p.condition
    WHERE p.quantity = 'si_of_second'
    GROUP BY p.number_no
    UNION ALL -- cells below random choices, in the table of another version
    SELECT p.number_no, (c.value < r.value)::INTEGER
    FROM printed p
    JOIN printed c ON starts_with(c.place, 'v') AND c.quantity = 'si' AND c.model = p.model AND c.test = p.test
        AND c.condition = p.condition
    JOIN printed r ON starts_with(r.place, 'v') AND r.quantity = 'si' AND r.model = 'random' AND r.test = p.test
        AND r.condition IS NULL
    WHERE p.quantity = 'is_below_random'
    UNION ALL -- two indices that are printed with three digits are the same where they differ by less
    SELECT p.number_no, (max(abs(s.value - m.value)) < 0.0005)::INTEGER
    FROM printed p
    JOIN facts s ON s.kind = 'matrices' AND s.quantity = 'si'
    JOIN facts m ON m.kind = 'matrices' AND m.quantity = 'mutual_information_bits' AND m.model = s.model
        AND m.test = s.test AND m.condition = s.condition
    WHERE p.quantity = 'si_is_mutual_information'
    GROUP BY p.number_no
    UNION ALL -- is a printed level of chance nearer to a divergence in base 2 than to a distance?
    SELECT p.number_no, (abs(r.value - c.bgd_divergence_bits) < abs(r.value - c.bgd))::INTEGER
    FROM printed p
    CROSS JOIN chance c
    JOIN printed r ON r.place = 'text' AND r.model = 'random' AND r.quantity = 'bgd'
    WHERE p.quantity = 'divergence'
    UNION ALL -- a table of pooled rounds, next to the level of chance of as many
    SELECT p.number_no, count(*) FILTER (c.value < f.value)
    FROM printed p
    JOIN facts f ON f.kind = 'pooled chance' AND f.test = p.test
    JOIN printed c ON c.place = p.place AND c.quantity = 'si'
    WHERE p.quantity = 'n_cells_below_random'
    GROUP BY p.number_no
)
SELECT p.place, p.model, p.test, p.refusals_removed, p.condition, p.quantity, n.recomputed::DOUBLE AS recomputed
FROM printed p
LEFT JOIN numbers n USING (number_no)
WHERE n.number_no IS NOT NULL OR p.is_unchecked
ORDER BY n.number_no IS NULL, p.number_no
