"""Measures models at compressing command output; touches a model only through `ctxsift`."""
