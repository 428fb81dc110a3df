#!/usr/bin/env python3
"""Compiles models of torchvision, timm and transformers with torch.compile: torch_models.py [--inductor] [--dynamic] [--train] [--freeze] [NAME...]

    PYTHONPATH=data/fusion-python python bench/torch_models.py        # after make check-python, with torch, torchvision, timm and transformers installed

A line a model: whether it is right (no graph left to torch, and no result that differs from eager torch by more than a part of the largest), the graphs,
the largest error, and the milliseconds of a run in eager torch, inductor and fusion, each the least of some. Weights are random, images and transformers
small, so that all of them take minutes. --dynamic marks the batch as dynamic and runs two sizes; --train compares the gradients of a step;
--freeze keeps weights as constants.
"""

import argparse
import copy
import time
import warnings

import fusion.torch.backend as backend  # it registers the backend
import torch
from torch import nn

TOLERANCE = 1e-3
# What layers call the part that they drop.
RANDOM = ("p", "dropout", "attention_dropout", "dropout_rate", "activation_dropout", "drop_rate")


class Recurrent(nn.Module):
    """Embeddings, a recurrent layer and a classifier."""

    def __init__(self, layer):
        super().__init__()
        self.embedding, self.layer, self.last = nn.Embedding(100, 32), layer(32, 48, batch_first=True), nn.Linear(48, 10)

    def forward(self, words):
        return self.last(self.layer(self.embedding(words))[0][:, -1])


class UNet(nn.Module):
    """Two levels down and up again, with what was before beside it."""

    def __init__(self):
        super().__init__()
        def block(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.Conv2d(b, b, 3, padding=1), nn.ReLU())
        self.down1, self.down2, self.middle = block(3, 16), block(16, 32), block(32, 64)
        self.up2, self.up1 = nn.ConvTranspose2d(64, 32, 2, stride=2), nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.join2, self.join1, self.last = block(64, 32), block(32, 16), nn.Conv2d(16, 4, 1)

    def forward(self, x):
        one = self.down1(x)
        two = self.down2(nn.functional.max_pool2d(one, 2))
        low = self.middle(nn.functional.max_pool2d(two, 2))
        up = self.join2(torch.cat([self.up2(low), two], 1))
        return self.last(self.join1(torch.cat([self.up1(up), one], 1)))


def vision(name, size=64, **options):
    """A network of torchvision, and an image."""
    def made(batch):
        import torchvision
        return lambda: torchvision.models.get_model(name, weights=None, **options), (torch.randn(batch, 3, size, size),)
    return made


def timm_model(name, size=64, **options):
    """A network of timm, and an image."""
    def made(batch):
        import timm
        return lambda: timm.create_model(name, pretrained=False, num_classes=10, **options), (torch.randn(batch, 3, size, size),)
    return made


def language(kind, length=24, part="Model", **sizes):
    """A transformer, and words."""
    def made(batch):
        import transformers
        config = getattr(transformers, f"{kind}Config")(vocab_size=200, bos_token_id=1, eos_token_id=2, **sizes)
        if hasattr(config, "use_cache"):
            config.use_cache = False
        return lambda: getattr(transformers, f"{kind}{part}")(config), (torch.randint(5, 200, (batch, length)),)
    return made


def own(function, *make):
    """A module, and what makes its inputs of a batch."""
    return lambda batch: (function, tuple(one(batch) for one in make))


def image(*shape):
    return lambda batch: torch.randn(batch, *shape)


def words(length):
    return lambda batch: torch.randint(0, 100, (batch, length))


SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
MODELS = {
    "perceptron": own(lambda: nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 10)), image(64)),
    "alexnet": vision("alexnet"), "vgg11": vision("vgg11"), "resnet18": vision("resnet18"), "resnet50": vision("resnet50"),
    "resnext50": vision("resnext50_32x4d"), "densenet121": vision("densenet121"), "googlenet": vision("googlenet", aux_logits=False, init_weights=False),
    "inception_v3": vision("inception_v3", 96, aux_logits=False, init_weights=False), "mobilenet_v2": vision("mobilenet_v2"),
    "mobilenet_v3": vision("mobilenet_v3_small"), "mnasnet": vision("mnasnet0_5"), "shufflenet_v2": vision("shufflenet_v2_x0_5"),
    "squeezenet": vision("squeezenet1_1"), "efficientnet_b0": vision("efficientnet_b0"), "regnet_y": vision("regnet_y_400mf"),
    "convnext_tiny": vision("convnext_tiny"), "swin_tiny": vision("swin_t"), "vit_b_16": vision("vit_b_16", 64, image_size=64),
    "unet": own(UNet, image(3, 32, 32)),
    "mixer": timm_model("mixer_s32_224", 64, img_size=64), "ghostnet": timm_model("ghostnet_050"), "resmlp": timm_model("resmlp_12_224", 64, img_size=64),
    "lstm": own(lambda: Recurrent(nn.LSTM), words(12)), "gru": own(lambda: Recurrent(nn.GRU), words(12)),
    "encoder": own(lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2), image(20, 64)),
    "bert": language("Bert", **SMALL), "roberta": language("Roberta", **SMALL), "distilbert": language("DistilBert", dim=64, n_layers=2, n_heads=4, hidden_dim=128),
    "gpt2": language("GPT2", n_embd=64, n_layer=2, n_head=4), "llama": language("Llama", num_key_value_heads=2, **SMALL),
    "qwen2": language("Qwen2", num_key_value_heads=2, **SMALL), "mistral": language("Mistral", num_key_value_heads=2, **SMALL),
    "opt": language("OPT", hidden_size=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=128, word_embed_proj_dim=64),
    "t5_encoder": language("T5", part="EncoderModel", d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4),
}
GRAPHS: list[bool] = []


