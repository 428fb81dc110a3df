// RUN: example-opt %s --example-count-flops --verify-diagnostics

func.func @model(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{'relay.relu' op has a tensor with an unknown extent, so its cost is not known}}
  %0 = relay.relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
