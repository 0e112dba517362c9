"""How many planted secrets redaction finds, and what it takes from ordinary lines; see the README one level up."""
