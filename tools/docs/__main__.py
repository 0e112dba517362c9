"""Write the generated parts of the documentation anew.

python -m tools.docs                 write them
python -m tools.docs --check         only say which pages are not what is generated
python -m tools.docs --pages DIR     write them, and all pages and pictures to a directory, as the site has them
"""

from __future__ import annotations

import sys
from pathlib import Path

from . import DOCS, for_the_site, renewed


def main(arguments: list[str]) -> int:
    """Do one of these; return 1 if a page is not what is generated and was only to be checked."""
    match arguments:
        case []:
            _write()
        case ["--check"]:
            return _check()
        case ["--pages", directory]:
            _write()
            _write_pages(Path(directory))
        case _:
            sys.stderr.write(__doc__ or "")
            return 1
    return 0


def _write() -> None:
    for path in _stale():
        path.write_text(renewed(path.read_text("utf-8")), "utf-8")
        sys.stdout.write(f"{path.relative_to(DOCS.parent)}\n")


def _check() -> int:
    stale = _stale()
    for path in stale:
        sys.stderr.write(f"{path.relative_to(DOCS.parent)} is not what is generated (python -m tools.docs)\n")
    return 1 if stale else 0


def _stale() -> list[Path]:
    return [path for path in sorted(DOCS.rglob("*.md")) if path.read_text("utf-8") != renewed(path.read_text("utf-8"))]


def _write_pages(directory: Path) -> None:
    """Write all pages and pictures, and nothing that was there before."""
    directory.mkdir(parents=True, exist_ok=True)
    for old in [*directory.rglob("*.md"), *directory.glob("*.svg"), *directory.glob("*.png")]:
        old.unlink()
    for path in DOCS.rglob("*.md"):
        page = directory / path.relative_to(DOCS)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(for_the_site(path.read_text("utf-8")), "utf-8")
    for path in [*DOCS.glob("*.svg"), *DOCS.glob("*.png")]:
        (directory / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
