"""The studies that come with slant, those of a person, and those whose text a database keeps."""
