"""The command line `armarl`. `__main__` declares the options; other modules run the commands."""
