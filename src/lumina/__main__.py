"""The command `lumina`, and `python -m lumina`.

Loading the command line takes a moment in which nothing is running yet; a Ctrl-C then leaves without a word.
"""

import os


def main() -> None:
    try:
        from lumina.cli.main import run
    except KeyboardInterrupt:
        os._exit(130)
    run()


if __name__ == "__main__":  # processes that read documents import this module under another name
    main()
