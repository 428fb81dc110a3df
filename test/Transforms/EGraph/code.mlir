// RUN: fusion-opt %s --fusion-attach-target=name=sapphirerapids --relay-optimize --split-input-file | FileCheck %s

// Sixteen functions of ten operations each wait for one another. Of a large tensor they are several kernels: a core that goes through
// all of them for each vector finds nothing else to do meanwhile.
// CHECK-LABEL: func.func @large
// CHECK:         call @fused_tanh_tanh_
// CHECK:         call @fused_tanh_tanh_
// CHECK:         return
func.func @large(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %0 = relay.tanh %x : (tensor<65536xf32>) -> tensor<65536xf32>
  %1 = relay.tanh %0 : (tensor<65536xf32>) -> tensor<65536xf32>
  %2 = relay.tanh %1 : (tensor<65536xf32>) -> tensor<65536xf32>
  %3 = relay.tanh %2 : (tensor<65536xf32>) -> tensor<65536xf32>
  %4 = relay.tanh %3 : (tensor<65536xf32>) -> tensor<65536xf32>
  %5 = relay.tanh %4 : (tensor<65536xf32>) -> tensor<65536xf32>
  %6 = relay.tanh %5 : (tensor<65536xf32>) -> tensor<65536xf32>
  %7 = relay.tanh %6 : (tensor<65536xf32>) -> tensor<65536xf32>
  %8 = relay.tanh %7 : (tensor<65536xf32>) -> tensor<65536xf32>
  %9 = relay.tanh %8 : (tensor<65536xf32>) -> tensor<65536xf32>
  %10 = relay.tanh %9 : (tensor<65536xf32>) -> tensor<65536xf32>
  %11 = relay.tanh %10 : (tensor<65536xf32>) -> tensor<65536xf32>
  %12 = relay.tanh %11 : (tensor<65536xf32>) -> tensor<65536xf32>
  %13 = relay.tanh %12 : (tensor<65536xf32>) -> tensor<65536xf32>
  %14 = relay.tanh %13 : (tensor<65536xf32>) -> tensor<65536xf32>
  %15 = relay.tanh %14 : (tensor<65536xf32>) -> tensor<65536xf32>
  return %15 : tensor<65536xf32>
}

// -----

// Of one vector they wait in any case, and calls are spared.
// CHECK-LABEL: func.func @small
// CHECK-NEXT:    %[[Y:.*]] = call @fused_tanh_tanh_{{.*}}(%arg0)
// CHECK-NEXT:    return %[[Y]]
func.func @small(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = relay.tanh %x : (tensor<16xf32>) -> tensor<16xf32>
  %1 = relay.tanh %0 : (tensor<16xf32>) -> tensor<16xf32>
  %2 = relay.tanh %1 : (tensor<16xf32>) -> tensor<16xf32>
  %3 = relay.tanh %2 : (tensor<16xf32>) -> tensor<16xf32>
  %4 = relay.tanh %3 : (tensor<16xf32>) -> tensor<16xf32>
  %5 = relay.tanh %4 : (tensor<16xf32>) -> tensor<16xf32>
  %6 = relay.tanh %5 : (tensor<16xf32>) -> tensor<16xf32>
  %7 = relay.tanh %6 : (tensor<16xf32>) -> tensor<16xf32>
  %8 = relay.tanh %7 : (tensor<16xf32>) -> tensor<16xf32>
  %9 = relay.tanh %8 : (tensor<16xf32>) -> tensor<16xf32>
  %10 = relay.tanh %9 : (tensor<16xf32>) -> tensor<16xf32>
  %11 = relay.tanh %10 : (tensor<16xf32>) -> tensor<16xf32>
  %12 = relay.tanh %11 : (tensor<16xf32>) -> tensor<16xf32>
  %13 = relay.tanh %12 : (tensor<16xf32>) -> tensor<16xf32>
  %14 = relay.tanh %13 : (tensor<16xf32>) -> tensor<16xf32>
  %15 = relay.tanh %14 : (tensor<16xf32>) -> tensor<16xf32>
  return %15 : tensor<16xf32>
}
