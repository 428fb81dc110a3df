//! The lit suite; `cargo test -p fusion-test` runs it (`lit.rs`).
