"""Operators that torch.compile's backend takes apart, at their edges. Without torch these are left out."""

import math
import warnings

import pytest

torch = pytest.importorskip("torch")
import fusion.torch  # noqa: E402, F401
from torch import nn, tensor  # noqa: E402
from torch.nn import functional  # noqa: E402

inf, nan = math.inf, math.nan
EDGES = tensor([0.0, -0.0, 1.0, -1.0, 1.0, inf, -inf, nan, 1e-40, 3e38, -2.5, 0.5])
TIES = tensor([[2.0, 5.0, 5.0, 1.0], [nan, 3.0, 3.0, 3.0], [-inf, inf, 0.0, -0.0]])
WHOLE = tensor([2**62 + 1, -7, 7, -(2**63), 0, 2**53 + 1])


def checked(function, *inputs, rtol=1e-6, atol=0.0):
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="fusion does not compile")
        found, wanted = torch.compile(function, backend="fusion", dynamic=False)(*inputs), function(*inputs)
    for a, b in zip(*((one if isinstance(one, (tuple, list)) else [one]) for one in (found, wanted)), strict=True):
        torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)


CASES = {
    "quotients rounded down": (lambda x: (torch.floor_divide(x, 0.1), x // -3), EDGES.abs() + 0.3),
    "quotients of large integers": (lambda x: (x // 3, torch.div(x, -5, rounding_mode="trunc"), x % 3), WHOLE),
    "powers of integers": (lambda x: (x**39, x**0, 3 ** (x.abs() % 41)), tensor([3, -2, 0, 1, -1, 7])),
    "angles of points": (lambda y, x: torch.atan2(y[:, None], x), EDGES, EDGES),
    "signs": (lambda x: (torch.signbit(x), torch.copysign(tensor(3.0), x)), EDGES),
    "lengths": (lambda x: torch.hypot(x[:, None], x), EDGES),
    "exp less 1": (lambda x: torch.expm1(x), torch.cat([EDGES, tensor([1e-10, -1e-10, 90.0, -90.0])])),
    "the greater number": (lambda x: (torch.fmax(x[:, None], x), torch.fmin(x[:, None], x)), EDGES),
    "fractions and powers of 2": (lambda x: torch.frexp(x), EDGES),
    "next numbers": (lambda x: torch.nextafter(x[:, None], x), EDGES),
    "greatest so far": (lambda x: (*torch.cummax(x, 1), *torch.cummin(x, 1)), TIES),
    "logarithms of sums so far": (lambda x: torch.logcumsumexp(x, 1), tensor([[100.0, -100.0, 0.0, 99.0], [-inf, -inf, 1.0, 2.0]])),
    "medians": (lambda x: (x.median(1)[0], x.nanmedian(1)[0], x.median(), x.kthvalue(2, 1)[0]), TIES),
    "modes": (lambda x: torch.mode(x, 1)[0], tensor([[1, 2, 2, 1], [3, 3, 3, 0], [9, 8, 7, 6]])),
    "places in sorted rows": (lambda edges, x: (torch.searchsorted(edges, x), torch.searchsorted(edges, x, right=True)), tensor([0.0, 1.0, 1.0, 2.0]), EDGES),
    "counts of ranges": (lambda x: (torch.histc(x, 4, 0, 2), *torch.histogram(x, 3, range=(0.0, 2.0))), tensor([0.0, 0.5, 1.0, 1.0, 2.0, 3.0, -1.0])),
    "diagonals": (lambda x: (x.diagonal(1), x.diagonal(-1), x.trace(), torch.diagonal_scatter(x, torch.zeros(2), 2)), torch.arange(16.0).reshape(4, 4)),
    "windows of an axis": (lambda x: x.unfold(0, 3, 2), torch.arange(9.0)),
    "strides": (lambda x: x.as_strided((2, 3), (1, 2), 1), torch.arange(8.0)),
    "masked places": (lambda x, m: (x.masked_scatter(m, -x), torch.nonzero_static(m, size=3)), torch.arange(6.0), tensor([True, False, True, True, False, True])),
    "masked values": (lambda x, m: (x.index_put([m], tensor(5.0)), x.index_put([m], tensor([1.0, 2.0, 3.0, 4.0])), x.index_put([m], x[:1], True)),
                      torch.arange(6.0), tensor([True, False, True, True, False, True])),
    "means of uneven parts": (lambda x: functional.adaptive_avg_pool2d(x, (3, 2)), torch.arange(35.0).reshape(1, 1, 5, 7)),
    "greatest of uneven parts": (lambda x: functional.adaptive_max_pool2d(x, (3, 2), return_indices=True), (torch.arange(35.0) % 4).reshape(1, 1, 5, 7)),
    "where the greatest are": (lambda x: functional.max_pool2d(x, 3, 2, 1, 2, return_indices=True), -(torch.arange(64.0) % 3).reshape(1, 1, 8, 8)),
    "a given divisor": (lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True, divisor_override=4), torch.arange(36.0).reshape(1, 1, 6, 6)),
    "means of integers": (lambda x: functional.avg_pool2d(x, 2, 1, divisor_override=3), torch.arange(-8, 8).reshape(1, 1, 4, 4)),
    "logarithms of powers": (lambda x: (torch.log2(x).floor(), torch.log10(x * 125).floor()), tensor([8.0, 64.0, 2.0**40, 512.0])),
    "signs of what is no number": (lambda x: torch.sign(x), tensor([nan, inf, -inf, 0.0, -1e-40])),
    "powers less 1 near 0": (lambda x: functional.elu(x), tensor([-1e-10, -1e-3, -50.0, 1e30, nan])),
    "branches": (lambda x: torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,)), tensor([1.0, -3.0])),
}


@pytest.mark.parametrize("name", CASES)
def test_edges(name):
    function, *inputs = CASES[name]
    checked(function, *inputs)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_scatters_into_places_that_repeat(reduce, include_self):
    places, source = tensor([[0, 0, 2], [2, 2, 2]]), tensor([[1.0, 2.0, -3.0], [4.0, 5.0, 0.5]])
    checked(lambda x: torch.scatter_reduce(x, 1, places, source, reduce, include_self=include_self), torch.full((2, 4), 7.0))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_embeddings(mode):
    words, bags = tensor([1, 1, 3, 0, 2, 2, 2]), tensor([0, 3, 3, 5])
    checked(lambda w: functional.embedding_bag(words, w, bags, mode=mode, padding_idx=2), torch.randn(4, 5), atol=1e-6)


SPECIAL = {
    "lgamma": torch.lgamma, "digamma": torch.digamma, "trigamma": lambda x: torch.polygamma(1, x), "polygamma": lambda x: torch.polygamma(3, x),
    "erfc": torch.erfc, "erfcx": torch.special.erfcx, "erfinv": torch.erfinv, "ndtri": torch.special.ndtri, "log_ndtr": torch.special.log_ndtr,
    "i0": torch.i0, "i0e": torch.special.i0e, "i1": torch.special.i1, "i1e": torch.special.i1e, "k0": torch.special.modified_bessel_k0,
    "k1": torch.special.modified_bessel_k1, "k0e": torch.special.scaled_modified_bessel_k0, "k1e": torch.special.scaled_modified_bessel_k1,
    "j0": torch.special.bessel_j0, "j1": torch.special.bessel_j1, "y0": torch.special.bessel_y0, "y1": torch.special.bessel_y1,
    "airy_ai": torch.special.airy_ai, "spherical_j0": torch.special.spherical_bessel_j0,
    "zeta": lambda x: torch.special.zeta(x[:, None], tensor([0.1, 1.0, 7.0, -0.5, -2.0], dtype=x.dtype)),
    "igamma": lambda x: torch.igamma(x[:, None], tensor([0.0, 0.3, 2.0, 15.0, inf], dtype=x.dtype)),
    "igammac": lambda x: torch.igammac(x[:, None], tensor([0.0, 0.3, 2.0, 15.0, inf], dtype=x.dtype)),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_are_as_exact_as_torch(name):
    x = tensor([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.999, 1e-3, 2.0, 5.0, 7.999, 8.0, 8.001, 12.25, -3.3, -12.75, 30.0, inf, nan], dtype=torch.float64)
    # Torch's own Bessel functions of waves are exact to some 8 places.
    checked(SPECIAL[name], x, rtol=1e-7 if name in ("j0", "j1", "y0", "y1") else 1e-9, atol=1e-13)


def test_bessel_functions_are_exact():
    x = tensor([0.1, 2.404825557695773, 5.0, 7.999, 8.0, 50.5], dtype=torch.float64)
    mpmath = pytest.importorskip("mpmath")
    for name, of in {"bessel_j0": lambda v: mpmath.besselj(0, v), "bessel_j1": lambda v: mpmath.besselj(1, v), "bessel_y0": lambda v: mpmath.bessely(0, v),
                     "bessel_y1": lambda v: mpmath.bessely(1, v)}.items():
        found = torch.compile(getattr(torch.special, name), backend="fusion", dynamic=False)(x)
        torch.testing.assert_close(found, tensor([float(of(v)) for v in x.tolist()], dtype=torch.float64), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", ["chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "hermite_polynomial_h",
                                  "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p", "shifted_chebyshev_polynomial_t"])
def test_polynomials_of_degrees_that_are_data(kind):
    x, n = tensor([0.0, 1.0, -1.0, 0.3, -0.8, 2.5]), tensor([-1.0, 0.0, 1.0, 2.0, 3.0, 11.0])
    checked(lambda x, n: getattr(torch.special, kind)(x[:, None], n), x, n, rtol=1e-4, atol=1e-5)


CONVOLUTIONS = {
    "plain": (nn.Conv2d(3, 4, 3), (2, 3, 7, 6)), "strides": (nn.Conv2d(4, 6, (3, 2), stride=(2, 3), padding=(1, 0), groups=2), (2, 4, 8, 9)),
    "dilation": (nn.Conv1d(2, 4, 3, dilation=2, padding=2), (3, 2, 10)),
    "transposed": (nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2), (2, 4, 5, 4)),
    "solid": (nn.Conv3d(2, 2, 2, stride=2), (1, 2, 5, 4, 4)),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_gradients_of_convolutions(name):
    layer, shape = CONVOLUTIONS[name]
    gradients_agree(layer, torch.randn(shape), list(layer.parameters()))


POOLS = {
    "means": nn.AvgPool2d(3, 2, 1), "means of what is inside": nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False), "greatest": nn.MaxPool2d(3, 2, 1),
    "uneven parts": nn.AdaptiveAvgPool2d((3, 2)), "parts that repeat": nn.AdaptiveAvgPool2d((9, 2)),
}


@pytest.mark.parametrize("name", POOLS)
def test_gradients_of_pools(name):
    gradients_agree(POOLS[name], torch.randn(2, 3, 7, 8), [])


def test_gradients_of_attention():
    gradients_agree(lambda x: functional.scaled_dot_product_attention(x, x * 2, x + 1, is_causal=True), torch.randn(2, 2, 6, 8), [])


def gradients_agree(function, x, weights):
    torch._dynamo.reset()
    found = []
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="fusion does not compile")
        for run in (function, torch.compile(function, backend="fusion", dynamic=False)):
            own = x.clone().requires_grad_()
            found.append(torch.autograd.grad(run(own).sin().sum(), [own, *weights]))
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
