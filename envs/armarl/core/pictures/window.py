"""One window on the screen that shows frames, with pygame."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray


def show(frame: NDArray[np.uint8], title: str, fps: int) -> None:
    """Show a frame, then wait so that at most `fps` frames per second are shown.

    The window does not use OpenGL, unless the user sets SDL_FRAMEBUFFER_ACCELERATION. Without a
    GPU, OpenGL takes several times as long per frame. OpenGL then also loads a second copy of LLVM,
    which crashes the process as soon as PyTorch imports Triton.

    Without a screen, SDL either fails or opens a window that nobody sees.

    Args:
        frame: uint8 (height, width, 3).
        title: the title of the window.
        fps: the maximum number of frames per second.

    Raises:
        ImportError: pygame is not installed.
        RuntimeError: there is no screen, and SDL fails.

    Warns:
        UserWarning: there is no screen, and SDL opens a window that nobody sees.
    """
    pygame = _pygame()
    os.environ.setdefault("SDL_FRAMEBUFFER_ACCELERATION", "0")
    try:
        pygame.display.init()
        size = frame.shape[1], frame.shape[0]
        surface = pygame.display.get_surface()
        if surface is None or surface.get_size() != size:
            surface = pygame.display.set_mode(size)
            if pygame.display.get_driver() == "offscreen" and "SDL_VIDEODRIVER" not in os.environ:
                warnings.warn(_NO_SCREEN, stacklevel=2)
    except pygame.error as error:
        raise RuntimeError(f"{_NO_SCREEN} ({error})") from error
    pygame.display.set_caption(title)
    pygame.surfarray.blit_array(surface, frame.swapaxes(0, 1))
    pygame.event.pump()
    pygame.display.flip()
    _clock(pygame).tick(fps)


def close() -> None:
    """Close the window, if one is open."""
    if _clocks:
        _pygame().display.quit()
        _clocks.clear()


_NO_SCREEN = (
    "render_mode='human' opens a window, but there is no screen: use render_mode='rgb_array' or "
    "'ansi'"
)
_clocks: list[Any] = []  # the clock of the open window, if any


def _clock(pygame: Any) -> Any:
    if not _clocks:
        _clocks.append(pygame.time.Clock())
    return _clocks[0]


def _pygame() -> Any:
    try:
        import pygame
    except ImportError as error:
        raise ImportError(
            "render_mode='human' opens a window with pygame: pip install 'armarl[render]'"
        ) from error
    return pygame
