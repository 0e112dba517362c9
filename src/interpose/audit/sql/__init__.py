"""The queries that read a store, for every database that has its tables."""
