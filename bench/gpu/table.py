"""What a run came to: a line a case while it goes, and tables."""


def _ms(value):
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def best_peer(ms):
    peers = {name: value for name, value in ms.items() if not name.startswith("fusion")}
    return min(peers.items(), key=lambda item: item[1]) if peers else (None, None)


def ratio(ms):
    """The best peer's time by ours: above 1 we are faster. Of models, both as captured graphs."""
    _, peer = best_peer(ms)
    return peer / min(v for k, v in ms.items() if k.startswith("fusion")) if peer else None


def line(result):
    if not result["ok"]:
        return f"FAILED {result['said'][:160]}"
    if "ms" in result:
        name, value = best_peer(result["ms"])
        against = f"{name} {_ms(value)}, ratio {ratio(result['ms']):.2f}" if name else "no peer"
        return f"{_ms(min(v for k, v in result['ms'].items() if k.startswith('fusion')))} ms; {against}"
    if "right" in result:
        if "error" not in result:
            return "right"
        beside = f" (eager {result['eager_error']:.1e})" if "eager_error" in result else ""
        return f"{'right' if result['right'] else 'WRONG'}, error {result['error']:.1e}{beside}"
    if "name" in result:
        return result["name"] if "copy_gb_s" not in result else f"{result['name']}: copy {result['copy_gb_s']:.0f} GB/s, f16 {result['f16_tflop_s']:.0f}, f32 {result['f32_tflop_s']:.0f} TFLOP/s"
    return result.get("said", "")


def _rate(case, ms):
    return f"{case['flops'] / ms / 1e9:.1f}" if case.get("flops") else f"{case['bytes'] / ms / 1e6:.0f} GB/s"


def markdown(manifest, results):
    cases = {c["name"]: c for c in manifest["cases"]}
    lines = [f"# Kernels of {manifest['target']}, fusion {manifest['version']}", ""]
    facts = results.get(("1", "facts"))
    if facts and facts["ok"] and "copy_gb_s" in facts:
        lines += [f"{facts['name']}, {facts['cores']} cores, torch {facts['torch']}, CUDA {facts['cuda']}. Ceilings: copy {facts['copy_gb_s']:.0f} GB/s; "
                  f"products (cuBLAS, TFLOP/s): f16 {facts['f16_tflop_s']:.0f}, bf16 {facts['bf16_tflop_s']:.0f}, tf32 {facts['tf32_tflop_s']:.0f}, "
                  f"f32 {facts['f32_tflop_s']:.0f}.", ""]
    checks = [r for (step, _), r in results.items() if step in "237"]
    if checks:
        wrong = [r for r in checks if not r.get("right")]
        lines += [f"{len(checks) - len(wrong)} of {len(checks)} cases are right.", ""]
        lines += [f"- {r['case']}: {line(r)}" for r in wrong] + [""] * bool(wrong)
    times = [r for (step, _), r in results.items() if step == "4" and r["ok"]]
    if times:
        lines += ["| case | fusion ms | TFLOP/s or GB/s | peers, ms | best peer / fusion |", "|---|---|---|---|---|"]
        for r in times:
            ours = min(v for k, v in r["ms"].items() if k.startswith("fusion"))
            mine = ", ".join(f"{k.removeprefix('fusion-')} {_ms(v)}" for k, v in r["ms"].items() if k.startswith("fusion-"))
            peers = ", ".join(f"{k} {_ms(v)}" for k, v in r["ms"].items() if not k.startswith("fusion"))
            by = f"{ratio(r['ms']):.2f}" if best_peer(r["ms"])[0] else "-"
            lines.append(f"| {r['case']} | {_ms(r['ms']['fusion'])}{' (' + mine + ')' if mine else ''} | {_rate(cases[r['case']], ours)} | {peers} | {by} |")
        lines.append("")
    for step, title in (("5", "compute-sanitizer"), ("6", "ncu")):
        found = [r for (s, _), r in results.items() if s == step]
        if found:
            bad = [r for r in found if not r["ok"]]
            lines += [f"## {title}", "", f"{len(found) - len(bad)} of {len(found)} runs without a finding.", ""]
            lines += [f"- {r['case']}: {r['said']}" for r in bad] + [""] * bool(bad)
    return "\n".join(lines)
