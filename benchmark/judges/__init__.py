"""What judging models are given to read, and what their replies say."""
