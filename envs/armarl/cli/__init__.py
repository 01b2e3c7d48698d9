"""The command line `armarl`: `__main__` declares options, the other modules run the commands."""
