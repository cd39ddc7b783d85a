"""`python -m lumina` is the same as `lumina`."""

from lumina.cli.main import run

if __name__ == "__main__":  # processes that read documents import this module under another name
    run()
