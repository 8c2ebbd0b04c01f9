-- What an answer was held back or refused for, in the provider's own word; and when its response was read once more by a
-- later slant (`collect reread`), or a rejected trial was opened for another try (`collect --ask-rejected`).
ALTER TABLE attempts ADD COLUMN filter_category TEXT;
ALTER TABLE attempts ADD COLUMN read_again_at TIMESTAMP;
