//! Kernels with extents that tiles and vectors do not divide.

use crate::common::random::Random;

/// A kernel `@k`: its text, the shapes of its arguments, and of its results.
pub struct Kernel {
    pub text: String,
    pub inputs: Vec<Vec<u64>>,
    pub outputs: Vec<Vec<u64>>,
}

pub type Make = fn(&mut Random) -> Kernel;

/// All kinds.
pub const ALL: &[(&str, Make)] = &[
    ("matmul", matmul),
    ("convolution", convolution),
    ("softmax", softmax),
    ("chain", chain),
    ("heads", heads),
];

/// Intrinsics that some schedules name: a row times a number, and a small product of matrices.
pub const INTRINSICS: &str = "
te.intrinsic @row computes {
^bb0(%a: tensor<f32>, %b: tensor<4xf32>):
  %c = te.compute \"c\" axes [4] reduce [] init [] {
  ^bb0(%j: index):
    %p = te.load %a[] : tensor<f32> -> f32
    %q = te.load %b[%j] : tensor<4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {} : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<1xf32>, %a0: index, %b: memref<4xf32>, %b0: index, %bs: index, %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %p = loop.load %a[%a0] : memref<1xf32> -> f32
    %bj = arith.muli %j, %bs : index
    %bp = arith.addi %b0, %bj : index
    %cj = arith.muli %j, %cs : index
    %cp = arith.addi %c0, %cj : index
    %q = loop.load %b[%bp] : memref<4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    loop.store %m, %c[%cp] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.intrinsic @tile computes {
^bb0(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>):
  %c = te.compute \"c\" axes [2, 4] reduce [3] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %p = te.load %a[%i, %k] : tensor<2x3xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<3x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<2x4xf32>
  te.return %c : tensor<2x4xf32>
} by {
^bb0(%a: memref<6xf32>, %a0: index, %as0: index, %as1: index,
     %b: memref<12xf32>, %b0: index, %bs0: index, %bs1: index,
     %c: memref<8xf32>, %c0: index, %cs0: index, %cs1: index):
  loop.for 2 serial {
  ^bb0(%i: index):
    loop.for 4 serial {
    ^bb0(%j: index):
      %ci = arith.muli %i, %cs0 : index
      %cj = arith.muli %j, %cs1 : index
      %cr = arith.addi %c0, %ci : index
      %cp = arith.addi %cr, %cj : index
      %old = loop.load %c[%cp] : memref<8xf32> -> f32
      %new = loop.for 3 serial iter(%old : f32) {
      ^bb0(%k: index, %acc: f32):
        %ai = arith.muli %i, %as0 : index
        %ak = arith.muli %k, %as1 : index
        %ar = arith.addi %a0, %ai : index
        %ap = arith.addi %ar, %ak : index
        %bk = arith.muli %k, %bs0 : index
        %bj = arith.muli %j, %bs1 : index
        %br = arith.addi %b0, %bk : index
        %bp = arith.addi %br, %bj : index
        %p = loop.load %a[%ap] : memref<6xf32> -> f32
        %q = loop.load %b[%bp] : memref<12xf32> -> f32
        %m = arith.mulf %p, %q : f32
        %s = arith.addf %acc, %m : f32
        loop.yield %s : f32
      } -> f32
      loop.store %new, %c[%cp] : f32, memref<8xf32>
      loop.yield
    }
    loop.yield
  }
  loop.yield
}
";

const SUM: &str = "combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    te.yield %s : f32
  }";

/// A product of matrices, a bias, and a rectifier.
fn matmul(random: &mut Random) -> Kernel {
    let [m, n, k] = [[4, 5, 7, 12], [4, 8, 11, 16], [3, 6, 9, 13]].map(|choices| random.of(&choices));
    let text = format!(
        "te.kernel @k(%x: tensor<{m}x{k}xf32>, %w: tensor<{k}x{n}xf32>, %b: tensor<{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %0 = te.compute \"dense\" axes [{m}, {n}] reduce [{k}] init [0.0 : f32] {{
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<{m}x{k}xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<{k}x{n}xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  }} {SUM} : tensor<{m}x{n}xf32>
  %1 = te.compute \"bias\" axes [{m}, {n}] reduce [] init [] {{
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%i, %j] : tensor<{m}x{n}xf32> -> f32
    %c = te.load %b[%j] : tensor<{n}xf32> -> f32
    %d = arith.addf %a, %c : f32
    te.yield %d : f32
  }} combine {{}} : tensor<{m}x{n}xf32>
  %2 = te.compute \"relu\" axes [{m}, {n}] reduce [] init [] {{
  ^bb0(%i: index, %j: index):
    %a = te.load %1[%i, %j] : tensor<{m}x{n}xf32> -> f32
    %z = arith.constant 0.0 : f32
    %d = arith.maximumf %a, %z : f32
    te.yield %d : f32
  }} combine {{}} : tensor<{m}x{n}xf32>
  te.return %2 : tensor<{m}x{n}xf32>
}}
"
    );
    Kernel { text, inputs: vec![vec![m, k], vec![k, n], vec![n]], outputs: vec![vec![m, n]] }
}

