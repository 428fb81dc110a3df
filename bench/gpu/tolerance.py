"""How far results may be from those in double precision: of |error| / |expected|, both as norms."""

RELATIVE = {"f64": 1e-12, "f32": 2e-6, "f16": 2e-3, "bf16": 1.5e-2, "i64": 0.0, "i32": 0.0}


def tolerance(record):
    most = max(RELATIVE[dtype] for _, _, dtype in record["outputs"])
    if "--fp-math=fast" in record["options"]:
        most = 1e-3
    if record["family"] == "convolution" and most < 1e-5:
        most = 1e-5  # Winograd's transforms round as well
    return most * (8 if record.get("model") else 1)