def counted(module, inputs, **options):
    """The compiler, which counts graphs."""
    GRAPHS.append(True)
    return COMPILE(module, inputs, **options)


COMPILE, backend.compile_graph = backend.compile_graph, counted


def numbers(result):
    """The tensor that a model gives first."""
    while not isinstance(result, torch.Tensor):
        result = next(iter(result.values())) if isinstance(result, dict) else result[0]
    return result


def least(run, times=5):
    """The least milliseconds of some runs."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begin)
    return min(taken) * 1e3


def error(found, wanted):
    """The largest difference as a part of the largest number."""
    return ((found - wanted).abs().max() / wanted.abs().max().clamp(min=1e-30)).item()


def awake(module, inputs):
    """A model whose results follow from its inputs: no weights of 0, as last layers often begin with, and statistics of batches as they are."""
    with torch.no_grad():
        for weight in module.parameters():
            if weight.abs().max() < 1e-3:
                weight.normal_(0, 0.05)
        norms = [layer for layer in module.modules() if isinstance(layer, nn.modules.batchnorm._BatchNorm)]
        before = [layer.momentum for layer in norms]
        for layer in norms:
            layer.momentum = 1.0
        module.train()(*inputs)
        for layer, momentum in zip(norms, before):
            layer.momentum = momentum
    return module


def gradients(module, run, inputs):
    """The gradients of all weights, as one vector, for a sum of squares."""
    module.zero_grad()
    numbers(run(*inputs)).square().mean().backward()
    return torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in module.parameters()])


def measured(name, made, given):
    """The line of a model."""
    torch.manual_seed(0)
    function, inputs = made(2)
    module = awake(function(), inputs)
    module = module.train() if given.train else module.eval()
    for layer in module.modules():
        for word in RANDOM:
            if isinstance(getattr(layer, word, None), float):
                setattr(layer, word, 0.0)
    torch._dynamo.reset()
    GRAPHS.clear()
    compiled = torch.compile(module, backend="fusion", dynamic=None if given.dynamic else False, options={"freeze": given.freeze})
    worst, allowed, batches = 0.0, TOLERANCE, [inputs] + ([made(3)[1]] if given.dynamic else [])
    with warnings.catch_warnings(record=True) as said, torch.set_grad_enabled(given.train):
        warnings.simplefilter("always")
        begin = time.perf_counter()
        for batch in batches:
            if given.dynamic:
                for value in batch:
                    torch._dynamo.mark_dynamic(value, 0)
            if given.train:
                # Networks may make much of a rounding: what counts is how far torch itself is from float64.
                exact = copy.deepcopy(module).double()
                wide = [value.double() if value.is_floating_point() else value for value in batch]
                wanted = gradients(exact, exact, wide)
                allowed = max(allowed, 3 * error(gradients(module, module, batch), wanted))
                worst = max(worst, error(gradients(module, compiled, batch), wanted))
            else:
                wanted = numbers(module(*batch))
                worst = max(worst, error(numbers(compiled(*batch)), wanted))
        spent = time.perf_counter() - begin
        def run(model):
            return gradients(module, model, inputs) if given.train else model(*inputs)

        times = [least(lambda: run(module)), None, least(lambda: run(compiled))]
        if given.inductor:
            torch._dynamo.reset()
            try:
                other = torch.compile(module, dynamic=False)
                run(other)
                times[1] = least(lambda: run(other))
            except Exception:  # it needs a C++ compiler
                times[1] = None
    left = [str(one.message).split("runs it: ")[-1] for one in said if "fusion does not compile" in str(one.message)]
    right = "yes" if worst <= allowed and not left else "no"
    shown = " ".join(f"{'-' if ms is None else format(ms, '.2f'):>9}" for ms in times)
    print(f"{name:16} {right:5} {len(GRAPHS):6} {worst:9.1e} {shown} {spent:9.1f}  {left[0][:90] if left else ''}", flush=True)
    return right == "yes"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("inductor", "dynamic", "train", "freeze"):
        parser.add_argument(f"--{option}", action="store_true")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    torch.backends.mha.set_fastpath_enabled(False)
    print(f"{'model':16} {'right':5} {'graphs':>6} {'error':>9} {'ms eager':>9} {'inductor':>9} {'fusion':>9} {'compile s':>9}")
    right = total = 0
    for name, made in MODELS.items():
        if given.names and name not in given.names:
            continue
        total += 1
        try:
            right += measured(name, made, given)
        except Exception as why:
            print(f"{name:16} failed: {type(why).__name__}: {str(why).strip().splitlines()[0][:140]}", flush=True)
    print(f"{right} of {total} are right")


if __name__ == "__main__":
    main()
