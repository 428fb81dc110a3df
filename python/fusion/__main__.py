"""`python -m fusion` is the program `fusion`."""

from .command_line import fusion

fusion()
