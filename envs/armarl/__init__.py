"""ArmaRL: the board games Armadora and Armada as reinforcement-learning environments.

Importing it registers the environments with Gymnasium and PettingZoo. Everything else is imported
when it is first used, so that `import armarl` stays quick. `__init__.pyi` lists the public names.
"""

from importlib.metadata import version

import lazy_loader

from armarl.environments.registration import register_all

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = version("armarl")
__all__ += ["__version__"]

register_all()
