"""fusion: a deep-learning compiler on MLIR.

    import fusion
    model = fusion.compile("model.onnx")
    y = model(x)                        # NumPy arrays, or what has __dlpack__ (torch, jax), without a copy
    model.save("model.so")

A model is a path (.onnx, .relay, .mlir, .jax, .pt2), bytes of ONNX or StableHLO, an onnx.ModelProto, what jax.export, jax.jit(f).lower(...) or torch.export
gives, a torch.nn.Module with example inputs, or the text of a module of MLIR. What goes wrong is a FusionError, whose text is a sentence.
"""

from ._fusion import FusionError, __version__
from .model import Module, Port, compile, import_text, load, opt
from .quantization import quantize
from .reports import Report
from .rules import Value, rewrite
from .session import (
    ExecutionMode, GraphOptimizationLevel, InferenceSession, IOBinding, ModelMetadata, NodeArg, OrtValue, RunOptions, SessionOptions,
    disable_telemetry_events, get_all_providers, get_available_providers, get_device, set_default_logger_severity,
)

__all__ = [
    "ExecutionMode", "FusionError", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "ModelMetadata", "Module", "NodeArg", "OrtValue", "Port",
    "Report", "RunOptions", "SessionOptions", "Value", "__version__", "compile", "disable_telemetry_events", "get_all_providers", "get_available_providers", "get_device", "import_text", "load", "opt", "quantize", "rewrite",
    "set_default_logger_severity",
]
