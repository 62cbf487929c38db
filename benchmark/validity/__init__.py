"""Does the score tell right from wrong? Measured on answers whose truth is known."""
