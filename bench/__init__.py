"""Benchmarks, for a checkout: `python -m bench.NAME`. Those of `rostrum bench` are in `wheel`."""
