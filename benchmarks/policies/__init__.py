"""What all policies together cost on one call, and how they judge the cases of others and ordinary command lines."""
