"""Ask the design forced_choice: one of two options is chosen, item by item."""
