"""The command line by the package's name: `python -m discreet`."""

from __future__ import annotations

from discreet.cli.main import main

if __name__ == "__main__":
    main()
