"""The audit store in an SQLite file. Other packages use ``interpose.audit``, which knows no SQL."""
