"""A run that ends on precision: its rule, who measures the width, and the looks that were made."""
