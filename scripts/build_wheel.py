"""Build a wheel with compiled kernels for this platform, so that the first step need not compile.

    python scripts/build_wheel.py                       # into dist/, for x86-64-v3 processors
    python scripts/build_wheel.py --cpu x86-64-v4 --platform manylinux_2_28_x86_64

The kernels work on every processor of the given level, with the minor versions of Python and NumPy
and the versions of Numba and llvmlite that built them. With other versions the wheel works too, but
compiles its kernels on first use. Building takes a few minutes and needs the packages `build` and
`wheel`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def python(*arguments: str | Path, **variables: str) -> None:
    """Run Python with additional environment variables. Raise an error if it fails."""
    command = [sys.executable, *map(str, arguments)]
    subprocess.run(command, check=True, env={**os.environ, **variables})


def build(out: Path, cpu: str, platform: str) -> Path:
    """Build the wheel in a folder and return its path."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        python("-m", "build", "--wheel", "--outdir", folder / "plain", ROOT)
        python("-m", "wheel", "unpack", "--dest", folder, *folder.glob("plain/*.whl"))
        (contents,) = folder.glob("armarl-*")
        compile_into(contents, cpu)
        python("-m", "wheel", "pack", "--dest-dir", folder, contents)
        (packed,) = folder.glob("*.whl")
        tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
        tags = ("--python-tag", tag, "--abi-tag", tag, "--platform-tag", platform)
        python("-m", "wheel", "tags", "--remove", *tags, packed)
        (wheel,) = folder.glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return wheel.replace(out / wheel.name)


def compile_into(contents: Path, cpu: str) -> None:
    """Compile all kernels and store them in an unpacked wheel."""
    package = contents / "armarl"
    command = ("-P", "-B", "-m", "armarl.cli", "compile", "--cpu", cpu)
    python(*command, PYTHONPATH=str(contents), ARMARL_CACHE_DIR=str(package))
    (package / "kernels" / ".locks").unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cpu", default="x86-64-v3", metavar="LEVEL")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    here = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    parser.add_argument("--platform", default=here, metavar="TAG", help=f"platform tag ({here})")
    options = parser.parse_args()
    wheel = build(options.out, options.cpu, options.platform)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
