"""A backend of torch.compile:

    import fusion.torch                               # registers it
    model = torch.compile(model, backend="fusion")

    torch.compile  ->  graph of core ATen  (AOTAutograd's decompositions)  ->  module of relay  ->  compiled model

Graphs whose operators or shapes are not known here run as torch runs them, with a warning that lists what is missing. The forward and the backward graph of
training are compiled alike.
"""

from .backend import compile_graph, fusion, supported_operators

__all__ = ["compile_graph", "fusion", "supported_operators"]
