//! Kernels that fill shared memory ahead of what reads it, emulated: by asynchronous copies and by TMA of tensors.

use crate::common::{Numbers, complaint, succeed};
use fusion_runtime::npz;
use std::fs;

/// A kernel that fills one of two slots ahead by asynchronous copies, or the slot that it reads in the same step.
fn in_turn(wait: u64, ahead: bool) -> String {
    let fill = match ahead {
        true => {
            "%next = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
             %exists = arith.cmpi slt, %next, %end : index
             loop.guard %exists {
               %from = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%next, %t)
               %to = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 32 + d1)>(%next, %t)
               loop.copy_async 1 from %x[%from] to %s[%to] : memref<256xf32>, memref<64xf32>
               loop.yield
             }
             loop.copy_commit"
        }
        false => {
            "%from = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%k, %t)
             %to = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 32 + d1)>(%k, %t)
             %v = loop.load %x[%from] : memref<256xf32> -> f32
             loop.store %v, %s[%to] : f32, memref<64xf32>"
        }
    };
    format!(
        "func.func @main(%x: tensor<256xf32>) -> tensor<256xf32> {{
           %0 = te.call @turned(%x) : (tensor<256xf32>) -> tensor<256xf32>
           return %0 : tensor<256xf32>
         }}
         te.kernel @turned(%a: tensor<256xf32>) -> tensor<256xf32> {{
           %0 = te.extern \"turned\"(%a) {{
           ^bb0(%x: memref<256xf32>, %y: memref<256xf32>):
             %end = arith.constant 8 : index
             %s = loop.alloc shared slots 2 {{loop.ahead}} : memref<64xf32>
             loop.for 32 thread_x {{
             ^bb0(%t: index):
               loop.copy_async 1 from %x[%t] to %s[%t] : memref<256xf32>, memref<64xf32>
               loop.copy_commit
               loop.for 8 serial {{
               ^bb0(%k: index):
                 loop.copy_wait {wait}
                 {fill}
                 %m = affine.apply affine_map<(d0, d1) -> ((d0 mod 2) * 32 - d1 + 31)>(%k, %t)
                 %o = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%k, %t)
                 %b = loop.load %s[%m] : memref<64xf32> -> f32
                 loop.store %b, %y[%o] : f32, memref<256xf32>
                 loop.yield
               }} {{loop.ahead}}
               loop.yield
             }}
             loop.yield
           }} : (tensor<256xf32>) -> tensor<256xf32>
           te.return %0 : tensor<256xf32>
         }}"
    )
}

#[test]
fn the_emulator_finds_a_wait_or_a_barrier_that_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let x = Numbers(5).tensor(&[256]);
    npz::write(&here.join("x.npz"), [("input_0", &x)]).unwrap();
    let args =
        ["run", "k.mlir", "--inputs", "x.npz", "--outputs", "y.npz", "--target", "nvidia:sm_80", "--emulate"];
    fs::write(here.join("k.mlir"), in_turn(0, true)).unwrap();
    succeed(here, &args);
    let (x, y) = (x.to_f64s(), npz::read(&here.join("y.npz")).unwrap()["output_0"].to_f64s());
    assert!((0..256).all(|i| y[i] == x[i / 32 * 32 + 31 - i % 32]), "{y:?}");
    fs::write(here.join("k.mlir"), in_turn(1, true)).unwrap();
    let said = complaint(here, &args);
    assert!(said.contains("while an asynchronous copy of thread"), "{said}");
    // The attribute says that the steps fill other slots than they read, which this one does not.
    fs::write(here.join("k.mlir"), in_turn(0, false)).unwrap();
    let said = complaint(here, &args);
    assert!(said.contains("a race: it ") && said.contains("a barrier is missing"), "{said}");
}

/// A kernel of 64 threads without matrix instructions, whose slots boxes of 3 rows are copied to, ahead: the last one goes beyond the tensor.
const BOXES: &str = "func.func @main(%x: tensor<320xf32>) -> tensor<384xf32> {
     %0 = te.call @reversed(%x) : (tensor<320xf32>) -> tensor<384xf32>
     return %0 : tensor<384xf32>
   }
   te.kernel @reversed(%a: tensor<320xf32>) -> tensor<384xf32> {
     %0 = te.extern \"reversed\"(%a) {
     ^bb0(%x: memref<320xf32>, %y: memref<384xf32>):
       loop.for 64 thread_x {
       ^bb0(%t: index):
         %s = loop.alloc shared slots 3 : memref<288xf32>
         %zero = arith.constant 0 : index
         loop.for 4 serial {
         ^bb0(%k: index):
           %row = affine.apply affine_map<(d0) -> (d0 * 3)>(%k)
           %to = affine.apply affine_map<(d0) -> ((d0 mod 3) * 96)>(%k)
           loop.copy_tensor %x[%row, %zero] of [10, 32] box [3, 32] to %s[%to] : memref<320xf32>, memref<288xf32>
           %m = affine.apply affine_map<(d0, d1) -> ((d0 mod 3) * 96 - d1 + 95)>(%k, %t)
           %o = affine.apply affine_map<(d0, d1) -> (d0 * 96 + d1)>(%k, %t)
           %b = loop.load %s[%m] : memref<288xf32> -> f32
           loop.store %b, %y[%o] : f32, memref<384xf32>
           %c32 = arith.constant 32 : index
           %few = arith.cmpi slt, %t, %c32 : index
           loop.guard %few {
             %n = affine.apply affine_map<(d0, d1) -> ((d0 mod 3) * 96 - d1 + 31)>(%k, %t)
             %p = affine.apply affine_map<(d0, d1) -> (d0 * 96 + d1 + 64)>(%k, %t)
             %d = loop.load %s[%n] : memref<288xf32> -> f32
             loop.store %d, %y[%p] : f32, memref<384xf32>
             loop.yield
           }
           loop.yield
         }
         loop.yield
       }
       loop.yield
     } : (tensor<320xf32>) -> tensor<384xf32>
     te.return %0 : tensor<384xf32>
   }";

#[test]
fn tma_copies_ahead_of_who_reads() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let x = Numbers(6).tensor(&[320]);
    npz::write(&here.join("x.npz"), [("input_0", &x)]).unwrap();
    fs::write(here.join("k.mlir"), BOXES).unwrap();
    let args = [
        "run",
        "k.mlir",
        "--inputs",
        "x.npz",
        "--outputs",
        "y.npz",
        "--target",
        "nvidia:sm_90a",
        "--emulate",
    ];
    succeed(here, &args);
    let (x, y) = (x.to_f64s(), npz::read(&here.join("y.npz")).unwrap()["output_0"].to_f64s());
    for (i, found) in y.into_iter().enumerate() {
        let expected = x.get(i / 96 * 96 + 95 - i % 96).copied().unwrap_or(0.0);
        assert_eq!(found, expected, "element {i}");
    }
}
