"""The command line of the product."""
