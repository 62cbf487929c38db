"""Writes recorded sessions as other agents keep them, so that the artifact index is measured on their tools."""
