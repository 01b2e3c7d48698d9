"""ArmaRL: the board games Armadora and Armada as reinforcement-learning environments.

`import armarl` registers the environments with Gymnasium and PettingZoo. Every other module is
imported when it is first used, so that `import armarl` is fast. `__init__.pyi` lists the public
names.
"""

import sys
from importlib.metadata import version
from typing import Any

import lazy_loader

from armarl.environments.registration import register_all

_imported, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = version("armarl")
__all__ += ["__version__"]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use. For any other name, raise AttributeError.

    The error contains the name and the module, so that Python suggests a similar name.
    """
    if name not in __all__:
        module = sys.modules[__name__]
        raise AttributeError(f"module 'armarl' has no attribute {name!r}", name=name, obj=module)
    return _imported(name)


register_all()