/// A product of matrices whose columns are heads, each of which is given apart, and a rectifier.
fn heads(random: &mut Random) -> Kernel {
    let [s, h, d, k] = [[3, 4, 7], [1, 2, 3], [4, 5, 8], [3, 6, 9]].map(|choices| random.of(&choices));
    let n = h * d;
    let text = format!(
        "te.kernel @k(%x: tensor<{s}x{k}xf32>, %w: tensor<{k}x{n}xf32>) -> tensor<{h}x{s}x{d}xf32> {{
  %0 = te.compute \"dense\" axes [{s}, {n}] reduce [{k}] init [0.0 : f32] {{
  ^bb0(%i: index, %j: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<{s}x{k}xf32> -> f32
    %c = te.load %w[%r, %j] : tensor<{k}x{n}xf32> -> f32
    %d = arith.mulf %a, %c : f32
    te.yield %d : f32
  }} {SUM} : tensor<{s}x{n}xf32>
  %1 = te.compute \"apart\" axes [{s}, {h}, {d}] reduce [] init [] {{
  ^bb0(%i: index, %h: index, %j: index):
    %n = arith.constant {d} : index
    %hn = arith.muli %h, %n : index
    %c = arith.addi %hn, %j : index
    %a = te.load %0[%i, %c] : tensor<{s}x{n}xf32> -> f32
    te.yield %a : f32
  }} combine {{}} : tensor<{s}x{h}x{d}xf32>
  %2 = te.compute \"relu\" axes [{h}, {s}, {d}] reduce [] init [] {{
  ^bb0(%h: index, %i: index, %j: index):
    %a = te.load %1[%i, %h, %j] : tensor<{s}x{h}x{d}xf32> -> f32
    %z = arith.constant 0.0 : f32
    %d = arith.maximumf %a, %z : f32
    te.yield %d : f32
  }} combine {{}} : tensor<{h}x{s}x{d}xf32>
  te.return %2 : tensor<{h}x{s}x{d}xf32>
}}
"
    );
    Kernel { text, inputs: vec![vec![s, k], vec![k, n]], outputs: vec![vec![h, s, d]] }
}

/// A padded convolution along two axes, with a pad stage and an epilogue.
fn convolution(random: &mut Random) -> Kernel {
    dilated(random, 1)
}

/// The same with windows whose elements are so far apart, so that they begin as far outside.
pub fn dilated(random: &mut Random, by: u64) -> Kernel {
    let [c, f, h, w] = [[1, 2], [2, 3], [4, 5], [5, 7]].map(|choices| random.of(&choices));
    let (ph, pw) = (h + 2 * by, w + 2 * by);
    let text = format!(
        "te.kernel @k(%x: tensor<{c}x{h}x{w}xf32>, %w: tensor<{f}x{c}x3x3xf32>) -> tensor<{f}x{h}x{w}xf32> {{
  %0 = te.compute \"pad\" axes [{c}, {ph}, {pw}] reduce [] init [] {{
  ^bb0(%n: index, %i: index, %j: index):
    %by = arith.constant {by} : index
    %zero = arith.constant 0 : index
    %h = arith.constant {h} : index
    %ww = arith.constant {w} : index
    %z = arith.constant 0.0 : f32
    %a = arith.subi %i, %by : index
    %b = arith.subi %j, %by : index
    %p = arith.cmpi sge, %a, %zero : index
    %q = arith.cmpi slt, %a, %h : index
    %r = arith.cmpi sge, %b, %zero : index
    %s = arith.cmpi slt, %b, %ww : index
    %t = arith.andi %p, %q : i1
    %u = arith.andi %r, %s : i1
    %v = arith.andi %t, %u : i1
    %e = te.load_if %v, %x[%n, %a, %b] else %z : tensor<{c}x{h}x{w}xf32> -> f32
    te.yield %e : f32
  }} combine {{}} : tensor<{c}x{ph}x{pw}xf32>
  %1 = te.compute \"conv\" axes [{f}, {h}, {w}] reduce [{c}, 3, 3] init [0.0 : f32] {{
  ^bb0(%o: index, %i: index, %j: index, %n: index, %y: index, %xx: index):
    %by = arith.constant {by} : index
    %k = arith.muli %y, %by : index
    %l = arith.muli %xx, %by : index
    %a = arith.addi %i, %k : index
    %b = arith.addi %j, %l : index
    %d = te.load %0[%n, %a, %b] : tensor<{c}x{ph}x{pw}xf32> -> f32
    %e = te.load %w[%o, %n, %y, %xx] : tensor<{f}x{c}x3x3xf32> -> f32
    %g = arith.mulf %d, %e : f32
    te.yield %g : f32
  }} {SUM} : tensor<{f}x{h}x{w}xf32>
  %2 = te.compute \"relu\" axes [{f}, {h}, {w}] reduce [] init [] {{
  ^bb0(%o: index, %i: index, %j: index):
    %a = te.load %1[%o, %i, %j] : tensor<{f}x{h}x{w}xf32> -> f32
    %z = arith.constant 0.0 : f32
    %d = arith.maximumf %a, %z : f32
    te.yield %d : f32
  }} combine {{}} : tensor<{f}x{h}x{w}xf32>
  te.return %2 : tensor<{f}x{h}x{w}xf32>
}}
"
    );
    Kernel { text, inputs: vec![vec![c, h, w], vec![f, c, 3, 3]], outputs: vec![vec![f, h, w]] }
}

