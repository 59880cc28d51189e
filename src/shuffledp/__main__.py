"""`python -m shuffledp` is the command `shuffledp`."""

from shuffledp.cli.main import main

if __name__ == "__main__":
    main()
