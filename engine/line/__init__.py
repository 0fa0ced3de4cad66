"""The main line: from an order to a debate that is thought to its end. Start at service.py."""
