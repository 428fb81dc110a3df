// RUN: fusion-opt %s | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @all
// CHECK:         %[[BUFFER:.*]] = loop.alloc shared : memref<8xf32>
// CHECK:         loop.for 4 block_x {
// CHECK-NEXT:    ^bb0(%[[B:.*]]: index):
// CHECK:           loop.for 8 thread_x {
// CHECK:             loop.load %{{.*}}[%{{.*}}] : memref<32xf32> -> f32
// CHECK:             loop.store %{{.*}}, %[[BUFFER]][%{{.*}}] : f32, memref<8xf32>
// CHECK:             loop.barrier
// CHECK:             loop.for 8 serial iter(%{{.*}} : f32) {
// CHECK:             } -> f32
// CHECK:             loop.guard %{{.*}} else(%{{.*}} : f32) {
// CHECK:             } -> f32
// CHECK:         loop.gather %{{.*}}[%{{.*}}] : memref<32xf32>, vector<4xindex> -> vector<4xf32>
// CHECK:         loop.scatter %{{.*}}, %{{.*}}[%{{.*}}] : vector<4xf32>, memref<32xf32>, vector<4xindex>
// CHECK:         loop.load_strided %{{.*}}[%{{.*}}] by 7 : memref<32xf32> -> vector<4xf32>
// CHECK:         loop.store_strided %{{.*}}, %{{.*}}[%{{.*}}] by -2 : vector<4xf32>, memref<32xf32>
// CHECK:         loop.prefetch %{{.*}}[%{{.*}}] : memref<32xf32>
// CHECK:         loop.for 2 virtual_thread {
// CHECK:         } {annotations = {hint = 4 : i64}}
func.func @all(%x: memref<32xf32>, %y: memref<32xf32>, %c: i1) {
  %zero = arith.constant 0.0 : f32
  %buffer = loop.alloc shared : memref<8xf32>
  loop.for 4 block_x {
  ^bb0(%b: index):
    loop.for 8 thread_x {
    ^bb0(%t: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%b, %t)
      %v = loop.load %x[%at] : memref<32xf32> -> f32
      loop.store %v, %buffer[%t] : f32, memref<8xf32>
      loop.barrier
      %s = loop.for 8 serial iter(%zero : f32) {
      ^bb0(%k: index, %a: f32):
        %w = loop.load %buffer[%k] : memref<8xf32> -> f32
        %n = arith.addf %a, %w : f32
        loop.yield %n : f32
      } -> f32
      %r = loop.guard %c else(%zero : f32) {
        loop.yield %s : f32
      } -> f32
      loop.store %r, %y[%at] : f32, memref<32xf32>
      loop.yield
    }
    loop.yield
  }
  %step = vector.step : vector<4xindex>
  %g = loop.gather %x[%step] : memref<32xf32>, vector<4xindex> -> vector<4xf32>
  loop.scatter %g, %y[%step] : vector<4xf32>, memref<32xf32>, vector<4xindex>
  %first = arith.constant 8 : index
  %ls = loop.load_strided %x[%first] by 7 : memref<32xf32> -> vector<4xf32>
  loop.store_strided %ls, %y[%first] by -2 : vector<4xf32>, memref<32xf32>
  loop.prefetch %x[%first] : memref<32xf32>
  loop.for 2 virtual_thread {
  ^bb0(%v: index):
    loop.yield
  } {annotations = {hint = 4 : i64}}
  return
}

// CHECK-LABEL: func.func @matrices
// CHECK:         loop.load_matrix %{{.*}}[%{{.*}}] : memref<512xf16> -> vector<8xf16>
// CHECK:         loop.load_matrix transposed %{{.*}}[%{{.*}}] : memref<512xf16> -> vector<4xf16>
// CHECK:         loop.multiply_matrix mma_m16n8k16_f16 %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf16>, vector<4xf16>, vector<4xf32>
func.func @matrices(%s: memref<512xf16>, %i: index, %c: vector<4xf32>) -> vector<4xf32> {
  %a = loop.load_matrix %s[%i] : memref<512xf16> -> vector<8xf16>
  %b = loop.load_matrix transposed %s[%i] : memref<512xf16> -> vector<4xf16>
  %d = loop.multiply_matrix mma_m16n8k16_f16 %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @warp_groups
// CHECK:         loop.alloc shared slots 2 swizzled : memref<8192xf16>
// CHECK:         loop.multiply_shared wgmma_m64n64k64_f16 %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] apart %{{.*}}, %{{.*}} : memref<8192xf16>, memref<8192xf16>, vector<32xf32>
// CHECK:         loop.multiply_shared wgmma_m64n64k64_f16 %{{.*}}[%{{.*}}], transposed %{{.*}}[%{{.*}}] apart %{{.*}}, %{{.*}} : memref<8192xf16>, memref<8192xf16>, vector<32xf32>
func.func @warp_groups(%i: index, %c: vector<32xf32>) -> vector<32xf32> {
  %s = loop.alloc shared slots 2 swizzled : memref<8192xf16>
  %d = loop.multiply_shared wgmma_m64n64k64_f16 %s[%i], %s[%i] apart %i, %c : memref<8192xf16>, memref<8192xf16>, vector<32xf32>
  %e = loop.multiply_shared wgmma_m64n64k64_f16 %s[%i], transposed %s[%i] apart %i, %d : memref<8192xf16>, memref<8192xf16>, vector<32xf32>
  return %e : vector<32xf32>
}

// CHECK-LABEL: func.func @boxes
// CHECK:         loop.mbarrier_init %{{.*}} of 1 : memref<2xi64>
// CHECK:         loop.copy_tensor %{{.*}}[%{{.*}}, %{{.*}}] of [20, 64] box [8, 64] to %{{.*}}[%{{.*}}] : memref<1280xf16>, memref<1024xf16>
// CHECK:         loop.mbarrier_expect %{{.*}}[%{{.*}}] bytes 1024 : memref<2xi64>
// CHECK:         loop.copy_tensor %{{.*}}[%{{.*}}, %{{.*}}] of [20, 64] box [8, 64] to %{{.*}}[%{{.*}}] mbarriers %{{.*}}[%{{.*}}] : memref<1280xf16>, memref<1024xf16>, memref<2xi64>
// CHECK:         loop.mbarrier_wait %{{.*}}[%{{.*}}] phase %{{.*}} : memref<2xi64>
// CHECK:         loop.mbarrier_arrive %{{.*}}[%{{.*}}] : memref<2xi64>
// CHECK:         loop.registers fewer 24
// CHECK:         loop.registers 240
func.func @boxes(%x: memref<1280xf16>, %i: index) {
  %s = loop.alloc shared swizzled : memref<1024xf16>
  %f = loop.alloc shared : memref<2xi64>
  loop.mbarrier_init %f of 1 : memref<2xi64>
  loop.copy_tensor %x[%i, %i] of [20, 64] box [8, 64] to %s[%i] : memref<1280xf16>, memref<1024xf16>
  loop.mbarrier_expect %f[%i] bytes 1024 : memref<2xi64>
  loop.copy_tensor %x[%i, %i] of [20, 64] box [8, 64] to %s[%i] mbarriers %f[%i] : memref<1280xf16>, memref<1024xf16>, memref<2xi64>
  loop.mbarrier_wait %f[%i] phase %i : memref<2xi64>
  loop.mbarrier_arrive %f[%i] : memref<2xi64>
  loop.registers fewer 24
  loop.registers 240
  return
}
