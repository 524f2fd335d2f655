"""Tests of `viz`, one file for each of its parts."""
