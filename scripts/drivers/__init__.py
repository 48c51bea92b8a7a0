"""One file per driver; the file name is the driver name."""
