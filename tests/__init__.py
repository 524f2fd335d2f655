"""The tests mirror the packages; each reads as a statement about the software."""
