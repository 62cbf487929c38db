"""Adapters of compressors that have no command for one text, or that run the command themselves.

Each is a script of its own, run by the Python that has the compressor: `"stdin": "json"` in the matrix.
"""
