"""Games: how stratified they became, with intervals and beside chance, and how much two conditions differ."""
