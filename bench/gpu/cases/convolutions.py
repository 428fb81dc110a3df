"""Convolutions of ResNet-50's shapes, NCHW, and with images whose channels lie together (NHWC), which are transposed around them in relay."""

from .program import Program

SHAPES = [  # channels, extent, filters, kernel, stride
    (3, 224, 64, 7, 2), (64, 56, 64, 3, 1), (256, 56, 64, 1, 1), (128, 28, 128, 3, 1), (256, 14, 256, 3, 1),
    (1024, 14, 256, 1, 1), (512, 7, 512, 3, 1), (256, 56, 512, 1, 2),
]


def convolution(dtype, batch, c, n, f, k, stride, channels_last=False, groups=1):
    out = (n + 2 * (k // 2) - k) // stride + 1
    layout = "nhwc" if channels_last else "nchw"
    p = Program(f"conv/{layout}_{dtype}_b{batch}_c{c}_{n}_f{f}_k{k}_s{stride}{'_depthwise' if groups > 1 else ''}", family="convolution",
                flops=2 * batch * out * out * f * (c // groups) * k * k, peers=["eager"], channels_last=channels_last)
    x = p.input([batch, n, n, c] if channels_last else [batch, c, n, n], dtype)
    w = p.weight([f, c // groups, k, k], dtype)
    bias = p.weight([f, 1, 1], dtype, scale=0.5)
    x = p.transpose(x, [0, 3, 1, 2]) if channels_last else x
    y = p.like("relu", p.like("add", p.conv2d(x, w, stride, k // 2, groups), bias))
    p.output(p.transpose(y, [0, 2, 3, 1]) if channels_last else y)
    return p


def cases(small):
    batch = 1 if small else 32
    for shape in SHAPES[1:4] if small else SHAPES:
        yield convolution("f16", batch, *shape)
    for shape in SHAPES[3:4] if small else SHAPES[1:7]:
        yield convolution("f16", batch, *shape, channels_last=True)
    yield convolution("f32", batch, *SHAPES[3])
    yield convolution("f16", batch, 144, 28 if small else 56, 144, 3, 1, groups=144)
