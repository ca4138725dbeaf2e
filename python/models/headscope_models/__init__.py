"""Models that headscope.open() finds by name, in the folder "models" of this package."""
