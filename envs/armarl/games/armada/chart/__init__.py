"""Armada's chart: reading a chart file, its checks, coast outlines, and the SVG picture."""
