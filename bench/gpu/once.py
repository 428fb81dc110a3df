"""Runs a case once on tensors of the host, with numpy alone: once.py DIR/CASE. For tools that watch a process."""

import pathlib
import sys

import host

path = pathlib.Path(sys.argv[1])
case = host.Case(path.parent, path.name)
case.library.run_host(host.inputs_of(case.record))
