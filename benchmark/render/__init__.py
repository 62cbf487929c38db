"""Numbers -> words: terminal, Markdown, CSV. Nothing is computed here."""
