// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<5x6xf32>, %w: tensor<6x12xf32>) -> tensor<3x5x4xf32> {
  %0 = te.compute "dense" axes [5, 12] reduce [6] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<5x6xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<6x12xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<5x12xf32>
  %1 = te.compute "heads" axes [3, 5, 4] reduce [] init [] {
  ^bb0(%h: index, %s: index, %d: index):
    %n = arith.constant 4 : index
    %a = arith.muli %h, %n : index
    %j = arith.addi %a, %d : index
    %b = te.load %0[%s, %j] : tensor<5x12xf32> -> f32
    te.yield %b : f32
  } combine {} : tensor<3x5x4xf32>
  te.return %1 : tensor<3x5x4xf32>
}
te.schedule for @k {
  %p = te.stage "dense"
  %y = te.stage "heads"
  %h, %s, %d = te.axes %y : !te.axis, !te.axis, !te.axis
  %o, %i = te.split %s by 2
  // expected-error @+1 {{has stage "heads" go over the axes of stage "dense", but only a result of the kernel that combines nothing, that no other stage reads and that no primitive arranged can}}
  te.reverse_reindex %y, %p
}

// -----

te.kernel @k(%x: tensor<5x6xf32>, %w: tensor<6x12xf32>) -> tensor<3x5x4xf32> {
  %0 = te.compute "dense" axes [5, 12] reduce [6] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<5x6xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<6x12xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<5x12xf32>
  %1 = te.compute "heads" axes [3, 5, 4] reduce [] init [] {
  ^bb0(%h: index, %s: index, %d: index):
    %n = arith.constant 4 : index
    %a = arith.muli %h, %n : index
    %j = arith.addi %a, %d : index
    %b = te.load %0[%s, %j] : tensor<5x12xf32> -> f32
    te.yield %b : f32
  } combine {} : tensor<3x5x4xf32>
  te.return %1 : tensor<3x5x4xf32>
}
te.schedule for @k {
  %p = te.stage "dense"
  %y = te.stage "heads"
  // expected-error @+1 {{has stage "dense" go over the axes of stage "heads", but only a result of the kernel that combines nothing, that no other stage reads and that no primitive arranged can}}
  te.reverse_reindex %p, %y
}

// -----

te.kernel @k(%x: tensor<5x6xf32>, %w: tensor<6x12xf32>) -> tensor<3x5x4xf32> {
  %0 = te.compute "dense" axes [5, 12] reduce [6] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<5x6xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<6x12xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<5x12xf32>
  %1 = te.compute "heads" axes [3, 5, 4] reduce [] init [] {
  ^bb0(%h: index, %s: index, %d: index):
    %n = arith.constant 4 : index
    %a = arith.muli %h, %n : index
    %j = arith.addi %a, %d : index
    %b = te.load %0[%s, %j] : tensor<5x12xf32> -> f32
    te.yield %b : f32
  } combine {} : tensor<3x5x4xf32>
  te.return %1 : tensor<3x5x4xf32>
}
te.schedule for @k {
  %p = te.stage "dense"
  %y = te.stage "heads"
  // expected-error @+1 {{has stage "heads" go over the axes of stage "heads", which it does not read}}
  te.reverse_reindex %y, %y
}

// -----

// Half of the columns.
te.kernel @k(%x: tensor<5x6xf32>, %w: tensor<6x12xf32>) -> tensor<3x5x2xf32> {
  %0 = te.compute "dense" axes [5, 12] reduce [6] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<5x6xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<6x12xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<5x12xf32>
  %1 = te.compute "heads" axes [3, 5, 2] reduce [] init [] {
  ^bb0(%h: index, %s: index, %d: index):
    %n = arith.constant 2 : index
    %a = arith.muli %h, %n : index
    %j = arith.addi %a, %d : index
    %b = te.load %0[%s, %j] : tensor<5x12xf32> -> f32
    te.yield %b : f32
  } combine {} : tensor<3x5x2xf32>
  te.return %1 : tensor<3x5x2xf32>
}
te.schedule for @k {
  %p = te.stage "dense"
  %y = te.stage "heads"
  // expected-error @+1 {{has stage "heads" go over the axes of stage "dense", but its axes are not the digits of the indices with which it reads that}}
  te.reverse_reindex %y, %p
}

