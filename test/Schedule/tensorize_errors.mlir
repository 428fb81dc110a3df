// RUN: fusion-opt %s --te-lower --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  // expected-error @+1 {{names @other, which is no te.intrinsic of the module}}
  te.tensorize %ji with @other
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  // expected-error @+1 {{has 1 loops of stage "dense" from that one inwards, @dot has 2 axes}}
  te.tensorize %ki with @dot
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 2
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  // expected-error @+1 {{has 2 iterations in loop 0 of stage "dense" from that one inwards, axis 0 of @dot has the extent 4}}
  te.tensorize %ji with @dot
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 8
  %ko, %ki = te.split %k by 4
  te.reorder %jo, %ko, %ki, %ji
  // expected-error @+1 {{has a reduction axis in loop 0 of stage "dense" from that one inwards, axis 0 of @dot is a parallel one}}
  te.tensorize %ki with @dot
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.maximumf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  // expected-error @+1 {{differs from @dot in the combiner of stage "dense", which has arith.addf in place of arith.maximumf}}
  te.tensorize %ji with @dot
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  // expected-error @+1 {{differs from @dot in the body of stage "dense", which has arith.mulf in place of arith.addf}}
  te.tensorize %ji with @dot
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [1.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  // expected-error @+1 {{begins with other neutral elements in stage "dense" than @dot}}
  te.tensorize %ji with @dot
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %k] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  // expected-error @+1 {{reads element 1 of stage "dense" so that it does not go with loop 0 from that one inwards; in @dot it goes}}
  te.tensorize %ji with @dot
}

// -----

te.kernel @k(%x: tensor<6x24xf32>) -> tensor<6xf32> {
  %0 = te.compute "sum" axes [6] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    te.yield %a : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6xf32>
  %1 = te.compute "relu" axes [6] reduce [] init [] {
  ^bb0(%i: index):
    %a = te.load %0[%i] : tensor<6xf32> -> f32
    %z = arith.constant 0.0 : f32
    %b = arith.maximumf %a, %z : f32
    te.yield %b : f32
  } combine {} : tensor<6xf32>
  te.return %1 : tensor<6xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "sum"
  %i, %k = te.axes %s : !te.axis, !te.axis
  %o, %n = te.split %i by 4
  %ko, %ki = te.split %k by 8
  te.reorder %o, %ko, %n, %ki
  // expected-error @+1 {{reads 1 elements in stage "sum", @dot reads 2}}
  te.tensorize %n with @dot
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  te.unroll %ki
  // expected-error @+1 {{replaces a loop of stage "dense" that is annotated already}}
  te.tensorize %ji with @dot
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  te.tensorize %ji with @dot
  // expected-error @+1 {{replaces loops of stage "dense" a second time}}
  te.tensorize %ji with @dot
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  // expected-error @+1 {{says how loops of stage "dense" run that are the intrinsic @dot}}
  te.tensorize %ji with @dot
  te.vectorize %ji
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  // expected-error @+1 {{moves loops of stage "dense" that are the intrinsic @dot}}
  te.tensorize %ji with @dot
  te.reorder %ki, %ji
}

// -----

te.kernel @k(%x: tensor<6x24xf32>, %w: tensor<24x32xf32>) -> tensor<6x32xf32> {
  %0 = te.compute "dense" axes [6, 32] reduce [24] init [0.0 : f32] {
  ^bb0(%i: index, %j: index, %k: index):
    %a = te.load %x[%i, %k] : tensor<6x24xf32> -> f32
    %b = te.load %w[%k, %j] : tensor<24x32xf32> -> f32
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    te.yield %m : f32
  } : tensor<6x32xf32>
  te.return %0 : tensor<6x32xf32>
}
te.intrinsic @dot computes {
^bb0(%a: tensor<8xf32>, %b: tensor<8x4xf32>):
  %c = te.compute "c" axes [4] reduce [8] init [0.0 : f32] {
  ^bb0(%j: index, %k: index):
    %p = te.load %a[%k] : tensor<8xf32> -> f32
    %q = te.load %b[%k, %j] : tensor<8x4xf32> -> f32
    %m = arith.mulf %p, %q : f32
    te.yield %m : f32
  } combine {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  } : tensor<4xf32>
  te.return %c : tensor<4xf32>
} by {
^bb0(%a: memref<8xf32>, %a0: index, %as: index, %b: memref<32xf32>, %b0: index, %bs: index, %bt: index,
     %c: memref<4xf32>, %c0: index, %cs: index):
  loop.for 4 serial {
  ^bb0(%j: index):
    %cj = arith.muli %j, %cs : index
    %ct = arith.addi %c0, %cj : index
    %old = loop.load %c[%ct] : memref<4xf32> -> f32
    %sum = loop.for 8 unrolled iter(%old : f32) {
    ^bb0(%k: index, %acc: f32):
      %ak = arith.muli %k, %as : index
      %at = arith.addi %a0, %ak : index
      %bk = arith.muli %k, %bs : index
      %bj = arith.muli %j, %bt : index
      %bkj = arith.addi %bk, %bj : index
      %bat = arith.addi %b0, %bkj : index
      %p = loop.load %a[%at] : memref<8xf32> -> f32
      %q = loop.load %b[%bat] : memref<32xf32> -> f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      loop.yield %s : f32
    } -> f32
    loop.store %sum, %c[%ct] : f32, memref<4xf32>
    loop.yield
  }
  loop.yield
}
te.schedule for @k {
  %s = te.stage "dense"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 8
  te.reorder %jo, %ko, %ji, %ki
  te.tensorize %ji with @dot
  %w = te.input 1
  // expected-error @+1 {{has stage "dense" read a copy, whose loops are an intrinsic already; copy first}}
  %c = te.cache_read %w as "copy"
}
