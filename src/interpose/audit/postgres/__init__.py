"""The record of a fleet in PostgreSQL: what nodes have forwarded, each record once."""
