-- Kept calls that new ones (the table new_calls: call_id, function, about) take the place of, and these themselves.
SELECT c.call_id
FROM calls c
JOIN new_calls n ON n.function = c.function AND n.about = c.about
UNION
SELECT call_id FROM new_calls
