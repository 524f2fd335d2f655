"""The contract of the engine, file by file."""
