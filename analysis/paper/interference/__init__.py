"""The numbers of Cohen & Kincaid (2026), in families."""
