"""Ask what a run needs, from its first request to the last answer, at the pace that each provider allows."""
