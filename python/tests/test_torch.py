"""The backend of torch.compile; without torch these are left out (make test-python-peers installs it)."""

import copy
import warnings

import pytest

torch = pytest.importorskip("torch")
import fusion.torch  # noqa: E402
from torch import nn  # noqa: E402


class Functions(nn.Module):
    def forward(self, x, places):
        y = torch.where(x > 0, x, x.exp() - 1) // 0.5
        return (y[:, 1:-1].cumsum(1), x.std(0), torch.topk(x, 3, dim=1)[0], x[places], (x.int() % 3).float(), x.argmax(1),
                torch.cat([x, x.flip(0)], 0).clamp(-0.5, 0.7), x[places, places.abs()], torch.logsumexp(x, 1), x.bool() & (x > 1))


CASES = {
    "perceptron": (nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 5), nn.Softmax(-1)), (7, 20)),
    "convolutions": (nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, stride=2, groups=4),
                                   nn.SiLU(), nn.ConvTranspose2d(16, 4, 3, stride=2, output_padding=1), nn.AdaptiveAvgPool2d(1), nn.Flatten()), (2, 3, 32, 32)),
    "encoder": (nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, activation="gelu"), (2, 10, 64)),
    "groups": (nn.Sequential(nn.Conv1d(4, 8, 3), nn.GroupNorm(2, 8), nn.GELU("tanh"), nn.Upsample(scale_factor=2)), (2, 4, 20)),
}


def compiled(model, dynamic=False):
    torch._dynamo.reset()
    return torch.compile(model, backend="fusion", dynamic=dynamic)


@pytest.mark.parametrize("name", CASES)
def test_models_give_what_torch_gives(name):
    torch.manual_seed(0)
    model, shape = CASES[name]
    model, x = model.eval(), torch.randn(shape)
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.testing.assert_close(compiled(model)(x), model(x), rtol=1e-4, atol=1e-5)


def test_functions_give_what_torch_gives():
    x, places = torch.randn(6, 9), torch.tensor([0, -1, 2])
    for found, wanted in zip(compiled(Functions())(x, places), Functions()(x, places)):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_half_types():
    x, w = (torch.randn(8, 8).to(torch.bfloat16) for _ in range(2))

    def f(x, w):
        return (x @ w).relu() + 1

    torch.testing.assert_close(compiled(f)(x, w), f(x, w), rtol=3e-2, atol=3e-2)


def test_training_compiles_both_graphs():
    torch.manual_seed(1)
    own = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))
    reference, x, labels = copy.deepcopy(own), torch.randn(16, 12), torch.randint(0, 4, (16,))
    for model in (reference, compiled(own)):
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="fusion does not compile")
            for _ in range(5):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x), labels).backward()
                optimizer.step()
    for (name, wanted), found in zip(reference.state_dict().items(), own.state_dict().values()):
        torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-4, msg=name)


def test_what_is_missing_is_left_to_torch_and_said():
    def f(x):
        return torch.linalg.det(x) + 1

    with pytest.warns(UserWarning, match="fusion does not compile a graph, which runs as torch runs it: it has no aten._linalg_det"):
        torch.testing.assert_close(compiled(f)(torch.eye(3)), torch.tensor(2.0))


def test_random_numbers_are_left_to_torch():
    with pytest.warns(UserWarning, match="it drops elements at random|it has no aten.bernoulli"):
        assert compiled(lambda x: nn.functional.dropout(x, 0.5, True).count_nonzero())(torch.ones(1000)) < 1000


def test_frozen_weights_stay_as_they_were():
    torch._dynamo.reset()
    model, x = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)).eval(), torch.randn(3, 8)
    with torch.no_grad():
        before = model(x)
        kept, follows = (torch.compile(model, backend="fusion", options={"freeze": freeze}) for freeze in (True, False))
        torch.testing.assert_close(kept(x), before, rtol=1e-4, atol=1e-5)
        model[0].weight.mul_(2)
        torch.testing.assert_close(kept(x), before, rtol=1e-4, atol=1e-5)
        torch._dynamo.reset()
        torch.testing.assert_close(follows(x), model(x), rtol=1e-4, atol=1e-5)


def test_an_unknown_option_is_said():
    torch._dynamo.reset()
    with pytest.raises(Exception, match="the backend has no option 'fast'; its options are threads and freeze"):
        torch.compile(lambda x: x + 1, backend="fusion", options={"fast": True})(torch.ones(2))


def test_loops_that_follow_from_data():
    from torch._higher_order_ops.while_loop import while_loop

    def doubled(x, n):
        return while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 2 + 1), (torch.zeros((), dtype=torch.int64), x))

    for n in (0, 5):
        number, y = compiled(doubled)(torch.ones(3), torch.tensor(n))
        assert number == n and y.tolist() == [2.0 ** (n + 1) - 1] * 3
