"""The viewer: stored results -> one self-contained page, and its pictures as files. It never computes a score."""
