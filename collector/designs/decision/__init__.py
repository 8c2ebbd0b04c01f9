"""Two people described: who gets which of two things, in one answer or in turns of a conversation."""
