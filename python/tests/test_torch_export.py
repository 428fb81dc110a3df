"""Exported programs of torch; without torch these are left out (make test-python-peers installs it)."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import fusion  # noqa: E402
from torch import nn  # noqa: E402


class Net(nn.Module):
    """Has a parameter, buffers of both kinds and a constant, and two results."""

    def __init__(self):
        super().__init__()
        self.convolution, self.norm, self.linear = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Linear(8, 5)
        self.register_buffer("places", torch.arange(5.0), persistent=False)

    def forward(self, x):
        y = torch.relu(self.norm(self.convolution(x))).mean((2, 3))
        return self.linear(y) + self.places + torch.tensor([1.0, 2, 3, 4, 5]), y


def are_equal(model, module, x):
    wanted = [tensor.detach().numpy() for tensor in module(x)]
    return all(np.allclose(result, other, rtol=1e-5, atol=1e-5) for result, other in zip(model(x), wanted, strict=True))


def test_a_module_is_exported_with_an_example():
    module, x = Net().eval(), torch.randn(2, 3, 16, 16)
    model = fusion.compile(module, example=(x,))
    assert [port.name for port in model.inputs] == ["x"] and len(model.outputs) == 2
    assert are_equal(model, module, x)


def test_a_file_has_dynamic_shapes(tmp_path):
    module, x = Net().eval(), torch.randn(2, 3, 16, 16)
    program = torch.export.export(module, (x,), dynamic_shapes={"x": {0: torch.export.Dim("batch", max=64)}})
    torch.export.save(program, tmp_path / "net.pt2")
    model = fusion.compile(tmp_path / "net.pt2")
    assert all(are_equal(model, module, torch.randn(count, 3, 16, 16)) for count in (1, 5))


def test_what_is_not_compiled_is_said():
    x = torch.randn(2, 3, 16, 16)
    with pytest.raises(fusion.FusionError, match="changes norm.running_mean, .*; export model.eval()"):
        fusion.compile(Net(), example=(x,))
    with pytest.raises(TypeError, match="pass them as example="):
        fusion.compile(Net().eval())
