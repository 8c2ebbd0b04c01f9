"""Take rows of games that no design plays here, for fits."""
