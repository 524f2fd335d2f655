"""Tests of `attention`, one file for each of its parts."""