/// Rows in reductions and broadcasts, as a softmax has them.
fn softmax(random: &mut Random) -> Kernel {
    let [m, n] = [[3, 5, 8], [7, 16, 19]].map(|choices| random.of(&choices));
    let text = format!(
        "te.kernel @k(%x: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %0 = te.compute \"max\" axes [{m}] reduce [{n}] init [0xFF800000 : f32] {{
  ^bb0(%i: index, %r: index):
    %a = te.load %x[%i, %r] : tensor<{m}x{n}xf32> -> f32
    te.yield %a : f32
  }} combine {{
  ^bb0(%p: f32, %q: f32):
    %s = arith.maximumf %p, %q : f32
    te.yield %s : f32
  }} : tensor<{m}xf32>
  %1 = te.compute \"exp\" axes [{m}, {n}] reduce [] init [] {{
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<{m}x{n}xf32> -> f32
    %b = te.load %0[%i] : tensor<{m}xf32> -> f32
    %c = arith.subf %a, %b : f32
    %d = math.exp %c : f32
    te.yield %d : f32
  }} combine {{}} : tensor<{m}x{n}xf32>
  %2 = te.compute \"sum\" axes [{m}] reduce [{n}] init [0.0 : f32] {{
  ^bb0(%i: index, %r: index):
    %a = te.load %1[%i, %r] : tensor<{m}x{n}xf32> -> f32
    te.yield %a : f32
  }} {SUM} : tensor<{m}xf32>
  %3 = te.compute \"div\" axes [{m}, {n}] reduce [] init [] {{
  ^bb0(%i: index, %j: index):
    %a = te.load %1[%i, %j] : tensor<{m}x{n}xf32> -> f32
    %b = te.load %2[%i] : tensor<{m}xf32> -> f32
    %c = arith.divf %a, %b : f32
    te.yield %c : f32
  }} combine {{}} : tensor<{m}x{n}xf32>
  te.return %3 : tensor<{m}x{n}xf32>
}}
"
    );
    Kernel { text, inputs: vec![vec![m, n]], outputs: vec![vec![m, n]] }
}

/// Elementwise stages, one of which reads another shifted and turned, and two results.
fn chain(random: &mut Random) -> Kernel {
    let [m, n] = [[4, 6, 9], [5, 8, 13]].map(|choices| random.of(&choices));
    let rows = m - 2;
    let text = format!(
        "te.kernel @k(%x: tensor<{m}x{n}xf32>, %y: tensor<{n}xf32>) -> (tensor<{rows}x{n}xf32>, tensor<{n}x{m}xf32>) {{
  %0 = te.compute \"scaled\" axes [{m}, {n}] reduce [] init [] {{
  ^bb0(%i: index, %j: index):
    %a = te.load %x[%i, %j] : tensor<{m}x{n}xf32> -> f32
    %b = te.load %y[%j] : tensor<{n}xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  }} combine {{}} : tensor<{m}x{n}xf32>
  %1 = te.compute \"blur\" axes [{rows}, {n}] reduce [3] init [0.0 : f32] {{
  ^bb0(%i: index, %j: index, %r: index):
    %e = arith.addi %i, %r : index
    %a = te.load %0[%e, %j] : tensor<{m}x{n}xf32> -> f32
    te.yield %a : f32
  }} {SUM} : tensor<{rows}x{n}xf32>
  %2 = te.compute \"edge\" axes [{rows}, {n}] reduce [] init [] {{
  ^bb0(%i: index, %j: index):
    %a = te.load %1[%i, %j] : tensor<{rows}x{n}xf32> -> f32
    %b = te.load %0[%i, %j] : tensor<{m}x{n}xf32> -> f32
    %c = arith.subf %a, %b : f32
    te.yield %c : f32
  }} combine {{}} : tensor<{rows}x{n}xf32>
  %3 = te.compute \"turned\" axes [{n}, {m}] reduce [] init [] {{
  ^bb0(%i: index, %j: index):
    %a = te.load %0[%j, %i] : tensor<{m}x{n}xf32> -> f32
    te.yield %a : f32
  }} combine {{}} : tensor<{n}x{m}xf32>
  te.return %2, %3 : tensor<{rows}x{n}xf32>, tensor<{n}x{m}xf32>
}}
"
    );
    Kernel { text, inputs: vec![vec![m, n], vec![n]], outputs: vec![vec![rows, n], vec![n, m]] }
}
