//! MLIR's language server, knowing the dialects of fusion.

fn main() {
    std::process::exit(fusion_dialects::lsp_server_main());
}
