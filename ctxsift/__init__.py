"""ctxsift: one request for a few lines of noisy command output becomes one checked answer."""

__version__ = "0.1.0"
