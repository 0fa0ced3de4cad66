"""The tests of Rostrum."""

import os
import sys

# What is compiled is kept, whatever the machine says: tests start hundreds of processes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
