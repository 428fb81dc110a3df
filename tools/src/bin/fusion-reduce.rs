//! mlir-reduce with the dialects and passes of fusion.

fn main() {
    fusion::register_passes();
    std::process::exit(fusion_dialects::reduce_main());
}
