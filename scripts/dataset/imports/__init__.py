"""Results that this pipeline did not measure: finding them, reading them safely, and what their names mean."""
