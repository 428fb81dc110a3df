// RUN: fusion-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(te-plan-memory)'

// expected-error @+1 {{@helper works on tensors outside of @main; inline it before memory is planned}}
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{calls @missing, which the module does not define}}
  %0 = te.call @missing(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

te.kernel @same(%x: tensor<4xf32>) -> tensor<4xf32> { te.return %x : tensor<4xf32> }
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{calls @same, which is still a te.kernel; te-lower must run before}}
  %0 = te.call @same(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @relu(memref<4xf32>, memref<8xf32>) attributes {loop.kernel}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{passes (memref<4xf32>, memref<4xf32>) to @relu, which takes (memref<4xf32>, memref<8xf32>)}}
  %0 = te.call @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{a value of type tensor<?x4xf32> has no size known at compile time; give the shapes of the inputs}}
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

// -----

// expected-error @+1 {{is no tensor, so the host program cannot hold it in memory}}
func.func @main(%x: memref<4xf32>) {
  return
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'arith.addf' op cannot be part of the program around the kernels}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<2xi1>) -> tensor<2xi1> {
  %i = arith.constant 0 : index
  // expected-error @+1 {{reads no scalar; only tensors without axes}}
  %c = tensor.extract %x[%i] : tensor<2xi1>
  return %x : tensor<2xi1>
}

// -----

// expected-error @+1 {{@main has several blocks; memory is planned for scf only}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{@main is declared, not defined}}
func.func private @main(%x: tensor<4xf32>) -> tensor<4xf32>
