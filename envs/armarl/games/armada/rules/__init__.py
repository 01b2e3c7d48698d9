"""Armada's rules as compiled functions: setup, turns, legal orders and answers, cards, scoring."""
