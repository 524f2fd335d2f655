"""What the `minigrad` command does, for each of its commands."""
