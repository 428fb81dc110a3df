// RUN: fusion-opt %s --relay-to-mixed-precision | FileCheck %s
// RUN: fusion-opt %s --relay-to-mixed-precision=type=bf16 | FileCheck %s --check-prefix=BF16
// RUN: fusion-opt %s --relay-to-mixed-precision | fusion-opt --relay-to-mixed-precision --mlir-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: fusion-opt %s --relay-to-mixed-precision --validate-passes --validate-rtol=2e-3 -o /dev/null 2>&1 | FileCheck %s --check-prefix=F16
// RUN: fusion-opt %s --relay-to-mixed-precision=type=bf16 --validate-passes --validate-rtol=2e-2 -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: not fusion-opt %s --relay-to-mixed-precision=type=f32 2>&1 | FileCheck %s --check-prefix=TYPE

// TYPE: error: the option type of relay-to-mixed-precision must be f16 or bf16, found "f32"

// A second run finds nothing to do.
// TWICE: (S) 0 casts
// TWICE: (S) 0 narrowed

// The interpreter gives the same numbers as before, up to the rounding of the type. In f16 one function stays as it is.
// F16-NOT: not validated
// F16: validated: relay-to-mixed-precision: @net, @asks_for_wide, @shared, @constants and 3 more
// ALL-NOT: not validated
// ALL: validated: relay-to-mixed-precision: @net, @asks_for_wide, @shared, @constants and 4 more

// The contraction asks for f16, elementwise operators follow, softmax stays. Constants are of the type that is wanted, once each.
// CHECK-LABEL: func.func @net(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<10x4xf32>) -> tensor<1x10xf32>
// CHECK-DAG:     %[[X:.*]] = relay.cast %arg0 {{.*}} -> tensor<1x3x8x8xf16>
// CHECK-DAG:     %[[W:.*]] = relay.constant dense<1.250000e-01> : tensor<4x3x3x3xf16>
// CHECK-DAG:     %[[B:.*]] = relay.constant dense<5.000000e-01> : tensor<4x1x1xf16>
// CHECK-NOT:     relay.constant
// CHECK:         relay.conv2d %[[X]], %[[W]] {{.*}} -> tensor<1x4x6x6xf16>
// CHECK-NEXT:    relay.add {{.*}}, %[[B]] {{.*}} -> tensor<1x4x6x6xf16>
// CHECK-NEXT:    relay.relu {{.*}} -> tensor<1x4x6x6xf16>
// CHECK-NEXT:    %[[P:.*]] = relay.max_pool2d {{.*}} -> tensor<1x4x1x1xf16>
// CHECK-NEXT:    relay.reshape
// CHECK-NEXT:    %[[Y:.*]] = relay.dense {{.*}} {out_dtype = f32} : (tensor<1x4xf16>, tensor<10x4xf16>) -> tensor<1x10xf32>
// CHECK-NEXT:    relay.softmax %[[Y]] : (tensor<1x10xf32>) -> tensor<1x10xf32>
// BF16-LABEL: func.func @net
// BF16:         relay.conv2d {{.*}} : (tensor<1x3x8x8xbf16>, tensor<4x3x3x3xbf16>) -> tensor<1x4x6x6xbf16>
func.func @net(%x: tensor<1x3x8x8xf32>, %v: tensor<10x4xf32>) -> tensor<1x10xf32> {
  %w = relay.constant dense<0.125> : tensor<4x3x3x3xf32>
  %b = relay.constant dense<0.5> : tensor<4x1x1xf32>
  %0 = relay.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.add %0, %b : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %2 = relay.relu %1 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %3 = relay.max_pool2d %2 {kernel = array<i64: 6, 6>} : (tensor<1x4x6x6xf32>) -> tensor<1x4x1x1xf32>
  %4 = relay.reshape %3 {shape = array<i64: 1, 4>} : (tensor<1x4x1x1xf32>) -> tensor<1x4xf32>
  %5 = relay.dense %4, %v : (tensor<1x4xf32>, tensor<10x4xf32>) -> tensor<1x10xf32>
  %6 = relay.softmax %5 : (tensor<1x10xf32>) -> tensor<1x10xf32>
  return %6 : tensor<1x10xf32>
}

// Sums are in f32, and nothing rounds them where only f32 is wanted. A transposed convolution has no attribute for it.
// CHECK-LABEL: func.func @asks_for_wide
// CHECK:         relay.matmul {{.*}} {out_dtype = f32} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
// CHECK:         %[[T:.*]] = relay.conv1d_transpose {{.*}} -> tensor<1x2x6xf16>
// CHECK-NEXT:    relay.cast %[[T]] {{.*}} -> tensor<1x2x6xf32>
func.func @asks_for_wide(%x: tensor<4x4xf32>, %y: tensor<1x2x4xf32>, %w: tensor<2x2x3xf32>) -> (tensor<4x4xf32>, tensor<1x2x6xf32>) {
  %0 = relay.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relay.exp %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = relay.conv1d_transpose %y, %w : (tensor<1x2x4xf32>, tensor<2x2x3xf32>) -> tensor<1x2x6xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<1x2x6xf32>
}

