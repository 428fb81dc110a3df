"""The programs of the command line, as the scripts that pip installs call them."""

import os
import signal
import sys
from typing import NoReturn

from . import _fusion


def _run(program: str) -> NoReturn:
    # The programs are native code, which Python's handler would wait for.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    script = os.path.abspath(sys.argv[0])
    command = [sys.executable, "-m", "fusion"] if os.path.basename(script) == "__main__.py" else [script]
    sys.exit(_fusion.command_line(program, command, [program, *sys.argv[1:]]))


def fusion() -> NoReturn:
    """Imports, compiles, runs and times models."""
    _run("fusion")


def fusion_opt() -> NoReturn:
    """mlir-opt with the dialects and passes of fusion."""
    _run("fusion-opt")


def fusion_lsp_server() -> NoReturn:
    """MLIR's language server, knowing the dialects of fusion."""
    _run("fusion-lsp-server")
