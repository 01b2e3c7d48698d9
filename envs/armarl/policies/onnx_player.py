"""Players from ONNX files with networks of any kind: `onnx:mine.onnx`. Needs `onnxruntime`.

A file contains a graph of arithmetic operations and its weights, so loading it runs no code. The
whole file is read once. It is refused if its weights are in another file. It is also refused if it
draws random numbers, because games must be reproducible from their seeds.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.files import read_bytes
from armarl.common.messages import brief
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.policies.onnx_graph import random_node, reads_other_files

MOST_BYTES = 256 << 20  # maximum size of a file
_NEWER = re.compile(r"IR version: (\d+), max supported IR version: (\d+)")


class OnnxPlayer:
    """A player that plays the legal action with the highest logit, or samples from the logits.

    The network has one input, observations, float32, shape (batch, size), for any batch size. Its
    first output is the logits of all actions, shape (batch, actions).
    """

    def __init__(self, game: Game, path: str, sample: bool = False) -> None:
        """Load a network from a file as a player of `game`.

        Args:
            game: the game to play.
            path: the ONNX file.
            sample: True to sample from the policy's distribution, False to take the likeliest
                action.

        Raises:
            FileNotFoundError: the file does not exist.
            ValueError: the file is damaged or too large, its weights are in another file, its
                network draws random numbers, or it does not fit the game.
            ImportError: ONNX Runtime is not installed.
        """
        self.name, self.game, self.sample = f"onnx:{Path(path).stem}", game, sample
        try:
            self._path, self._content = path, read_bytes(Path(path), MOST_BYTES)
        except ValueError as error:
            raise ValueError(f"{path} cannot be read: {error}") from error
        self._session = self._open()

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Choose an action for each state, see `armarl.Player`.

        Raises:
            ValueError: the network fails, or its output is not finite logits of all actions.
        """
        observations, masks = self.game.views(states, seats)
        found = self._run(observations)
        if np.shape(found) != masks.shape:
            raise ValueError(
                f"{self._path} returned logits of shape {np.shape(found)}, not {masks.shape}"
            )
        logits = np.where(masks != 0, np.asarray(found, np.float64), -np.inf)
        best = logits.max(axis=1, keepdims=True, initial=-np.inf)
        if not np.isfinite(best).all():  # also refuses NaN
            raise ValueError(f"{self._path} returned NaN or infinite logits for legal actions")
        if not self.sample:
            return np.asarray(logits.argmax(axis=1), np.int64)
        reached = np.exp(logits - best).cumsum(axis=1)
        chosen = (reached > draws[:, None] * reached[:, -1:]).argmax(axis=1)
        return np.asarray(chosen, np.int64)

    def weights_digest(self) -> str:
        """Return the SHA-256 of the file as it was read."""
        return hashlib.sha256(self._content).hexdigest()

    def _run(self, observations: NDArray[np.float32]) -> Any:
        """Return the network's first output."""
        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        try:
            return self._session.run([outputs[0].name], {inputs[0].name: observations})[0]
        except Exception as error:  # ONNX Runtime's errors share no base class
            raise ValueError(
                f"{self._path} has a network that fails on observations of this game: "
                f"{brief(error)}"
            ) from error

    def _open(self) -> Any:
        try:
            import onnxruntime
        except ImportError as error:
            raise ImportError(
                "ONNX players need onnxruntime: pip install 'armarl[onnx]'"
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # sums must not depend on the number of cores
        options.log_severity_level = 4
        # ONNX Runtime knows other formats, but `_check_parts` checks only this one.
        options.add_session_config_entry("session.load_model_format", "ONNX")
        self._check_parts()
        try:
            session = onnxruntime.InferenceSession(
                self._content, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # ONNX Runtime's errors share no base class
            if newer := _NEWER.search(str(error)):
                made, most = newer.groups()
                raise ValueError(
                    f"{self._path} has ONNX's IR version {made}, and onnxruntime "
                    f"{onnxruntime.__version__} reads versions up to {most}: install a newer "
                    f"onnxruntime, or save the model with ir_version={most} "
                    f"(onnx.helper.make_model(..., ir_version={most}), or set model.ir_version)"
                ) from error
            raise ValueError(f"{self._path} is not an ONNX file: {brief(error)}") from error
        inputs, outputs = session.get_inputs(), session.get_outputs()
        size, actions = self.game.observation.size, len(self.game.actions)
        fits = (
            len(inputs) == 1
            and len(outputs) > 0
            and inputs[0].type == "tensor(float)"
            and _is_batch_of(size, inputs[0].shape)
            and _is_batch_of(actions, outputs[0].shape)
        )
        if not fits:
            found = ", ".join(f"{one.name} {one.type} {one.shape}" for one in (*inputs, *outputs))
            raise ValueError(
                f"{self._path} does not fit this game. Its network must take one input of float32 "
                f"(batch, {size}), for any batch size, and return logits (batch, {actions}), but "
                f"it has {found}"
            )
        return session

    def _check_parts(self) -> None:
        """Raise ValueError if the file is damaged, has external weights or draws random numbers."""
        try:
            whole, random = not reads_other_files(self._content), random_node(self._content)
        except ValueError as error:
            raise ValueError(f"{self._path} is not an ONNX file: {error}") from error
        if not whole:
            raise ValueError(
                f"{self._path} has weights in another file: save all of them in one file "
                "(torch.onnx.export(..., external_data=False))"
            )
        if random is not None:
            raise ValueError(
                f"{self._path} draws random numbers ({random}), so games would not be reproducible "
                "from their seeds: export the network for evaluation (model.eval()), and use "
                "`,sample` to sample from its logits"
            )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_session"}

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)
        self._session = self._open()


def _is_batch_of(size: int, shape: list[Any]) -> bool:
    """Return whether a shape is (any, size). In ONNX, a name or None means any number."""
    return len(shape) == 2 and not isinstance(shape[0], int) and bool(shape[1] == size)
