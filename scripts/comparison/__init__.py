"""Comparison: statistics, table layouts, plots, report."""
