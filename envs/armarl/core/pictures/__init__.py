"""Drawing: SVG pictures from parts, text as outlines, pixels, films for web pages, and a window."""
