"""Stress of models."""
