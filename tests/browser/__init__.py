"""Tests of the pages in a real Chromium: run by `make test-browser`."""
