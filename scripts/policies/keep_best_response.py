"""Copy the results of `armarl exploit` on a shipped policy into the documentation.

    armarl exploit armadora-2p
    python scripts/policies/keep_best_response.py runs/exploit-armadora-2p
    python scripts/docs/make_docs.py                 # writes the table; --check checks it

The script copies `exploit.json` from each folder to `docs/playing/best-responses/POLICY.json`. It
refuses results that are not finished, and results for a policy that is not shipped or for weights
that are no longer shipped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "docs"))

from armarl.common.files import write_text  # noqa: E402
from armarl_training.run.exploit import FOUND, read_found  # noqa: E402
from policy_tables import BEST_RESPONSES, is_current  # noqa: E402


def keep(folder: Path, kept: Path) -> Path:
    """Copy the results of a folder to the folder `kept`, and return the path of the copy.

    Raises:
        ValueError: the results are not finished, or not for the current file of a shipped policy.
    """
    found = read_found(folder / FOUND)
    if not is_current(found):
        raise ValueError(
            f"{folder} has no finished results for the current file of a shipped policy: finish "
            "the search with the same command, or measure the policy again in another folder"
        )
    path = kept / f"{found.recipe.player}.json"
    kept.mkdir(exist_ok=True)
    write_text(path, found.model_dump_json(indent=1) + "\n")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, help="folders of `armarl exploit`")
    for folder in parser.parse_args().folders:
        try:
            print(keep(folder, BEST_RESPONSES))
        except (ValueError, FileNotFoundError, RuntimeError) as error:
            parser.error(str(error))


if __name__ == "__main__":
    main()
