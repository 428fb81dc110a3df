//! Schedules for GPUs that are written by hand: they compute what the processor does, or are refused.

use crate::common::{Numbers, command, succeed};
use fusion_runtime::npz;
use std::fs;

/// Runs a product with a function behind it under a schedule of stages `%s` and `%r`; gives how far off it is, or what was said.
fn under(schedule: &str, gpu: &str) -> Result<f64, String> {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let text = "func.func @main(%x: tensor<12x20xf32>, %w: tensor<16x20xf32>) -> tensor<12x16xf32> {
        %0 = relay.dense %x, %w : (tensor<12x20xf32>, tensor<16x20xf32>) -> tensor<12x16xf32>
        %1 = relay.relu %0 : (tensor<12x16xf32>) -> tensor<12x16xf32>
        return %1 : tensor<12x16xf32>
      }";
    fs::write(here.join("m.mlir"), text).unwrap();
    let schedule = format!(
        "te.schedule for @fused_dense_relu_0 {{
           %s = te.stage \"dense\"
           %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
           %r = te.stage \"relu_1\"
           %a, %b = te.axes %r : !te.axis, !te.axis
           {schedule}
         }}"
    );
    fs::write(here.join("s.mlir"), schedule).unwrap();
    let mut numbers = Numbers(3);
    let inputs = [("input_0", numbers.tensor(&[12, 20])), ("input_1", numbers.tensor(&[16, 20]))];
    npz::write(&here.join("x.npz"), inputs.iter().map(|(name, tensor)| (*name, tensor))).unwrap();
    let run = ["run", "m.mlir", "--inputs", "x.npz", "--outputs", "y.npz"];
    let outcome = || npz::read(&here.join("y.npz")).unwrap()["output_0"].to_f64s();
    succeed(here, &run);
    let wanted = outcome();
    let emulated = [&run[..], &["--schedule", "s.mlir", "--target", gpu, "--emulate"]].concat();
    let done = command(here, &emulated).output().unwrap();
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    let off = |(a, b): (&f64, &f64)| if a.is_finite() { (a - b).abs() } else { f64::INFINITY };
    Ok(outcome().iter().zip(&wanted).map(off).fold(0.0, f64::max))
}

#[test]
fn schedules_are_right_or_refused() {
    let refused = [
        (
            "te.bind %i to block_x\n te.reorder %j, %k, %i",
            "stands inside a reduction; reorder it to stand outside",
        ),
        ("te.compute_at %s, %a\n te.bind %j to thread_y", "a buffer that each thread has for itself"),
        (
            "te.set_scope %s to local\n te.bind %i to thread_x\n te.bind %b to thread_x",
            "a buffer that each thread has for itself, which another along thread_x may have written",
        ),
        (
            "te.set_scope %s to shared\n te.bind %i to block_x\n te.bind %b to block_x",
            "shared memory, which each block has for itself, which another along block_x may have written",
        ),
        (
            "%o, %n = te.split %k by 5\n te.compute_at %s, %a\n te.reorder %n, %o, %j, %i\n te.bind %o to thread_x",
            "a buffer that each thread has for itself",
        ),
    ];
    for (schedule, why) in refused {
        match under(schedule, "nvidia:sm_80") {
            // Kernels are called what the program calls them, also where they are compiled under a name of their content.
            Err(said) => {
                assert!(said.contains(why) && said.contains("@fused_dense_relu_0"), "{schedule}\n{said}");
            }
            Ok(off) => panic!("was not refused, and is off by {off}:\n{schedule}"),
        }
    }
    let right = [
        "te.set_scope %s to shared\n te.bind %a to block_x\n te.bind %b to thread_x",
        "%p = te.input 1\n %c = te.cache_read %p as \"c\"\n te.set_scope %c to shared",
        "te.set_scope %s to local\n te.bind %i to thread_x\n te.bind %a to thread_x",
        "te.set_scope %s to shared\n te.bind %i to block_x\n te.bind %a to block_x\n te.bind %b to thread_x",
    ];
    for schedule in right {
        let off = under(schedule, "amd:gfx942");
        assert!(off.as_ref().is_ok_and(|off| *off < 1e-4), "{schedule}\n{off:?}");
    }
}

#[test]
fn grids_have_as_many_blocks_as_they_can_have() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let many = "func.func @main(%x: tensor<100000x16x32xf32>, %w: tensor<100000x32x16xf32>) -> tensor<100000x16x16xf32> {
        %0 = relay.batch_matmul %x, %w : (tensor<100000x16x32xf32>, tensor<100000x32x16xf32>) -> tensor<100000x16x16xf32>
        return %0 : tensor<100000x16x16xf32>
      }";
    let long =
        "func.func @main(%x: tensor<9000000x32xf32>, %w: tensor<32x64xf32>) -> tensor<9000000x64xf32> {
        %0 = relay.matmul %x, %w : (tensor<9000000x32xf32>, tensor<32x64xf32>) -> tensor<9000000x64xf32>
        return %0 : tensor<9000000x64xf32>
      }";
    for text in [many, long] {
        fs::write(here.join("m.mlir"), text).unwrap();
        for gpu in ["nvidia:sm_90a", "amd:gfx942"] {
            succeed(here, &["compile", "m.mlir", "--target", gpu, "-o", "m.so"]);
        }
    }
}
