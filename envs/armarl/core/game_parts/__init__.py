"""Three base classes of `Game`: for compiled loops, random play and states in readable form."""
