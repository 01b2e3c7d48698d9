"""Keep the results of `armarl exploit` on a shipped policy for the documentation's table.

    armarl exploit armadora-2p
    python scripts/policies/keep_best_response.py runs/exploit-armadora-2p
    python scripts/docs/make_docs.py                 # writes the table; --check checks it

The folders' `exploit.json` are copied to `docs/playing/best-responses/POLICY.json`. Results that
are not finished, or not of a shipped policy as it is now, are refused.
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
    """Copy the results of a folder to another one, and return their path.

    Raises:
        ValueError: they are not finished, or not of a shipped policy as it is now.
    """
    found = read_found(folder / FOUND)
    if not is_current(found):
        raise ValueError(
            f"{folder} holds no finished results on a shipped policy as it is now: finish it with "
            "the same command, or measure the policy again"
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
