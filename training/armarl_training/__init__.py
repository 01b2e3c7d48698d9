"""Training for ArmaRL, from a configuration to a saved and measured policy.

There are four learners. TD trains judges of positions, and `critic` trains critics of scripted
play. PPO and sb3-contrib's MaskablePPO train policies. `__init__.pyi` lists the public names. Each
name is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
