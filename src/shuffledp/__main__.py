"""The command `shuffledp`, which is `python -m shuffledp`, too."""

import sys


def run() -> None:
    """Runs the command; Ctrl-C is one line, while it is still being loaded, too."""
    try:
        from shuffledp.cli.main import main
    except KeyboardInterrupt:
        print("shuffledp: stopped.", file=sys.stderr)
        sys.exit(130)
    main()


if __name__ == "__main__":
    run()
