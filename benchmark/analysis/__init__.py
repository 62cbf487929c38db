"""Results -> figures: comparison, ranking, leaderboard. Data only; `render` writes it."""
