"""Figures for Prometheus: counted in the process, written when they are asked for."""
