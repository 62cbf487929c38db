"""Where models live: one seam, several engines."""
