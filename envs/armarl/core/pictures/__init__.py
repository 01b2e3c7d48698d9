"""Pictures: SVG made of parts, letters that need no font, pixels, and a window."""
