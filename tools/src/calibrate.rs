//! `fusion targets --calibrate`: measures this machine with small programs that the compiler makes code of.
//!
//! Each number is the best of many runs, since all that disturbs a run makes it longer:
//!
//! ```text
//!   peak             a tile of sums in registers += column x row, all operands in the first cache
//!   additions        a product by the inner-product trick, which passes the peak where vectors are added beside multiply-adds
//!   bandwidth        c[i] = a[i] + 3 b[i] over half of each cache, and over a multiple of all; on one core, on all
//!   kernel call      64 kernels that do nothing, less a program of one
//!   parallel loop    some microseconds of work on all threads, less their parts of the same work on one
//!   transcendental   exp of values in the first cache, in multiply-adds at the peak
//! ```
//!
//! Sizes of caches are the system's; what no program can tell (latencies, ports) stays as it was described.

use crate::failure::Failure;
use fusion::driver::{CompileOptions, Target as Compiled};
use fusion::load;
use fusion_machine::{Memory, Target};
use fusion_operators::Tensor;
use fusion_runtime::Module;
use fusion_targets::cpu::caches_of_system;
use std::path::Path;
use std::time::{Duration, Instant};

/// Seconds for each number.
const BUDGET: Duration = Duration::from_millis(400);

/// How far a product by the inner-product trick passes the peak where as many additions as multiply-adds begin in a cycle: by half at most.
const PASSED: f64 = 1.15;

/// Measures this machine, which is described so far by `known`, in a scratch directory.
pub fn calibrate(known: &Target, scratch: &Path) -> Result<Target, Failure> {
    let bench = Bench { scratch, target: known };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let mut target = Target { cores, ..known.clone() };
    caches_of_system(&mut target);
    target.peak_flops = bench.peak()?;
    let is_beside = bench.pairs()? > PASSED * target.peak_flops;
    target.additions = if is_beside { target.multiply_adds } else { 0 };

    let one = bench.seconds(&nothing(1), 1)?;
    target.kernel_call = ((bench.seconds(&nothing(65), 1)? - one) / 64.0).max(1e-10);
    target.transcendental =
        ((bench.seconds(EXP, 1)? - one) / 4096.0 * target.peak_flops / 2.0).clamp(1.0, 1e4);
    target.parallel_region = match cores {
        1 => known.parallel_region,
        _ => {
            // Work of some microseconds, so that the other threads get their parts of it.
            let seconds = |kind| bench.seconds(&streams(cores, 1024 * cores, 50, kind), cores);
            (seconds("parallel")? - seconds("serial")? / cores as f64).max(1e-9)
        }
    };

    let beyond = 4 * target.l3.bytes.max(target.l2.bytes * cores).clamp(16 << 20, 128 << 20);
    let (l1, l2, l3) = (target.l1.bytes / 2, target.l2.bytes / 2, target.l3.bytes / 2);
    bench.bandwidth(&mut target.l1, (l1, cores * l1), cores)?;
    bench.bandwidth(&mut target.l2, (l2, cores * l2), cores)?;
    if l3 > 0 {
        bench.bandwidth(&mut target.l3, (l3, l3), cores)?;
    }
    bench.bandwidth(&mut target.memory, (beyond, beyond), cores)?;
    Ok(target)
}

/// Runs programs.
struct Bench<'a> {
    scratch: &'a Path,
    target: &'a Target,
}

impl Bench<'_> {
    /// Seconds of the fastest run of a program on so many threads.
    fn seconds(&self, program: &str, threads: u64) -> Result<f64, Failure> {
        let file = self.scratch.join("program.mlir");
        std::fs::write(&file, program).map_err(Failure::file("write", &file))?;
        let options = CompileOptions::for_target(Compiled::default());
        let module = load::load(&file, &options)?;
        module.set_threads(threads as u16);
        let seconds = fastest(&module);
        module.set_threads(1);
        seconds
    }

    /// Operations a second of one core.
    fn peak(&self) -> Result<f64, Failure> {
        let (depth, again) = (64, 500);
        let columns = 2 * self.target.lanes(4);
        // All vectors but those of the row and a column.
        let rows = ((self.target.vector_registers - 3) / 2).min(14);
        let program = format!(
            r#"te.kernel @peak(%x: tensor<{depth}x{rows}xf32>, %w: tensor<{depth}x{columns}xf32>) -> tensor<{rows}x{columns}xf32> {{
  %0 = te.compute "sums" axes [{rows}, {columns}] reduce [{again}, {depth}] init [0.0 : f32] {{
  ^bb0(%i: index, %j: index, %r: index, %k: index):
    %a = te.load %x[%k, %i] : tensor<{depth}x{rows}xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<{depth}x{columns}xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  }} combine {{
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  }} : tensor<{rows}x{columns}xf32>
  te.return %0 : tensor<{rows}x{columns}xf32>
}}
te.schedule for @peak {{
  %s = te.stage "sums"
  %i, %j, %r, %k = te.axes %s : !te.axis, !te.axis, !te.axis, !te.axis
  te.reorder %r, %k, %i, %j
  te.unroll %i
  te.vectorize %j
}}
func.func @main(%x: tensor<{depth}x{rows}xf32>, %w: tensor<{depth}x{columns}xf32>) -> tensor<{rows}x{columns}xf32> {{
  %0 = te.call @peak(%x, %w) : (tensor<{depth}x{rows}xf32>, tensor<{depth}x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  return %0 : tensor<{rows}x{columns}xf32>
}}"#
        );
        Ok((2 * again * depth * rows * columns) as f64 / self.seconds(&program, 1)?)
    }

    /// Operations a second of one core that the definition of a product has which is made by the inner-product trick.
    fn pairs(&self) -> Result<f64, Failure> {
        let (rows, depth, columns) = (168, 192, 256);
        let all = fusion_operators::ops::inner_product_trick::rows(depth);
        let (x, u, y) = (
            format!("tensor<{rows}x{depth}xf32>"),
            format!("tensor<{all}x{columns}xf32>"),
            format!("tensor<{rows}x{columns}xf32>"),
        );
        let program = format!(
            r#"func.func @main(%x: {x}, %u: {u}) -> {y} {{
  %0 = relay.matmul_inner_product_trick %x, %u : ({x}, {u}) -> {y}
  return %0 : {y}
}}"#
        );
        Ok((2 * rows * depth * columns) as f64 / self.seconds(&program, 1)?)
    }

    /// The bandwidth of a level over `bytes` on one core and on all.
    fn bandwidth(&self, level: &mut Memory, bytes: (u64, u64), cores: u64) -> Result<(), Failure> {
        let rate = |bytes: u64, cores: u64| {
            // Enough of them that a call is nothing against it.
            let again = ((4 << 20) / (bytes / cores)).max(1);
            let program = streams(cores, bytes / 12, again, "parallel");
            Ok::<_, Failure>((bytes * again) as f64 / self.seconds(&program, cores)?)
        };
        level.bandwidth = rate(bytes.0, 1)?;
        level.bandwidth_all =
            if cores == 1 { level.bandwidth } else { rate(bytes.1, cores)?.max(level.bandwidth) };
        Ok(())
    }
}

