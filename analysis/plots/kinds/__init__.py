"""The kinds of figures: what each is drawn from. A new one is a row in a table KINDS, and `plot_NAME()` in R."""