// A value is cast once each way.
// CHECK-LABEL: func.func @shared
// CHECK:         relay.cast %arg0
// CHECK-NEXT:    %[[M:.*]] = relay.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT:    %[[F:.*]] = relay.cast %[[M]] {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT:    %[[E:.*]] = relay.exp %[[F]]
// CHECK-NEXT:    %[[H:.*]] = relay.cast %[[E]] {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT:    %[[S:.*]] = relay.softmax %[[F]]
// CHECK-NEXT:    %[[A:.*]] = relay.matmul %[[H]], %[[M]]
// CHECK-NEXT:    relay.matmul %[[A]], %[[H]] {out_dtype = f32}
// CHECK-NOT:     relay.cast
func.func @shared(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = relay.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relay.exp %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = relay.softmax %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = relay.matmul %1, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = relay.matmul %3, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// A constant that would become 0 keeps what adds it in f32; that of a contraction may. An operator of constants and arguments follows nothing.
// CHECK-LABEL: func.func @constants
// CHECK:         relay.matmul {{.*}} {out_dtype = f32}
// CHECK:         relay.maximum {{.*}} tensor<4x4xf32>
// CHECK:         relay.matmul {{.*}} -> tensor<4x4xf16>
// CHECK:         relay.sub {{.*}} tensor<4x4xf16>
// CHECK:         relay.neg %arg0 : (tensor<4x4xf32>)
func.func @constants(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %tiny = relay.constant dense<1.0e-12> : tensor<f32>
  %w = relay.constant dense<[[1.0e-12, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0], [0.5, 0.25, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<4x4xf32>
  %minus = relay.constant dense<0xFF800000> : tensor<f32>
  %0 = relay.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relay.maximum %0, %tiny : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = relay.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = relay.sub %2, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = relay.maximum %3, %minus : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %5 = relay.neg %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// A constant beyond the range of f16 keeps even a contraction in f32; bf16 has that range.
// CHECK-LABEL: func.func @extremes
// CHECK:         relay.matmul {{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// BF16-LABEL: func.func @extremes
// BF16:         relay.matmul {{.*}} {out_dtype = f32} : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xf32>
func.func @extremes(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = relay.constant dense<1.0e6> : tensor<2x2xf32>
  %0 = relay.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// What goes around a loop stays f32. A weight from outside is cast there.
// CHECK-LABEL: func.func @loop
// CHECK:         %[[W:.*]] = relay.cast %arg1
// CHECK:         relay.while
// CHECK:         %[[S:.*]] = relay.cast {{.*}} -> tensor<2x2xf16>
// CHECK:         relay.matmul %[[S]], %[[W]] {out_dtype = f32} : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf32>
func.func @loop(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %n = relay.constant dense<0> : tensor<i64>
  %most = relay.constant dense<2> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %0:2 = relay.while (%n, %x) {
  ^bb0(%i: tensor<i64>, %s: tensor<2x2xf32>):
    %c = relay.less %i, %most : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %c : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %s: tensor<2x2xf32>):
    %j = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %t = relay.matmul %s, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    relay.yield %j, %t : tensor<i64>, tensor<2x2xf32>
  } : (tensor<i64>, tensor<2x2xf32>) -> (tensor<i64>, tensor<2x2xf32>)
  return %0#1 : tensor<2x2xf32>
}

// Casts of the source are not doubled.
// CHECK-LABEL: func.func @casts
// CHECK:         %[[I:.*]] = relay.cast %arg1 {{.*}} -> tensor<2x2xf16>
// CHECK-NEXT:    %[[M:.*]] = relay.matmul %arg0, %[[I]]
// CHECK-NEXT:    return %[[M]]
func.func @casts(%x: tensor<2x2xf16>, %i: tensor<2x2xi32>) -> tensor<2x2xf16> {
  %0 = relay.cast %x {dtype = f32} : (tensor<2x2xf16>) -> tensor<2x2xf32>
  %1 = relay.cast %i {dtype = f32} : (tensor<2x2xi32>) -> tensor<2x2xf32>
  %2 = relay.matmul %0, %1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = relay.cast %2 {dtype = f16} : (tensor<2x2xf32>) -> tensor<2x2xf16>
  return %3 : tensor<2x2xf16>
}

// A bias that is an argument follows; so does what is rearranged of one.
// CHECK-LABEL: func.func @arguments
// CHECK:         relay.cast %arg0
// CHECK:         %[[B:.*]] = relay.reshape %arg2
// CHECK-NEXT:    relay.cast %[[B]]
// CHECK:         relay.add {{.*}} -> tensor<2x4xf16>
func.func @arguments(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<1x4xf32>) -> tensor<2x4xf32> {
  %0 = relay.dense %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %1 = relay.reshape %b {shape = array<i64: 4>} : (tensor<1x4xf32>) -> tensor<4xf32>
  %2 = relay.add %0, %1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
