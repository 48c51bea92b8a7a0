"""Where operations are executed: an agent beside the keeper, or one in a guest."""
