"""The work of operators beside a running Rostrum."""
