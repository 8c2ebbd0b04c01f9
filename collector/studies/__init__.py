"""Read the studies that come with slant, a person's own, and those whose text a database keeps."""
