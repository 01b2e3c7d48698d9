"""Armada in words: descriptions, text drawings, and explanations of illegal actions."""
