"""What moves the score of a model: the same cases, asked in another way."""
