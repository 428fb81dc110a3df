"""Exports networks of kinds that the other benchmarks lack, each as an ONNX model with random weights.

usage: networks.py DIR        (needs PyTorch and onnx; then: fusion explain|compile|bench DIR/NETWORK/model.onnx)
Batch 1 but where a name says another; images of 224 x 224 and 128 x 128."""
import pathlib, sys, warnings
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    """Heads of attention over one sequence, with a triangle of masked scores where each element sees those before."""
    def __init__(self, width, heads, length, causal):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        mask = torch.triu(torch.full((length, length), float("-inf")), 1)
        self.register_buffer("mask", mask if causal else None)

    def forward(self, x):
        batch, length, width = x.shape
        split = lambda t: t.view(batch, length, self.heads, -1).transpose(1, 2)
        q, k, v = map(split, self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
        if self.mask is not None:
            scores = scores + self.mask
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape))


class Block(nn.Module):
    """A layer of a transformer, normalized before each part."""
    def __init__(self, width, heads, length, causal):
        super().__init__()
        self.attention, self.gelu = Attention(width, heads, length, causal), "tanh" if causal else "none"
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.down(F.gelu(self.up(self.between(x)), approximate=self.gelu))


class LanguageModel(nn.Module):
    """Tokens to logits, whose weight is that of the embedding."""
    def __init__(self, layers=6, width=384, heads=6, length=128, words=5000):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.randn(length, width))
        self.layers = nn.Sequential(*[Block(width, heads, length, True) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        return self.norm(self.layers(self.words(tokens) + self.places)) @ self.words.weight.T


class VisionTransformer(nn.Module):
    """Patches of 16 x 16 and one more element, whose last state is classified."""
    def __init__(self, layers=6, width=384, heads=6):
        super().__init__()
        self.patches, self.first = nn.Conv2d(3, width, 16, 16), nn.Parameter(torch.randn(1, 1, width))
        self.places = nn.Parameter(torch.randn(197, width))
        self.layers = nn.Sequential(*[Block(width, heads, 197, False) for _ in range(layers)])
        self.classes = nn.Linear(width, 1000)

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2)
        return self.classes(self.layers(torch.cat([self.first, x], 1) + self.places)[:, 0])


class Wide(nn.Module):
    """A block of ConvNeXt: windows of 7 x 7 channel by channel, then two products."""
    def __init__(self, width):
        super().__init__()
        self.window, self.norm = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.window(x).permute(0, 2, 3, 1)
        return x + self.down(F.gelu(self.up(self.norm(y)))).permute(0, 3, 1, 2)


def conv_next():
    widths = [48, 96, 192, 384]
    layers = [nn.Conv2d(3, widths[0], 4, 4)]
    for stage, blocks in enumerate([2, 2, 4, 2]):
        if stage:
            layers.append(nn.Conv2d(widths[stage - 1], widths[stage], 2, 2))
        layers += [Wide(widths[stage]) for _ in range(blocks)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], 1000))


def convolved(inputs, outputs, size, stride=1, groups=1, act=nn.SiLU):
    norm = nn.BatchNorm2d(outputs)
    nn.init.constant_(norm.weight, 4.0)  # or random weights let numbers vanish behind some layers
    conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return nn.Sequential(conv, norm, *([act()] if act else []))


class Squeezed(nn.Module):
    """A block of an EfficientNet: channel by channel, scaled by what is made of the channels' means."""
    def __init__(self, inputs, outputs, times, size, stride):
        super().__init__()
        inner, few = inputs * times, max(1, inputs // 4)
        self.adds = stride == 1 and inputs == outputs
        self.up = convolved(inputs, inner, 1) if times > 1 else nn.Identity()
        self.window = convolved(inner, inner, size, stride, inner)
        self.scale = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(inner, few, 1), nn.SiLU(),
                                   nn.Conv2d(few, inner, 1), nn.Sigmoid())
        self.down = convolved(inner, outputs, 1, act=None)

    def forward(self, x):
        y = self.window(self.up(x))
        y = self.down(y * self.scale(y))
        return x + y if self.adds else y


