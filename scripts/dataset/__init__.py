"""Parquet: schemas, run directories and foreign results."""
