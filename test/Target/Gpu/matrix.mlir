// RUN: fusion-opt %s --pass-pipeline='builtin.module(gpu.module(gpu-matrix))' --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: gpu.func @mma
// CHECK:         %[[A:.*]] = nvgpu.ldmatrix %{{.*}}[%{{.*}}] {numTiles = 4 : i32, transpose = false}
// CHECK:         vector.shape_cast %[[A]] : vector<4x2xf16> to vector<8xf16>
// CHECK:         nvgpu.ldmatrix %{{.*}}[%{{.*}}] {numTiles = 2 : i32, transpose = true}
// CHECK:         vector.extract_strided_slice %{{.*}} {offsets = [6], sizes = [2], strides = [1]}
// CHECK:         nvvm.mma.sync
// CHECK:         vector.from_elements
gpu.module @k_gpu {
  gpu.func @mma(%y: memref<128xf32>, %i: index, %c: vector<4xf32>)
      workgroup(%s: memref<512xf16, #gpu.address_space<workgroup>>) kernel {
    %a = loop.load_matrix %s[%i] : memref<512xf16, #gpu.address_space<workgroup>> -> vector<8xf16>
    %b = loop.load_matrix transposed %s[%i] : memref<512xf16, #gpu.address_space<workgroup>> -> vector<4xf16>
    %d = loop.multiply_matrix mma_m16n8k16_f16 %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
    vector.store %d, %y[%i] : memref<128xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @others
// CHECK:         vector.bitcast %{{.*}} : vector<8xbf16> to vector<4xi32>
// CHECK:         nvvm.mma.sync
// CHECK-SAME:    bf16
// CHECK:         nvvm.mma.sync
// CHECK-SAME:    tf32
// CHECK:         amdgpu.mfma 16x16x16
// CHECK:         amdgpu.mfma 16x16x4
// CHECK:         amdgpu.wmma 16x16x16
// CHECK-SAME:    vector<16xf16>
// CHECK:         amdgpu.wmma 16x16x16
// CHECK-SAME:    vector<8xbf16>
// CHECK:         amdgpu.mfma 32x32x16
gpu.module @k_gpu {
  gpu.func @others(%a: vector<8xbf16>, %b: vector<4xbf16>, %c: vector<4xf32>, %l: vector<4xf32>, %r: vector<2xf32>,
                   %p: vector<4xf16>, %one: f32, %w: vector<16xf16>, %e: vector<8xf32>, %d: vector<8xf16>, %m: vector<16xf32>) {
    %0 = loop.multiply_matrix mma_m16n8k16_bf16 %a, %b, %c : vector<8xbf16>, vector<4xbf16>, vector<4xf32>
    %1 = loop.multiply_matrix mma_m16n8k8_tf32 %l, %r, %0 : vector<4xf32>, vector<2xf32>, vector<4xf32>
    %2 = loop.multiply_matrix mfma_16x16x16_f16 %p, %p, %1 : vector<4xf16>, vector<4xf16>, vector<4xf32>
    %3 = loop.multiply_matrix mfma_16x16x4_f32 %one, %one, %2 : f32, f32, vector<4xf32>
    %4 = loop.multiply_matrix wmma_16x16x16_f16 %w, %w, %e : vector<16xf16>, vector<16xf16>, vector<8xf32>
    %5 = loop.multiply_matrix wmma_16x16x16_halves_bf16 %a, %a, %4 : vector<8xbf16>, vector<8xbf16>, vector<8xf32>
    %6 = loop.multiply_matrix mfma_32x32x16_f16 %d, %d, %m : vector<8xf16>, vector<8xf16>, vector<16xf32>
    gpu.return
  }
}

// -----

gpu.module @k_gpu {
  gpu.func @far(%x: memref<512xf16>, %i: index) kernel {
    // expected-error @+1 {{loads matrices from memory that a block does not share; have it read a te.cache_read in shared memory}}
    %a = loop.load_matrix %x[%i] : memref<512xf16> -> vector<8xf16>
    gpu.return
  }
}

// -----

// Nothing to do.
// CHECK-LABEL: gpu.func @plain
// CHECK-NEXT:    gpu.return
gpu.module @k_gpu {
  gpu.func @plain() kernel { gpu.return }
}
