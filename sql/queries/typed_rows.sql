-- The attempts of new_rows with their factors as lists of texts by name: what views read them by. NULL if they are no JSON.
SELECT *, CASE WHEN json_valid(factors) THEN CASE WHEN json_type(factors) = 'OBJECT' THEN
           map_from_entries(list_transform(
               map_entries(from_json(factors, '"MAP(VARCHAR, JSON)"')),
               lambda factor: {'key': factor.key, 'value': CASE WHEN json_type(factor.value) = 'ARRAY'
                   THEN from_json(factor.value, '["VARCHAR"]') ELSE [factor.value ->> '$'] END}
           )) END END AS factor_lists
FROM new_rows
