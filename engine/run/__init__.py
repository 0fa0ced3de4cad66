"""The main line: from an order to a finished debate. Start at service.py."""
