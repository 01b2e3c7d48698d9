"""The arena: tournaments, their records, ratings and reports."""
