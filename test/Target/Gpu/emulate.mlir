// RUN: fusion-opt %s --gpu-emulate --split-input-file --verify-diagnostics | FileCheck %s

// CHECK:       func.func private @k_0(%{{.*}}: memref<32xf32>) {
// CHECK:         %[[ALL:.*]] = call @fusion_emulated_shared
// CHECK:         %[[S:.*]] = memref.view %[[ALL]]
// CHECK:         call @fusion_emulated_id
// CHECK:         call @fusion_emulated_global
// CHECK-NEXT:    memref.load
// CHECK:         call @fusion_emulated_access
// CHECK-NEXT:    memref.store %{{.*}}, %[[S]]
// CHECK-NEXT:    call @fusion_emulated_barrier
// CHECK:         call @fusion_emulated_access
// CHECK-NEXT:    memref.load %[[S]]
// CHECK:         call @fusion_emulated_global
// CHECK-NEXT:    memref.store
// CHECK:         return
// CHECK-DAG:   func.func private @fusion_emulated_id(i32) -> i64
// CHECK-DAG:   func.func private @fusion_emulated_barrier()
// CHECK-DAG:   func.func private @fusion_emulated_access(i64, i64, i32)
// CHECK-DAG:   func.func private @fusion_emulated_global(i32, i64, i64, i64, i64, i32)
// CHECK-DAG:   func.func private @fusion_emulated_shared(i64) -> memref<1048576xi8>
// CHECK-NOT:   gpu.module
gpu.module @k_gpu {
  gpu.func @k_0(%x: memref<32xf32>) workgroup(%s: memref<32xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %a = memref.load %x[%t] : memref<32xf32>
    memref.store %a, %s[%t] : memref<32xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %b = memref.load %s[%t] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %b, %x[%t] : memref<32xf32>
    gpu.return
  }
}

// -----

// CHECK-LABEL: func.func private @sum_0
// CHECK:         %[[BITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK:         %[[WIDE:.*]] = arith.extui %[[BITS]] : i32 to i64
// CHECK:         call @fusion_emulated_shuffle(%{{[a-z0-9_]+}}, %[[WIDE]],
gpu.module @sum_gpu {
  gpu.func @sum_0(%x: memref<32xf32>) kernel {
    %t = gpu.thread_id x
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %a = memref.load %x[%t] : memref<32xf32>
    %b, %valid = gpu.shuffle xor %a, %one, %width : f32
    memref.store %b, %x[%t] : memref<32xf32>
    gpu.return
  }
}

// -----

// Registers go to the run time and come back in memory of the thread; each thread names a row.
// CHECK-LABEL: func.func private @product_0
// CHECK-DAG:     memref.alloca() {alignment = 64 : i64} : memref<8xf16>
// CHECK:         call @fusion_emulated_ldmatrix(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (i64, i32, i32, i64) -> ()
// CHECK:         vector.store %{{.*}} : memref<8xf16>, vector<8xf16>
// CHECK:         call @fusion_emulated_matrix(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (i32, i64, i64, i64, i64) -> ()
// CHECK:         vector.load %{{.*}} : memref<4xf32>, vector<4xf32>
gpu.module @product_gpu {
  gpu.func @product_0(%y: memref<128xf32>) workgroup(%s: memref<512xf16, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %a = loop.load_matrix %s[%t] : memref<512xf16, #gpu.address_space<workgroup>> -> vector<8xf16>
    %b = loop.load_matrix transposed %s[%t] : memref<512xf16, #gpu.address_space<workgroup>> -> vector<4xf16>
    %d = loop.multiply_matrix mma_m16n8k16_f16 %a, %b, %zero : vector<8xf16>, vector<4xf16>, vector<4xf32>
    vector.store %d, %y[%t] : memref<128xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

// Which argument, from where on, how many elements of what size, of how many, and whether they are written. Of lanes under a mask each
// is told, where its bit is set.
// CHECK-LABEL: func.func private @lanes_0
// CHECK:         call @fusion_emulated_global(%c1_i32{{.*}}, %{{.*}}, %c4_i64{{.*}}, %c2_i64{{.*}}, %c96_i64{{.*}}, %c0_i32{{.*}})
// CHECK-NEXT:    vector.load
// CHECK:         vector.extract %{{.*}}[0] : i1 from vector<2xi1>
// CHECK-NEXT:    arith.extui %{{.*}} : i1 to i64
// CHECK:         call @fusion_emulated_global(%c0_i32{{.*}}, %c32_i64{{.*}}, %c1_i32{{.*}})
// CHECK:         vector.extract %{{.*}}[1] : i1 from vector<2xi1>
// CHECK:         call @fusion_emulated_global
// CHECK-NEXT:    vector.maskedstore
gpu.module @lanes_gpu {
  gpu.func @lanes_0(%x: memref<32xf16>, %y: memref<96xf16>) kernel {
    %t = gpu.thread_id x
    %a = vector.load %y[%t] : memref<96xf16>, vector<4xf16>
    %m = vector.create_mask %t : vector<2xi1>
    %b = vector.extract_strided_slice %a {offsets = [0], sizes = [2], strides = [1]} : vector<4xf16> to vector<2xf16>
    vector.maskedstore %x[%t], %m, %b : memref<32xf16>, vector<2xi1>, vector<2xf16>
    gpu.return
  }
}

// -----

gpu.module @wide_gpu {
  gpu.func @wide_0(%a: f64, %x: memref<32xf64>) kernel {
    %t = gpu.thread_id x
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    // expected-error @+1 {{'gpu.shuffle' op shuffles values of type f64; only those of 4 bytes are}}
    %b, %valid = gpu.shuffle xor %a, %one, %width : f64
    memref.store %b, %x[%t] : memref<32xf64>
    gpu.return
  }
}

// -----

// Nothing to do.
// CHECK-LABEL: func.func @main
func.func @main() { return }
