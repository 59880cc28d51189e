"""The command `shuffledp`, which is `python -m shuffledp`, too."""

import sys


def run() -> None:
    """Runs the command; Ctrl-C prints one line."""
    try:
        # Imported here: Ctrl-C during the import would otherwise print a traceback.
        from shuffledp.cli.main import main

        main()
    except KeyboardInterrupt:
        print("shuffledp: stopped.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    run()