def efficient_net():
    stages = [(32, 16, 1, 3, 1, 1), (16, 24, 6, 3, 2, 2), (24, 40, 6, 5, 2, 2), (40, 80, 6, 3, 2, 3),
              (80, 112, 6, 5, 1, 3), (112, 192, 6, 5, 2, 4), (192, 320, 6, 3, 1, 1)]
    layers = [convolved(3, 32, 3, 2)]
    for inputs, outputs, times, size, stride, blocks in stages:
        layers.append(Squeezed(inputs, outputs, times, size, stride))
        layers += [Squeezed(outputs, outputs, times, size, 1) for _ in range(blocks - 1)]
    return nn.Sequential(*layers, convolved(320, 1280, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


class UNet(nn.Module):
    """Down three times and up again, each level joined with that on the way down."""
    def __init__(self, width=32):
        super().__init__()
        two = lambda i, o: nn.Sequential(convolved(i, o, 3, act=nn.ReLU), convolved(o, o, 3, act=nn.ReLU))
        sizes = [width, 2 * width, 4 * width, 8 * width]
        self.down = nn.ModuleList([two(i, o) for i, o in zip([3, *sizes], sizes)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(2 * o, o, 2, 2) for o in sizes[2::-1]])
        self.joined = nn.ModuleList([two(2 * o, o) for o in sizes[2::-1]])
        self.classes = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        levels = []
        for level, down in enumerate(self.down):
            x = down(F.max_pool2d(x, 2) if level else x)
            levels.append(x)
        for up, joined, level in zip(self.up, self.joined, levels[2::-1]):
            x = joined(torch.cat([up(x), level], 1))
        return self.classes(x)


class Recurrent(nn.Module):
    """Two layers of cells over 50 elements, the last of which is classified."""
    def __init__(self, kind, both_ways):
        super().__init__()
        self.cells = kind(128, 256, 2, batch_first=True, bidirectional=both_ways)
        self.classes = nn.Linear(512 if both_ways else 256, 10)

    def forward(self, x):
        return self.classes(self.cells(x)[0][:, -1])


class Dilated(nn.Module):
    """Gated convolutions over a sequence, each of elements twice as far apart as the one before."""
    def __init__(self, width=64, layers=8):
        super().__init__()
        windows = lambda: nn.ModuleList([nn.Conv1d(width, width, 3, dilation=2**i, padding=2**i) for i in range(layers)])
        self.first, self.value, self.gate = nn.Conv1d(1, width, 1), windows(), windows()
        self.out = nn.ModuleList([nn.Conv1d(width, width, 1) for _ in range(layers)])

    def forward(self, x):
        x = self.first(x)
        for value, gate, out in zip(self.value, self.gate, self.out):
            x = x + out(torch.tanh(value(x)) * torch.sigmoid(gate(x)))
        return x


class Grouped(nn.Module):
    """A block of a ResNeXt: windows over 32 groups of channels between two products."""
    def __init__(self, inputs, inner, outputs, stride):
        super().__init__()
        relu = dict(act=nn.ReLU)
        self.up, self.window = convolved(inputs, inner, 1, **relu), convolved(inner, inner, 3, stride, 32, **relu)
        self.down = convolved(inner, outputs, 1, act=None)
        self.past = convolved(inputs, outputs, 1, stride, act=None) if inputs != outputs else nn.Identity()

    def forward(self, x):
        return F.relu(self.past(x) + self.down(self.window(self.up(x))))


def res_next():
    layers, inputs = [convolved(3, 64, 7, 2, act=nn.ReLU), nn.MaxPool2d(3, 2, 1)], 64
    for stage in range(4):
        for block in range(2):
            layers.append(Grouped(inputs, 128 << stage, 256 << stage, 2 if stage and not block else 1))
            inputs = 256 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


class Joined(nn.Module):
    """A layer of a DenseNet: what it finds is joined to all that was found before."""
    def __init__(self, inputs, found=32):
        super().__init__()
        self.first, self.second = nn.BatchNorm2d(inputs), nn.BatchNorm2d(4 * found)
        self.squeeze = nn.Conv2d(inputs, 4 * found, 1, bias=False)
        self.window = nn.Conv2d(4 * found, found, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.cat([x, self.window(F.relu(self.second(self.squeeze(F.relu(self.first(x))))))], 1)


def dense_net():
    layers, channels = [convolved(3, 64, 7, 2, act=nn.ReLU), nn.MaxPool2d(3, 2, 1)], 64
    for blocks in [6, 12, 24, 16]:
        if len(layers) > 2:
            layers += [nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2)]
            channels //= 2
        layers += [Joined(channels + 32 * block) for block in range(blocks)]
        channels += 32 * blocks
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


class Atrous(nn.Module):
    """The head of a DeepLab: windows of several reaches and the mean of all, joined and brought to the image's size."""
    def __init__(self):
        super().__init__()
        relu = dict(act=nn.ReLU)
        self.image = nn.Sequential(*[convolved(16 << i if i else 3, 32 << i, 3, 2, **relu) for i in range(3)])
        reach = lambda n: nn.Sequential(nn.Conv2d(128, 64, 3, 1, n, n, bias=False), nn.BatchNorm2d(64), nn.ReLU())
        self.reaches = nn.ModuleList([convolved(128, 64, 1, **relu), *[reach(n) for n in (2, 4, 6)]])
        self.mean = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(128, 64, 1), nn.ReLU())
        self.classes = nn.Sequential(convolved(320, 64, 1, **relu), nn.Conv2d(64, 21, 1))

    def forward(self, x):
        y = self.image(x)
        sized = lambda part, like: F.interpolate(part, size=like.shape[2:], mode="bilinear", align_corners=False)
        return sized(self.classes(torch.cat([*[reach(y) for reach in self.reaches], sized(self.mean(y), y)], 1)), x)


class Mixed(nn.Module):
    """A layer of an MLP-Mixer: products over the patches, then over the channels."""
    def __init__(self, patches, width):
        super().__init__()
        both = lambda n, inner: nn.Sequential(nn.Linear(n, inner), nn.GELU(), nn.Linear(inner, n))
        self.before, self.patches = nn.LayerNorm(width), both(patches, 256)
        self.between, self.channels = nn.LayerNorm(width), both(width, 4 * width)

    def forward(self, x):
        x = x + self.patches(self.before(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.between(x))


class Patches(nn.Module):
    """Patches of 16 x 16, layers over them, and their mean classified."""
    def __init__(self, width=256, layers=6):
        super().__init__()
        self.patches, self.classes = nn.Conv2d(3, width, 16, 16), nn.Linear(width, 1000)
        self.layers = nn.Sequential(*[Mixed(196, width) for _ in range(layers)])

    def forward(self, image):
        return self.classes(self.layers(self.patches(image).flatten(2).transpose(1, 2)).mean(1))


class Greatest(nn.Module):
    """The ten greatest of each line, and sums of all lines so far."""
    def forward(self, x):
        values, places = torch.topk(x, 10, -1)
        return values, places, torch.cumsum(x, 0)


def perceptron():
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))


