"""The skeleton of every command: options, one-line errors, exit codes, consoles."""