// -----

// Windows that overlap.
te.kernel @k(%x: tensor<5x6xf32>, %w: tensor<6x12xf32>) -> tensor<3x5x6xf32> {
  %0 = te.compute "dense" axes [5, 12] reduce [6] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<5x6xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<6x12xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<5x12xf32>
  %1 = te.compute "heads" axes [3, 5, 6] reduce [] init [] {
  ^bb0(%h: index, %s: index, %d: index):
    %n = arith.constant 3 : index
    %a = arith.muli %h, %n : index
    %j = arith.addi %a, %d : index
    %b = te.load %0[%s, %j] : tensor<5x12xf32> -> f32
    te.yield %b : f32
  } combine {} : tensor<3x5x6xf32>
  te.return %1 : tensor<3x5x6xf32>
}
te.schedule for @k {
  %p = te.stage "dense"
  %y = te.stage "heads"
  // expected-error @+1 {{has stage "heads" go over the axes of stage "dense", but its axes are not the digits of the indices with which it reads that}}
  te.reverse_reindex %y, %p
}

// -----

// Two elements for one.
te.kernel @k(%x: tensor<5x6xf32>, %w: tensor<6x12xf32>) -> tensor<3x5x4xf32> {
  %0 = te.compute "dense" axes [5, 12] reduce [6] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<5x6xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<6x12xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<5x12xf32>
  %1 = te.compute "heads" axes [3, 5, 4] reduce [] init [] {
  ^bb0(%h: index, %s: index, %d: index):
    %n = arith.constant 4 : index
    %a = arith.muli %h, %n : index
    %j = arith.addi %a, %d : index
    %first = te.load %0[%s, %d] : tensor<5x12xf32> -> f32
    %second = te.load %0[%s, %j] : tensor<5x12xf32> -> f32
    %b = arith.addf %first, %second : f32
    te.yield %b : f32
  } combine {} : tensor<3x5x4xf32>
  te.return %1 : tensor<3x5x4xf32>
}
te.schedule for @k {
  %p = te.stage "dense"
  %y = te.stage "heads"
  // expected-error @+1 {{has stage "heads" go over the axes of stage "dense", of which it reads several elements for one}}
  te.reverse_reindex %y, %p
}

// -----

// What is read between them is read by another result as well.
te.kernel @k(%x: tensor<5x6xf32>, %w: tensor<6x12xf32>) -> (tensor<5x3x4xf32>, tensor<3x5x4xf32>) {
  %0 = te.compute "dense" axes [5, 12] reduce [6] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<5x6xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<6x12xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<5x12xf32>
  %1 = te.compute "heads" axes [3, 5, 4] reduce [] init [] {
  ^bb0(%h: index, %s: index, %d: index):
    %n = arith.constant 4 : index
    %a = arith.muli %h, %n : index
    %j = arith.addi %a, %d : index
    %b = te.load %0[%s, %j] : tensor<5x12xf32> -> f32
    te.yield %b : f32
  } combine {} : tensor<3x5x4xf32>
  %2 = te.compute "turned" axes [5, 3, 4] reduce [] init [] {
  ^bb0(%s: index, %h: index, %d: index):
    %a = te.load %1[%h, %s, %d] : tensor<3x5x4xf32> -> f32
    te.yield %a : f32
  } combine {} : tensor<5x3x4xf32>
  %3 = te.compute "twice" axes [3, 5, 4] reduce [] init [] {
  ^bb0(%h: index, %s: index, %d: index):
    %a = te.load %1[%h, %s, %d] : tensor<3x5x4xf32> -> f32
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } combine {} : tensor<3x5x4xf32>
  te.return %2, %3 : tensor<5x3x4xf32>, tensor<3x5x4xf32>
}
te.schedule for @k {
  %p = te.stage "dense"
  %y = te.stage "turned"
  // expected-error @+1 {{has stage "turned" go over the axes of stage "dense", but stage "heads" between them is read by others, combines elements, gives several results or was arranged}}
  te.reverse_reindex %y, %p
}
