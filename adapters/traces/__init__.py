"""Traces by OpenTelemetry (extra `otel`): debates, their steps, and the tries of each."""
