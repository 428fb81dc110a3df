"""A case on the device, judged and timed by PyTorch; emulated ones on the host, where timing says nothing of a GPU."""

import json

import torch
from evaluate import TORCH, Evaluator, set_tf32, tensor_input
from library import Library
from tolerance import tolerance


class Case:
    def __init__(self, cases, name):
        self.record = json.loads((cases / f"{name}.json").read_text())
        self.library = Library(cases / f"{name}.so")
        self.emulated = self.library.description["device"] == "emulated"
        self.device = "cpu" if self.emulated else "cuda"
        self.inputs = [tensor_input(shape, dtype, fill, self.device, 17 + i)
                       for i, (_, shape, dtype, fill) in enumerate(self.record["inputs"])]
        self.outputs = [torch.empty(shape, dtype=TORCH[dtype], device=self.device) for _, shape, dtype in self.record["outputs"]]
        address = lambda tensors: [t.data_ptr() for t in tensors]
        self.once = self.library.call(address(self.inputs), address(self.outputs))

    def poison(self):
        for y in self.outputs:
            y.fill_(float("nan") if y.is_floating_point() else 77)

    def on_stream(self):
        self.once(torch.cuda.current_stream().cuda_stream)

    def errors(self, expected):
        """The largest of |y - e| / |e|, as norms, and of the largest difference by the largest element; whether all is written."""
        norm, most = 0.0, 0.0
        for y, e in zip(self.outputs, expected):
            difference = (y.double() - e.double()).abs()
            if not bool(torch.isfinite(difference).all()):
                unwritten = int(torch.isnan(y).sum()) if y.is_floating_point() else -1
                raise RuntimeError(f"{unwritten} of {y.numel()} elements are no numbers")
            norm = max(norm, float(difference.norm() / e.double().norm().clamp_min(1e-30)))
            most = max(most, float(difference.max() / e.double().abs().max().clamp_min(1e-30)))
        return norm, most


def check(case):
    case.poison()
    case.once()
    judge = Evaluator(case.record, "f64", case.device)
    expected = judge(*judge.given(case.inputs))
    norm, most = case.errors(expected)
    answer = {"error": norm, "largest": most, "right": norm <= tolerance(case.record)}
    if not case.emulated:
        first = [y.clone() for y in case.outputs]
        for _ in range(3):
            case.poison()
            case.once()
            if not all(torch.equal(a, b) for a, b in zip(first, case.outputs)):
                raise RuntimeError("runs on the same inputs differ")
        case.poison()
        case.on_stream()
        torch.cuda.synchronize()
        if not all(torch.equal(a, b) for a, b in zip(first, case.outputs)):
            raise RuntimeError("a run on a stream of the caller's differs")
        eager = Evaluator(case.record, device=case.device)
        set_tf32(case.record)
        case.outputs = eager(*case.inputs)
        answer["eager_error"] = case.errors(expected)[0]
    return answer


def timed(case, wanted):
    import peers
    from timing import Clock

    clock = Clock(case.device)
    case.once()
    contenders, failed = peers.contenders(case.record, case.inputs, [p for p in case.record["peers"] if p in wanted], case.device)
    ours = {"fusion": case.once if case.emulated else case.on_stream}
    if case.record.get("model") and not case.emulated:
        ours["fusion-graph"] = peers.graph_of(case.on_stream)
    medians, quartiles = clock.compare(ours | contenders)
    launches = case.library.profiled(case.once)
    total = {}
    for kernel, grid, block, shared, seconds in launches:
        key = f"{kernel} {'x'.join(map(str, grid))} of {'x'.join(map(str, block))}, {shared} B"
        total[key] = total.get(key, 0) + seconds * 1e3
    slowest = dict(sorted(total.items(), key=lambda item: -item[1])[:12])
    return {"ms": medians, "quartiles": quartiles, "failed": failed, "kernels": slowest, "launches": len(launches)}


def device():
    """The GPU that PyTorch finds, and its compute capability."""
    if not torch.cuda.is_available():
        raise RuntimeError("There is no GPU, or no driver for it: PyTorch finds no CUDA device; look whether nvidia-smi shows one to this program.")
    major, minor = torch.cuda.get_device_capability()
    return {"name": torch.cuda.get_device_name(), "capability": f"{major}{minor}"}


def facts():
    """The device, and its ceilings as libraries reach them: bytes copied, products."""
    from timing import Clock

    if not torch.cuda.is_available():
        return {"name": "this machine's processor, emulating", "torch": torch.__version__}
    p, clock = torch.cuda.get_device_properties(0), Clock("cuda")
    answer = {"name": p.name, "cores": p.multi_processor_count, "memory": p.total_memory, "l2": p.L2_cache_size, "torch": torch.__version__,
              "cuda": torch.version.cuda}
    x = torch.empty(1 << 30, dtype=torch.uint8, device="cuda").random_()
    y = torch.empty_like(x)
    contenders = {"copy": lambda: y.copy_(x)}
    for name, dtype in (("f16", torch.float16), ("bf16", torch.bfloat16), ("tf32", torch.float32), ("f32", torch.float32)):
        n = 8192 if name in ("f16", "bf16") else 4096
        a, b = torch.randn(n, n, device="cuda").to(dtype), torch.randn(n, n, device="cuda").to(dtype)

        def product(a=a, b=b, tf32=name == "tf32"):
            torch.backends.cuda.matmul.allow_tf32 = tf32
            a @ b

        contenders[name] = product
    medians, _ = clock.compare(contenders, 2500)
    flops = lambda n: 2 * n**3
    answer["copy_gb_s"] = 2 * (1 << 30) / medians["copy"] / 1e6
    for name in ("f16", "bf16", "tf32", "f32"):
        answer[f"{name}_tflop_s"] = flops(8192 if name in ("f16", "bf16") else 4096) / medians[name] / 1e9
    return answer
