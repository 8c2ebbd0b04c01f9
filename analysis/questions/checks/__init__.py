"""What a sceptical reader asks of a study, and what the rows answer."""
