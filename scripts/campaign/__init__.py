"""Campaign files: units, validation, expansion, identity, order, plan."""
