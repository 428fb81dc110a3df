"""fusion: a deep-learning compiler on MLIR.

    import fusion
    model = fusion.compile("model.onnx")
    y = model(x)                        # NumPy arrays, or what has __dlpack__ (torch, jax), without a copy
    model.save("model.so")

A model is a path (.onnx, .relay, .mlir), bytes of ONNX, an onnx.ModelProto, or the text of a module of MLIR. What goes wrong is a FusionError, whose text
is a sentence.
"""

from ._fusion import FusionError, __version__
from .model import Module, Port, compile, import_text, load, opt
from .session import InferenceSession, NodeArg, OrtValue, SessionOptions

__all__ = [
    "FusionError", "InferenceSession", "Module", "NodeArg", "OrtValue", "Port", "SessionOptions", "__version__", "compile", "import_text", "load", "opt",
]
