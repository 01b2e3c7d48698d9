"""Training for ArmaRL, from a configuration to a saved and measured policy.

The learners are judges of positions by TD, critics of scripted play, policies by PPO, and
sb3-contrib's MaskablePPO. `__init__.pyi` lists the public names; each is imported when it is first
used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