NETWORKS = {
    "language_model": lambda: (LanguageModel(), torch.randint(0, 5000, (1, 128))),
    "vision_transformer": lambda: (VisionTransformer(), torch.randn(1, 3, 224, 224)),
    "conv_next": lambda: (conv_next(), torch.randn(1, 3, 224, 224)),
    "efficient_net": lambda: (efficient_net(), torch.randn(1, 3, 224, 224)),
    "u_net": lambda: (UNet(), torch.randn(1, 3, 128, 128)),
    "lstm_both_ways": lambda: (Recurrent(nn.LSTM, True), torch.randn(1, 50, 128)),
    "lstm_b8": lambda: (Recurrent(nn.LSTM, False), torch.randn(8, 50, 128)),
    "gru_both_ways_b8": lambda: (Recurrent(nn.GRU, True), torch.randn(8, 50, 128)),
    "rnn_b4": lambda: (Recurrent(nn.RNN, False), torch.randn(4, 50, 128)),
    "dilated": lambda: (Dilated(), torch.randn(1, 1, 4096)),
    "res_next": lambda: (res_next(), torch.randn(1, 3, 224, 224)),
    "dense_net": lambda: (dense_net(), torch.randn(1, 3, 224, 224)),
    "atrous": lambda: (Atrous(), torch.randn(1, 3, 224, 224)),
    "mixer": lambda: (Patches(), torch.randn(1, 3, 224, 224)),
    "greatest": lambda: (Greatest(), torch.randn(64, 5000)),
    "perceptron": lambda: (perceptron(), torch.randn(1, 784)),
    "perceptron_b64": lambda: (perceptron(), torch.randn(64, 784)),
}


def main(folder):
    warnings.simplefilter("ignore")
    for name, make in NETWORKS.items():
        torch.manual_seed(0)
        network, given = make()
        path = pathlib.Path(folder) / name
        path.mkdir(parents=True, exist_ok=True)
        torch.onnx.export(network.eval(), (given,), path / "model.onnx", opset_version=17, dynamo=False, input_names=["x"])
        print(path / "model.onnx")


if __name__ == "__main__":
    main(sys.argv[1])
