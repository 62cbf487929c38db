"""What a session touched: files, checks, failed commands and commits, read from its tool calls alone."""
