"""One file per source; each registers itself in `dataflex_data.builders.source.SOURCES`."""
