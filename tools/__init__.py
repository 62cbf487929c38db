"""Tools that make data for the benchmark; they are no part of the installed packages."""
