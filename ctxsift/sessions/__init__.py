"""A coding agent's session: read from the files agents write, and known by what it touched."""
