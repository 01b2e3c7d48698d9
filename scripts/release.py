"""Make the files of a release and check them: `python3 scripts/release.py --check`.

It checks the version, the change log, the citation and that all work is committed. It builds sdist
and wheel twice, in two folders, and compares their bytes. It lets twine check them as a package
index would, installs the wheel in empty environments outside the repository and uses it there, and
writes what these environments contain (a CycloneDX SBOM each) and all checksums:

    dist/packages/    sdist and wheel
    dist/sbom/        armarl.cdx.json: the wheel alone; armarl-EXTRAS.cdx.json: with extras
    dist/SHA256SUMS

`--kernels` adds a wheel for this platform that contains compiled kernels (some minutes).
Dependencies come from the package index that pip is set up for. Publishing, provenance and other
systems need the workflow (.github/workflows/release.yml), which runs this script first.
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

EXTRAS = "train,render,web"  # what people install to train, look and play
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def git(*arguments: str) -> str:
    """Run git in the repository and return what it prints."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def faults(released: bool) -> Iterator[str]:
    """Yield what keeps the repository from a release.

    Args:
        released: the change log must name the date of the version, not "not yet released".
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
        yield f"CHANGELOG.md says '{title[2]}': it must have the date of {version}, as YYYY-MM-DD"


def build(python: Path, out: Path, epoch: str) -> list[Path]:
    """Build sdist and wheel from the last commit, in a folder of their own."""
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary).resolve() / "tree"
        tree.mkdir()
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", "HEAD"], check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(tree, filter="data")
        os.environ["SOURCE_DATE_EPOCH"] = epoch  # the time of the files in the wheel
        run(python, "-m", "build", "--outdir", out, tree, cwd=tree)
    for sdist in out.glob("*.tar.gz"):
        repack(sdist, int(epoch))
    return sorted(out.iterdir())


def repack(sdist: Path, epoch: int) -> None:
    """Rewrite an sdist without the times and users of its making: two builds have equal bytes."""
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
    """Write what an environment contains as a CycloneDX SBOM."""
    described = ("--pyproject", ROOT / "pyproject.toml", "--mc-type", "library")
    output = ("--output-reproducible", "--output-file", out)
    python = programs / "python"
    run(tools / "cyclonedx-py", "environment", *described, *output, python, cwd=out.parent)


def checksums(folder: Path) -> str:
    """Return the SHA-256 of every file in a folder, as `sha256sum --check` reads them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in files
    )


def make(out: Path, kernels: bool) -> None:
    """Make and check all files of a release in a folder; stop at the first fault."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        tools = environment(folder / "tools", *PROJECT["optional-dependencies"]["release"])
        citation = environment(folder / "citation", "cffconvert>=2")  # it needs old libraries
        run(citation / "cffconvert", "--validate", "-i", ROOT / "CITATION.cff", cwd=folder)
        tell("version, change log and citation agree")

        epoch = git("log", "-1", "--format=%ct")
        built = build(tools / "python", folder / "once", epoch)
        again = build(tools / "python", folder / "again", epoch)
        for one, other in zip(built, again, strict=True):
            if one.name != other.name or one.read_bytes() != other.read_bytes():
                sys.exit(f"two builds of {one.name} differ")
        tell(f"built twice to equal bytes: {', '.join(path.name for path in built)}")
        run(tools / "twine", "check", "--strict", *built, cwd=folder)
        tell("twine finds nothing to say against them")

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
        tell("installed in an empty environment, it plays, trains, evaluates, draws and replays")
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
    parser.add_argument("--check", action="store_true", help="the change log needs no date yet")
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
