"""The public names of the training package, each with its module.

`armarl_training/__init__.py` reads this file at run time and imports a name when it is first used.
`armarl_training.sb3`, `armarl_training.rllib` and `armarl_training.examples` are imported by name.
"""

# --- Training
from .common.run_folder import RunError as RunError
from .config.training_config import ConfigError as ConfigError
from .config.training_config import TrainingConfig as TrainingConfig
from .config.training_config import load_config as load_config
from .run.run import Report as Report
from .run.run import Run as Run
from .run.run import resume_run as resume_run
from .run.run import start_run as start_run
from .vec_env import SeatVecEnv as SeatVecEnv
from .vec_env import make_vec_env as make_vec_env
