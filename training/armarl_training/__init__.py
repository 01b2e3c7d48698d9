"""Training for ArmaRL, from a configuration to a saved and measured policy.

There are four learners. PPO and sb3-contrib's MaskablePPO train policy networks. TD trains judges:
value networks whose player tries every legal action and compares the resulting positions. `critic`
trains critics of scripted play: value networks that improve the choices of a scripted player.
`__init__.pyi` lists the public names. Each name is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
