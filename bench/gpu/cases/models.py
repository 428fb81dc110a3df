"""Networks with weights of four values: ResNet-50, MobileNetV2, an encoder of BERT's size, an Evoformer block, an LSTM, CartPole."""

from .program import Program

PEERS = ["eager", "graph", "inductor"]


class Net:
    def __init__(self, name, dtype, **facts):
        self.p = Program(f"models/{name}", family="models", peers=PEERS, model=True, **facts)
        self.dtype = dtype

    def conv(self, x, filters, kernel, stride=1, groups=1, act=None):
        p, channels = self.p, x.shape[1]
        scale = (2.0 / (channels // groups * kernel * kernel)) ** 0.5
        w = p.weight([filters, channels // groups, kernel, kernel], self.dtype, scale)
        y = p.like("add", p.conv2d(x, w, stride, kernel // 2, groups), p.weight([filters, 1, 1], self.dtype, 0.1))
        if act == "relu6":
            return p.op("clip", y, shape=y.shape, min=0.0, max=6.0)
        return p.like(act, y) if act else y

    def linear(self, x, width, bias=True):
        y = self.p.matmul(x, self.p.weight([x.shape[-1], width], self.dtype))
        return self.p.like("add", y, self.p.weight([width], self.dtype, 0.1)) if bias else y

    def norm(self, x):
        g, b = self.p.weight([x.shape[-1]], self.dtype, 0.5), self.p.weight([x.shape[-1]], self.dtype, 0.1)
        return self.p.op("layer_norm", x, g, b, shape=x.shape, axis=-1)

    def heads(self, x, count):
        """[..., n, count d] -> [..., count, n, d]"""
        *lead, n, width = x.shape
        x, r = self.p.reshape(x, [*lead, n, count, width // count]), len(lead)
        return self.p.transpose(x, [*range(r), r + 1, r, r + 2])

    def attention(self, x, count, bias=None):
        p = self.p
        q, k, v = (self.heads(self.linear(x, x.shape[-1], bias is None), count) for _ in range(3))
        y = p.op("attention", q, k, v, *([bias] if bias else []), shape=q.shape, scale=float(q.shape[-1] ** -0.5))
        r = len(y.shape) - 3
        return self.linear(p.reshape(p.transpose(y, [*range(r), r + 1, r, r + 2]), x.shape), x.shape[-1])


def resnet50(dtype, batch, size=224, blocks=(3, 4, 6, 3)):
    net = Net(f"resnet50_{dtype}_b{batch}", dtype)
    p = net.p
    x = p.max_pool2d(net.conv(p.input([batch, 3, size, size], dtype), 64, 7, 2, act="relu"), 3, 2, 1)
    for level, count in enumerate(blocks):
        for i in range(count):
            stride, width = 2 if i == 0 and level else 1, 64 << level
            y = net.conv(net.conv(x, width, 1, act="relu"), width, 3, stride, act="relu")
            short = net.conv(x, 4 * width, 1, stride) if i == 0 else x
            x = p.like("mul", p.like("relu", p.like("add", net.conv(y, 4 * width, 1), short)), p.number(0.5, dtype))
    x = p.op("global_avg_pool", x, shape=[batch, x.shape[1], 1, 1])
    p.output(net.linear(p.reshape(x, [batch, x.shape[1]]), 1000))
    return p


def mobilenet_v2(dtype, batch, size=224, short=False):
    net = Net(f"mobilenet_v2_{dtype}_b{batch}", dtype)
    p = net.p
    x = net.conv(p.input([batch, 3, size, size], dtype), 32, 3, 2, act="relu6")
    rows = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expand, filters, count, stride in rows[:3] if short else rows:
        for i in range(count):
            inner, s = x.shape[1] * expand, stride if i == 0 else 1
            y = net.conv(x, inner, 1, act="relu6") if expand > 1 else x
            y = net.conv(net.conv(y, inner, 3, s, inner, act="relu6"), filters, 1)
            x = p.like("add", x, y) if s == 1 and x.shape[1] == filters else y
    x = net.conv(x, 1280, 1, act="relu6")
    x = p.op("global_avg_pool", x, shape=[batch, 1280, 1, 1])
    p.output(net.linear(p.reshape(x, [batch, 1280]), 1000))
    return p


def encoder(dtype, batch, length, layers=2, width=768, count=12):
    net = Net(f"encoder_{dtype}_b{batch}_n{length}", dtype)
    p, x = net.p, net.p.input([batch, length, width], dtype)
    for _ in range(layers):
        x = net.norm(p.like("add", x, net.attention(x, count)))
        x = net.norm(p.like("add", x, net.linear(p.gelu(net.linear(x, 4 * width)), width)))
    p.output(x)
    return p


def evoformer(dtype, sequences, residues, wide=256, pair=128):
    """A block without gates of attention (Jumper et al., "AlphaFold", 2021, algorithm 6)."""
    net = Net(f"evoformer_{dtype}_{sequences}x{residues}", dtype)
    p = net.p
    m, z = p.input([sequences, residues, wide], dtype), p.input([residues, residues, pair], dtype)
    add = lambda x, y: p.like("add", x, y)
    bias = lambda z: p.transpose(net.linear(net.norm(z), 4, False), [2, 0, 1])
    turned = lambda x: p.transpose(x, [1, 0, 2])
    step = lambda x: add(x, net.linear(p.like("relu", net.linear(net.norm(x), 4 * x.shape[-1])), x.shape[-1]))

    def triangle(z, outgoing):
        x = net.norm(z)
        a, b = (p.transpose(p.like("mul", p.like("sigmoid", net.linear(x, pair)), net.linear(x, pair)), [2, 0, 1]) for _ in range(2))
        sums = p.matmul(a, b, True) if outgoing else p.matmul(p.transpose(a, [0, 2, 1]), b)
        sums = net.norm(p.transpose(sums, [1, 2, 0]))
        return add(z, p.like("mul", p.like("sigmoid", net.linear(x, pair)), net.linear(sums, pair)))

    m = add(m, net.attention(net.norm(m), 8, p.reshape(p.transpose(net.linear(net.norm(z), 8, False), [2, 0, 1]), [8, residues, residues])))
    m = step(add(m, turned(net.attention(net.norm(turned(m)), 8))))
    x = p.reshape(net.linear(net.norm(m), 32), [sequences, residues * 32])
    sums = p.like("mul", p.matmul(p.transpose(x, [1, 0]), x), p.number(1 / sequences, dtype))
    sums = p.transpose(p.reshape(sums, [residues, 32, residues, 32]), [0, 2, 1, 3])
    z = add(z, net.linear(p.reshape(sums, [residues, residues, 1024]), pair))
    z = triangle(triangle(z, True), False)
    z = add(z, net.attention(net.norm(z), 4, bias(z)))
    z = add(z, turned(net.attention(net.norm(turned(z)), 4, bias(turned(z)))))
    p.output(m, step(z))
    return p


def lstm(dtype, steps, batch, width):
    net = Net(f"lstm_{dtype}_{steps}x{batch}x{width}", dtype)
    p, x = net.p, net.p.input([steps, batch, width], dtype)
    wx, wh, b = p.weight([width, 4 * width], dtype), p.weight([width, 4 * width], dtype), p.weight([4 * width], dtype, 0.1)
    h, c = p.input([batch, width], dtype), p.input([batch, width], dtype)
    for step in range(steps):
        row = p.reshape(p.slice(x, 0, step, step + 1), [batch, width])
        gates = p.like("add", p.like("add", p.matmul(row, wx), p.matmul(h, wh)), b)
        i, f, g, o = (p.slice(gates, 1, n * width, (n + 1) * width) for n in range(4))
        c = p.like("add", p.like("mul", p.like("sigmoid", f), c), p.like("mul", p.like("sigmoid", i), p.like("tanh", g)))
        h = p.like("mul", p.like("sigmoid", o), p.like("tanh", c))
    p.output(h, c)
    return p


def cart_pole(carts, steps):
    """Barto, Sutton and Anderson, 1983: pushes by the sign of the angle, and no cart begins anew."""
    p = Program(f"models/cart_pole_{carts}x{steps}", family="models", peers=PEERS, model=True)
    n = lambda value: p.number(value)
    x, xd, th, thd = (p.input([carts], scale=0.05) for _ in range(4))
    for _ in range(steps):
        force = p.op("where", p.op("less", th, n(0.0), shape=[carts], dtype="i1"), n(-10.0), n(10.0), shape=[carts], dtype="f32")
        c, s = p.like("cos", th), p.like("sin", th)
        push = p.like("mul", p.like("add", force, p.like("mul", p.like("mul", p.like("mul", thd, thd), s), n(0.05))), n(0.9090909))
        below = p.like("add", p.like("mul", p.like("mul", c, c), n(-0.04545455)), n(0.6666667))
        thacc = p.like("div", p.like("sub", p.like("mul", s, n(9.8)), p.like("mul", c, push)), below)
        xacc = p.like("sub", push, p.like("mul", p.like("mul", thacc, c), n(0.04545455)))
        moved = lambda value, speed: p.like("add", value, p.like("mul", speed, n(0.02)))
        x, xd, th, thd = moved(x, xd), moved(xd, xacc), moved(th, thd), moved(thd, thacc)
    p.output(x, xd, th, thd)
    return p


def cases(small):
    if small:
        yield resnet50("f16", 1, 32, (1, 1))
        yield mobilenet_v2("f32", 1, 32, True)
        yield encoder("f16", 1, 32, 1, 64, 2)
        yield evoformer("f32", 4, 16, 32, 16)
        yield lstm("f32", 4, 8, 32)
        yield cart_pole(100, 3)
        return
    yield resnet50("f16", 32)
    yield resnet50("f32", 1)
    yield mobilenet_v2("f16", 32)
    yield encoder("f16", 8, 512)
    yield evoformer("bf16", 128, 256)
    yield lstm("f16", 32, 64, 512)
    yield cart_pole(1 << 16, 20)
