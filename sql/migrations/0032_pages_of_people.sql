-- Of answers that people gave on a page: how wide it was, and whether the options stood in a row or a column.
ALTER TABLE attempts ADD COLUMN page_width_px INTEGER;
ALTER TABLE attempts ADD COLUMN options_direction TEXT;
