"""Dynamic shapes in torch.compile: one compiled module serves all sizes. Without torch these are left out."""

import warnings

import pytest

torch = pytest.importorskip("torch")
import fusion.torch.backend as backend  # noqa: E402
from torch import nn  # noqa: E402

functional = nn.functional


def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, activation="gelu"), 2).eval()


def images():
    return nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()


# A function, which axes are dynamic, and the shapes that it is given, the first of which it is compiled for.
CASES = {
    "perceptron": (lambda: nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 5), nn.Softmax(-1)), [0], [(7, 20), (3, 20), (64, 20)]),
    "encoder": (encoder, [0, 1], [(2, 10, 32), (3, 7, 32), (5, 33, 32)]),
    "images of any size": (images, [0, 2, 3], [(2, 3, 32, 32), (3, 3, 40, 31), (2, 3, 17, 64)]),
    "an extent as a number": (lambda: lambda x: x * x.shape[0] + x.shape[1] / x.shape[0] + x.mean(0) + x.var(1, keepdim=True), [0, 1], [(3, 5), (9, 4)]),
    "ranges": (lambda: lambda x: torch.cat([x[:, 1:], x[:, :-1], x[:, -1:] + x[:, :1]], 1)[::2], [0, 1], [(5, 6), (8, 9)]),
    "a range from the middle": (lambda: lambda x: x.view(x.shape[0], 4, -1).transpose(1, 2).reshape(-1, 4)[x.shape[0] // 2:], [0, 1], [(5, 8), (7, 12)]),
    "halves": (lambda: lambda x: x.chunk(2, 1)[1] + x.split(x.shape[1] // 2, 1)[0], [0, 1], [(5, 8), (7, 12)]),
    "numbers in a row": (lambda: lambda x: x + torch.arange(x.shape[1]) + torch.zeros(x.shape[0], 1), [0, 1], [(5, 6), (7, 9)]),
    "a causal mask": (lambda: lambda q: functional.scaled_dot_product_attention(q, q, q, is_causal=True), [0, 2], [(2, 4, 9, 16), (3, 4, 17, 16)]),
    "triangles": (lambda: lambda x: x.tril() + x.triu(1).flip(0), [0, 1], [(5, 8), (9, 4)]),
    "repeats": (lambda: lambda x: x.repeat(2, x.shape[0]), [0, 1], [(5, 8), (7, 3)]),
    "a finer image": (lambda: lambda x: functional.interpolate(x, scale_factor=2), [2, 3], [(2, 3, 8, 8), (2, 3, 5, 9)]),
    "padding": (lambda: lambda x: functional.pad(x, (1, 2), value=-1.0), [0, 1], [(2, 8), (3, 5)]),
}


@pytest.mark.parametrize("name", CASES)
def test_one_module_serves_all_sizes(name, monkeypatch):
    make, axes, shapes = CASES[name]
    count, compile_graph = [], backend.compile_graph
    monkeypatch.setattr(backend, "compile_graph", lambda *given, **options: count.append(1) or compile_graph(*given, **options))
    torch.manual_seed(0)
    torch._dynamo.reset()
    torch.backends.mha.set_fastpath_enabled(False)
    model = make()
    fast = torch.compile(model, backend="fusion")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="fusion does not compile")
        for shape in shapes:
            x = torch.randn(shape)
            for axis in axes:
                torch._dynamo.mark_dynamic(x, axis)
            torch.testing.assert_close(fast(x), model(x), rtol=1e-4, atol=1e-5)
    assert len(count) == 1


def test_sizes_that_are_results():
    torch._dynamo.reset()
    f = torch.compile(lambda x: (x * 2, x.shape[0] * 3 + 1), backend="fusion", dynamic=True)
    for n in (4, 9):
        doubled, number = f(torch.ones(n))
        assert number == 3 * n + 1 and doubled.sum() == 2 * n


def test_training_of_any_batch():
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 3))
    fast = torch.compile(model, backend="fusion")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="fusion does not compile")
        for batch in (3, 5):
            x, grads = torch.randn(batch, 2, 8, 8), []
            torch._dynamo.mark_dynamic(x, 0)
            for run in (model, fast):
                model.zero_grad()
                run(x).square().sum().backward()
                grads.append([p.grad.clone() for p in model.parameters()])
            for found, wanted in zip(*grads, strict=True):
                torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-4)


def test_numbers_that_follow_from_data_are_left_to_torch():
    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_scalar_outputs=True), pytest.warns(UserWarning, match="fusion does not compile a graph"):
        f = torch.compile(lambda x, n: x * n.item(), backend="fusion", dynamic=True)
        torch.testing.assert_close(f(torch.ones(3), torch.tensor(4)), torch.full((3,), 4.0))
