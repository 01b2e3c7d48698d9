"""Armadora in words: description, text drawing, and why an action is illegal."""
