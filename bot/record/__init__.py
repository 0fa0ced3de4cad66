"""What is stored: exports, pages, lists, costs."""
