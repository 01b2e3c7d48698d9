"""Make the files of a release and check them: `python3 scripts/release.py --check`.

The script checks the version, the change log, the citation file, and that all files are committed.
It builds sdist and wheel twice, in two folders, and compares their bytes. It checks them with
twine, as a package index does. It installs the wheel in empty environments outside the repository
and uses it there. It writes an SBOM (CycloneDX) of each environment, and checksums of all files:

    dist/packages/    sdist and wheel
    dist/sbom/        armarl.cdx.json: only the wheel; armarl-EXTRAS.cdx.json: with extras
    dist/SHA256SUMS

`--kernels` adds a wheel for this platform that contains compiled kernels (a few minutes).
Dependencies come from pip's configured package index. The script publishes nothing. The workflow
(.github/workflows/release.yml) runs the script, and then publishes the files with their provenance.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from checks.check_distribution import environment
from checks.use_installed import run, use
from setup_venv import ROOT

EXTRAS = "train,render,web"  # extras to train, to draw games, and to play in a browser
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def git(*arguments: str) -> str:
    """Run git in the repository and return its output."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def faults(released: bool) -> Iterator[str]:
    """Yield the reasons why the repository cannot be released yet.

    Args:
        released: whether the change log must have the version's date instead of "not yet released".
    """
    version = PROJECT["version"]
    if changed := git("status", "--porcelain"):
        yield f"these files are not committed:\n{changed}"
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    if f"\nversion: {version}\n" not in citation:
        yield f"CITATION.cff must have the version {version} of pyproject.toml"
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    title = re.search(r"^## (\S+) \((.*)\)$", log, re.MULTILINE)
    if title is None or title[1] != version:
        yield f"the first section of CHANGELOG.md must be '## {version} (DATE)'"
    elif released and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", title[2]):
        yield f"CHANGELOG.md must have the date of {version} as YYYY-MM-DD, not '{title[2]}'"


def build(python: Path, out: Path, epoch: str) -> list[Path]:
    """Build sdist and wheel from the last commit in a temporary folder. Return their paths."""
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary).resolve() / "tree"
        tree.mkdir()
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", "HEAD"], check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(tree, filter="data")
        os.environ["SOURCE_DATE_EPOCH"] = epoch  # the modification time of files in the wheel
        run(python, "-m", "build", "--outdir", out, tree, cwd=tree)
    for sdist in out.glob("*.tar.gz"):
        repack(sdist, int(epoch))
    return sorted(out.iterdir())


def repack(sdist: Path, epoch: int) -> None:
    """Rewrite an sdist without build times and user names, so that two builds have equal bytes."""
    with tarfile.open(sdist) as old:
        members = sorted(old.getmembers(), key=lambda member: member.name)
        contents = [old.extractfile(member) for member in members]
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as new:
            for member, content in zip(members, contents, strict=True):
                member.mtime, member.pax_headers = epoch, {}
                member.uid = member.gid = 0
                member.uname = member.gname = ""
                member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
                new.addfile(member, content)
    sdist.write_bytes(gzip.compress(plain.getvalue(), mtime=epoch))


def inventory(tools: Path, programs: Path, out: Path) -> None:
    """Write a list of an environment's packages, as a CycloneDX SBOM."""
    described = ("--pyproject", ROOT / "pyproject.toml", "--mc-type", "library")
    output = ("--output-reproducible", "--output-file", out)
    python = programs / "python"
    run(tools / "cyclonedx-py", "environment", *described, *output, python, cwd=out.parent)


def checksums(folder: Path) -> str:
    """Return the SHA-256 of every file in a folder, in the format of `sha256sum --check`."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in files
    )


def make(out: Path, kernels: bool) -> None:
    """Make and check all files of a release in a folder. Exit at the first error."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        tools = environment(folder / "tools", *PROJECT["optional-dependencies"]["release"])
        # cffconvert gets its own environment, because it needs old versions of libraries.
        citation = environment(folder / "citation", "cffconvert>=2")
        run(citation / "cffconvert", "--validate", "-i", ROOT / "CITATION.cff", cwd=folder)
        tell("version, change log and citation agree")

        epoch = git("log", "-1", "--format=%ct")
        built = build(tools / "python", folder / "once", epoch)
        again = build(tools / "python", folder / "again", epoch)
        for one, other in zip(built, again, strict=True):
            if one.name != other.name or one.read_bytes() != other.read_bytes():
                sys.exit(f"two builds of {one.name} differ")
        tell(f"two builds have equal bytes: {', '.join(path.name for path in built)}")
        run(tools / "twine", "check", "--strict", *built, cwd=folder)
        tell("twine finds no errors in sdist and wheel")

        packages, sbom = out / "packages", out / "sbom"
        for path in (packages, sbom):
            path.mkdir(parents=True)
        for path in built:
            shutil.copy(path, packages)
        (wheel,) = packages.glob("*.whl")
        alone = environment(folder / "alone", wheel)
        inventory(tools, alone, sbom / "armarl.cdx.json")
        programs = environment(folder / "extras", f"{wheel}[{EXTRAS}]")
        inventory(tools, programs, sbom / f"armarl-{EXTRAS.replace(',', '-')}.cdx.json")
        use(programs, folder / "extras", train=True)
        tell("the installed wheel plays, trains, evaluates, draws and replays")
        if kernels:
            run(programs / "python", "-m", "pip", "install", "-q", "build", "wheel", cwd=folder)
            script = ROOT / "scripts" / "build_wheel.py"
            run(programs / "python", script, "--out", packages, cwd=folder)
            tell("built a wheel with kernels for this platform")
    (out / "SHA256SUMS").write_text(checksums(out), encoding="utf-8")
    tell(f"{out} is ready")


def tell(message: str) -> None:
    """Print a line of progress."""
    print(f"release: {message}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="allow a change log without the version's date"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    parser.add_argument("--kernels", action="store_true", help="add a wheel with compiled kernels")
    options = parser.parse_args()
    if found := list(faults(released=not options.check)):
        sys.exit("\n".join(f"release: {fault}" for fault in found))
    out = options.out.resolve()
    if out.exists() and any(out.iterdir()):
        sys.exit(f"release: {out} is not empty; remove it, or name another folder with --out")
    make(out, options.kernels)


if __name__ == "__main__":
    main()
