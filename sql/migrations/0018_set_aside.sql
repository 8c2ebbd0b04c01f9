-- Runs that somebody set aside (`collect set-aside`), each with the reason; `is_back` where that was taken back later. The
-- last line about a run (`of_run`) counts; `run_id` is the journal with the line.
CREATE TABLE set_aside (run_id TEXT, of_run TEXT, study TEXT, reason TEXT, is_back BOOLEAN, noted_at TIMESTAMP);
