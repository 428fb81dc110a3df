//! The table of GPUs in `docs/reference/targets.md` is what their descriptions say. `make docs` writes it.

use fusion_targets::gpu::VENDORS;
use std::fs;
use std::path::Path;

/// What stands before and behind the table.
const MARKS: [&str; 2] = [
    "<!-- The table is made of the descriptions by `make docs`; edit those. -->\n",
    "<!-- Here the table ends. -->",
];

const HEAD: &str = "| target | a card that has it | cores | f32, TFLOP/s | f16 by matrix instructions | memory, GB/s | shared by a block, KiB | matrix instructions |
|---|---|---|---|---|---|---|---|
";

#[test]
fn the_table_of_gpus_is_what_they_are_described_as() {
    let mut table = HEAD.to_owned();
    for vendor in VENDORS {
        for target in vendor.descriptions() {
            let target = target.expect("a description");
            let gpu = &target.gpu;
            let tera = |of_core: f64| (of_core * target.cores as f64 / 1e12).round();
            let mut kinds: Vec<&str> = gpu.matrix.split_whitespace().map(kind).collect();
            kinds.dedup();
            table += &format!(
                "| `{}:{}` | {} | {} | {} | {} | {:.0} | {} | {} |\n",
                vendor.name,
                target.name,
                target.about,
                target.cores,
                tera(target.peak_flops),
                tera(gpu.matrix_flops),
                target.memory.bandwidth_all / 1e9,
                gpu.most_shared_bytes >> 10,
                kinds.join(", "),
            );
        }
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/targets.md");
    let text = fs::read_to_string(&page).expect("a page");
    let (before, rest) = text.split_once(MARKS[0]).expect("a mark before the table");
    let (found, behind) = rest.split_once(MARKS[1]).expect("a mark behind the table");
    if std::env::var_os("FUSION_WRITE_DOCS").is_some() {
        fs::write(&page, [before, MARKS[0], &table, MARKS[1], behind].concat()).expect("docs can be written");
        return;
    }
    assert!(found == table, "docs/reference/targets.md is not what the descriptions say; run `make docs`");
}

/// What an instruction is but for its extents and type: `mma_m16n8k16_f16` is `mma`.
fn kind(name: &str) -> &str {
    name.split_once('_').map_or(name, |(kind, _)| kind)
}
