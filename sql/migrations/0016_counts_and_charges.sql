-- What a response says beside its text and its counts: what its reasoning text is, what it wrote into a cache, what it
-- was charged for, under which settings it was made.

-- `reasoning_kind`: raw (the reasoning itself), summary, encrypted, none; NULL if that is not known (imports, failures).
ALTER TABLE attempts ADD COLUMN reasoning_kind TEXT;
ALTER TABLE attempts ADD COLUMN cache_write_tokens BIGINT;
ALTER TABLE attempts ADD COLUMN cache_write_1h_tokens BIGINT;

-- Which of the provider's own counts contradict each other, and how; NULL where they agree.
ALTER TABLE attempts ADD COLUMN count_conflict TEXT;

-- Where `cost_usd` is from: provider (what it says that it charged) or list (the price list).
ALTER TABLE attempts ADD COLUMN price_source TEXT;

-- Settings that the response itself reports; NULL where it reports none.
ALTER TABLE attempts ADD COLUMN effective_effort TEXT;
ALTER TABLE attempts ADD COLUMN effective_temperature DOUBLE;
ALTER TABLE attempts ADD COLUMN service_tier TEXT;