/// Seconds of the fastest run on tensors of ones.
fn fastest(module: &Module) -> Result<f64, Failure> {
    let ones = |shape: &[usize]| Tensor::from_slice(shape, &vec![1.0f32; shape.iter().product()]);
    let inputs: Vec<Tensor> =
        module.description().inputs.iter().map(|input| ones(&input.shape)).collect::<Result<_, _>>()?;
    let mut session = module.session()?;
    let (begin, mut best) = (Instant::now(), f64::INFINITY);
    while begin.elapsed() < BUDGET {
        let start = Instant::now();
        session.run(&inputs)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// So many kernels of sixteen elements after each other.
fn nothing(kernels: usize) -> String {
    let mut text = String::from(
        r#"te.kernel @k(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = te.compute "next" axes [16] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %x[%i] : tensor<16xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<16xf32>
  te.return %0 : tensor<16xf32>
}
func.func @main(%v0: tensor<16xf32>) -> tensor<16xf32> {
"#,
    );
    for i in 0..kernels {
        text.push_str(&format!("  %v{} = te.call @k(%v{i}) : (tensor<16xf32>) -> tensor<16xf32>\n", i + 1));
    }
    text + &format!("  return %v{kernels} : tensor<16xf32>\n}}\n")
}

const EXP: &str = "func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = relay.exp %x : (tensor<4096xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}";

/// Three arrays of together 12 bytes for each of `elements`, gone over `again` and again, a part for each core.
fn streams(cores: u64, elements: u64, again: u64, kind: &str) -> String {
    const LANES: u64 = 16;
    let steps = (elements / (cores * LANES)).max(1);
    let (part, elements) = (steps * LANES, steps * LANES * cores);
    format!(
        r#"te.kernel @streams(%x: tensor<{elements}xf32>, %y: tensor<{elements}xf32>) -> tensor<{elements}xf32> {{
  %0 = te.extern "streams"(%x, %y) {{
  ^bb0(%a: memref<{elements}xf32>, %b: memref<{elements}xf32>, %c: memref<{elements}xf32>):
    %s = arith.constant 3.0 : f32
    loop.for {cores} {kind} {{
    ^bb1(%p: index):
      loop.for {again} serial {{
      ^bb2(%r: index):
        loop.for {steps} serial {{
        ^bb3(%o: index):
          loop.for {LANES} vectorized {{
          ^bb4(%i: index):
            %n = affine.apply affine_map<(p, o, i) -> (p * {part} + o * {LANES} + i)>(%p, %o, %i)
            %0 = loop.load %a[%n] : memref<{elements}xf32> -> f32
            %1 = loop.load %b[%n] : memref<{elements}xf32> -> f32
            %2 = arith.mulf %1, %s : f32
            %3 = arith.addf %0, %2 fastmath<contract> : f32
            loop.store %3, %c[%n] : f32, memref<{elements}xf32>
            loop.yield
          }}
          loop.yield
        }}
        loop.yield
      }}
      loop.yield
    }}
    loop.yield
  }} : (tensor<{elements}xf32>, tensor<{elements}xf32>) -> tensor<{elements}xf32>
  te.return %0 : tensor<{elements}xf32>
}}
func.func @main(%x: tensor<{elements}xf32>, %y: tensor<{elements}xf32>) -> tensor<{elements}xf32> {{
  %0 = te.call @streams(%x, %y) : (tensor<{elements}xf32>, tensor<{elements}xf32>) -> tensor<{elements}xf32>
  return %0 : tensor<{elements}xf32>
}}"#
    )
}
