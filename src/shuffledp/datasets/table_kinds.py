"""Which files are tables of people, and how large one may be; loads no table reader."""

SEPARATED = (".csv", ".tsv", ".txt")
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
TABLES = SEPARATED + JSON_LINES + PARQUET

# More categories than this are no table that anybody reads.
MAX_TABLE_CATEGORIES = 100_000
