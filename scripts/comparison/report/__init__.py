"""report.html: one file that a reviewer opens from a mail attachment. No network, no framework."""
