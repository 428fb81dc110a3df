//! Schedules written by hand that give rows to warps and elements to their lanes, emulated on a GPU of each vendor.

use crate::common::{Numbers, complaint, succeed};
use fusion_runtime::npz;
use std::fs;

/// Warps of these have 32 and 64 threads.
const GPUS: [(&str, u64); 2] = [("nvidia:sm_80", 32), ("amd:gfx942", 64)];

/// Each row of 61 by its sum: a warp has a row, whose sum its lanes combine, and a block has eight of them.
fn by_their_sums(warp: u64) -> String {
    format!(
        "func.func @main(%x: tensor<61x100xf32>) -> tensor<61x100xf32> {{
           %0 = te.call @rows(%x) : (tensor<61x100xf32>) -> tensor<61x100xf32>
           return %0 : tensor<61x100xf32>
         }}
         te.kernel @rows(%x: tensor<61x100xf32>) -> tensor<61x100xf32> {{
           %0 = te.compute \"sum\" axes [61] reduce [100] init [0.0 : f32] {{
           ^bb0(%i: index, %k: index):
             %a = te.load %x[%i, %k] : tensor<61x100xf32> -> f32
             %b = math.absf %a : f32
             te.yield %b : f32
           }} combine {{
           ^bb0(%p: f32, %q: f32):
             %m = arith.addf %p, %q : f32
             te.yield %m : f32
           }} : tensor<61xf32>
           %1 = te.compute \"divided\" axes [61, 100] reduce [] init [] {{
           ^bb0(%i: index, %j: index):
             %a = te.load %x[%i, %j] : tensor<61x100xf32> -> f32
             %s = te.load %0[%i] : tensor<61xf32> -> f32
             %b = arith.divf %a, %s : f32
             te.yield %b : f32
           }} combine {{}} : tensor<61x100xf32>
           te.return %1 : tensor<61x100xf32>
         }}
         te.schedule for @rows {{
           %y = te.stage \"divided\"
           %i, %j = te.axes %y : !te.axis, !te.axis
           %b, %w = te.split %i by 8 tail guard
           %o, %l = te.split %j by {warp} tail guard
           te.bind %b to block_x
           te.bind %w to warp
           te.bind %l to lane
           %s = te.stage \"sum\"
           te.compute_at %s, %w
           %si, %sk = te.axes %s : !te.axis, !te.axis
           %so, %sl = te.split %sk by {warp} tail guard
           te.bind %sl to lane
         }}"
    )
}

/// Parts of 96 elements turned around, through a copy in shared memory that other warps have made: four of them with 24 lanes each.
const TURNED: &str = "func.func @main(%x: tensor<5x96xf32>) -> tensor<5x96xf32> {
       %0 = te.call @turned(%x) : (tensor<5x96xf32>) -> tensor<5x96xf32>
       return %0 : tensor<5x96xf32>
     }
     te.kernel @turned(%x: tensor<5x96xf32>) -> tensor<5x96xf32> {
       %0 = te.compute \"turned\" axes [5, 96] reduce [] init [] {
       ^bb0(%b: index, %i: index):
         %from = affine.apply affine_map<(d0) -> (-d0 + 95)>(%i)
         %a = te.load %x[%b, %from] : tensor<5x96xf32> -> f32
         te.yield %a : f32
       } combine {} : tensor<5x96xf32>
       te.return %0 : tensor<5x96xf32>
     }
     te.schedule for @turned {
       %t = te.stage \"turned\"
       %b, %i = te.axes %t : !te.axis, !te.axis
       %w, %l = te.split %i by 24
       te.bind %b to block_x
       te.bind %w to warp
       te.bind %l to lane
       %x = te.input 0
       %c = te.cache_read %x as \"copy\" for %t
       te.compute_at %c, %b
       te.set_scope %c to shared
       %cb, %ci = te.axes %c : !te.axis, !te.axis
       %cw, %cl = te.split %ci by 24
       te.bind %cw to warp
       te.bind %cl to lane
     }";

#[test]
fn rows_of_warps_and_elements_of_lanes_are_those_of_the_processor() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let x = Numbers(12).tensor(&[61, 100]);
    npz::write(&here.join("x.npz"), [("input_0", &x)]).unwrap();
    let x = x.to_f64s();
    for (gpu, warp) in GPUS {
        fs::write(here.join("k.mlir"), by_their_sums(warp)).unwrap();
        let args = ["run", "k.mlir", "--inputs", "x.npz", "--outputs", "y.npz", "--target", gpu, "--emulate"];
        succeed(here, &args);
        let y = npz::read(&here.join("y.npz")).unwrap()["output_0"].to_f64s();
        for (row, (given, found)) in x.chunks(100).zip(y.chunks(100)).enumerate() {
            let sum: f64 = given.iter().map(|v| v.abs()).sum();
            let off = given.iter().zip(found).map(|(g, f)| (g / sum - f).abs()).fold(0.0, f64::max);
            // Not a number is not below.
            assert!(
                found.iter().all(|v| v.is_finite()) && off < 1e-6,
                "row {row} on {gpu} is off by {off:e}"
            );
        }
    }
}

#[test]
fn warps_wait_for_what_others_put_into_shared_memory() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let x = Numbers(13).tensor(&[5, 96]);
    npz::write(&here.join("x.npz"), [("input_0", &x)]).unwrap();
    fs::write(here.join("k.mlir"), TURNED).unwrap();
    let x = x.to_f64s();
    for (gpu, _) in GPUS {
        let args = ["run", "k.mlir", "--inputs", "x.npz", "--outputs", "y.npz", "--target", gpu, "--emulate"];
        succeed(here, &args);
        let y = npz::read(&here.join("y.npz")).unwrap()["output_0"].to_f64s();
        assert!((0..480).all(|i| y[i] == x[i / 96 * 96 + 95 - i % 96]), "{gpu}: {y:?}");
    }
}

#[test]
fn lanes_that_a_warp_has_not_are_told() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("k.mlir"), by_their_sums(64)).unwrap();
    let said = complaint(directory.path(), &["compile", "k.mlir", "--target", "nvidia:sm_80", "-o", "k.so"]);
    assert!(
        said.contains("binds a loop of 64 iterations of stage \"divided\"")
            && said.contains("a warp of sm_80 has 32 lanes"),
        "{said}"
    );
}
