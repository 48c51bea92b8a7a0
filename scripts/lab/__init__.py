"""The parts of the guest: built once, locked, cached per user."""
