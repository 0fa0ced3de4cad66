"""Benchmarks: each prints one JSON object, with the machine it ran on."""
