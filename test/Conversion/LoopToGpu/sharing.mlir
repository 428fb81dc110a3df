// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(loop-verify-sharing))' --split-input-file --verify-diagnostics

// Each thread of y has one of the elements, and reads all.
func.func @own(%y: memref<64xf32>, %v: f32) attributes {loop.kernel} {
  loop.for 4 serial {
  ^bb0(%i: index):
    %s = loop.alloc local : memref<16xf32>
    loop.for 16 thread_y {
    ^bb0(%j: index):
      loop.store %v, %s[%j] : f32, memref<16xf32>
      loop.yield
    }
    loop.for 16 serial {
    ^bb0(%j: index):
      // expected-error @+1 {{'loop.load' op of kernel @own reads elements of a buffer that each thread has for itself, which another along thread_y may have written; compute the stage at the loop that is bound, or keep it in shared memory with te.set_scope}}
      %a = loop.load %s[%j] : memref<16xf32> -> f32
      %to = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %j)
      loop.store %a, %y[%to] : f32, memref<64xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Thread i has row i, and reads column i.
func.func @turned(%y: memref<192xf32>, %v: f32) attributes {loop.kernel} {
  %s = loop.alloc local : memref<192xf32>
  loop.for 12 thread_x {
  ^bb0(%i: index):
    loop.for 16 serial {
    ^bb0(%j: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %j)
      loop.store %v, %s[%at] : f32, memref<192xf32>
      loop.yield
    }
    loop.yield
  }
  loop.for 12 serial {
  ^bb0(%i: index):
    // expected-error @+1 {{reads elements of a buffer that each thread has for itself, which another along thread_x may have written}}
    loop.for 16 thread_x {
    ^bb0(%j: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %j)
      %a = loop.load %s[%at] : memref<192xf32> -> f32
      loop.store %a, %y[%at] : f32, memref<192xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// What each thread adds up of its own part is not all.
func.func @part(%x: memref<64xf32>, %y: memref<16xf32>, %zero: f32) attributes {loop.kernel} {
  // expected-error @+1 {{reads elements of a buffer that each thread has for itself, which another along thread_x may have written}}
  loop.for 2 block_x {
  ^bb0(%b: index):
    %s = loop.alloc local : memref<8xf32>
    loop.for 8 serial {
    ^bb0(%j: index):
      loop.store %zero, %s[%j] : f32, memref<8xf32>
      loop.yield
    }
    loop.for 8 thread_x {
    ^bb0(%k: index):
      loop.for 8 serial {
      ^bb0(%j: index):
        %from = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%k, %j)
        %a = loop.load %x[%from] : memref<64xf32> -> f32
        %b0 = loop.load %s[%j] : memref<8xf32> -> f32
        %c = arith.addf %a, %b0 : f32
        loop.store %c, %s[%j] : f32, memref<8xf32>
        loop.yield
      }
      loop.yield
    }
    loop.for 8 serial {
    ^bb0(%j: index):
      %a = loop.load %s[%j] : memref<8xf32> -> f32
      %to = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%b, %j)
      loop.store %a, %y[%to] : f32, memref<16xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Block i shares row i with its own threads only.
func.func @blocks(%y: memref<192xf32>, %v: f32) attributes {loop.kernel} {
  %s = loop.alloc shared : memref<192xf32>
  loop.for 12 block_x {
  ^bb0(%i: index):
    loop.for 16 thread_x {
    ^bb0(%j: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %j)
      loop.store %v, %s[%at] : f32, memref<192xf32>
      loop.yield
    }
    loop.yield
  }
  loop.for 12 serial {
  ^bb0(%i: index):
    // expected-error @+1 {{'loop.load' op of kernel @blocks reads elements of shared memory, which each block has for itself, which another along block_x may have written; compute the stage inside of the loop over blocks, or keep it in global memory}}
    loop.for 16 block_x {
    ^bb0(%j: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %j)
      %a = loop.load %s[%at] : memref<192xf32> -> f32
      loop.store %a, %y[%at] : f32, memref<192xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Every block sets all to zero, also when others have begun to add.
func.func @begun(%x: memref<240xf32>, %y: memref<12xf32>, %zero: f32) attributes {loop.kernel} {
  loop.for 1 serial {
  ^bb0(%o: index):
    loop.for 12 serial {
    ^bb0(%i: index):
      loop.store %zero, %y[%i] : f32, memref<12xf32>
      loop.yield
    }
    loop.for 20 serial {
    ^bb0(%k: index):
      // expected-error @+1 {{'loop.store' op of kernel @begun writes elements of a buffer of one launch, which another along block_x may have written; bind the loops that write and read it alike, or put those over what is reduced inside of bound ones with te.reorder}}
      loop.for 12 block_x {
      ^bb0(%i: index):
        %from = affine.apply affine_map<(d0, d1) -> (d1 * 20 + d0)>(%k, %i)
        %a = loop.load %x[%from] : memref<240xf32> -> f32
        %b = loop.load %y[%i] : memref<12xf32> -> f32
        %c = arith.addf %a, %b : f32
        loop.store %c, %y[%i] : f32, memref<12xf32>
        loop.yield
      }
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Threads that read what they wrote, all that everybody wrote, or what is beside it.
func.func @fine(%x: memref<128xf32>, %y: memref<128xf32>, %z: memref<128xf32>, %v: f32) attributes {loop.kernel} {
  loop.for 2 block_x {
  ^bb0(%b: index):
    %own = loop.alloc local : memref<64xf32>
    %all = loop.alloc local : memref<64xf32>
    %s = loop.alloc shared : memref<64xf32>
    loop.for 64 serial {
    ^bb0(%i: index):
      loop.store %v, %all[%i] : f32, memref<64xf32>
      loop.yield
    }
    loop.for 16 thread_x {
    ^bb0(%t: index):
      loop.for 4 serial {
      ^bb0(%u: index):
        %at = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%t, %u)
        loop.store %v, %own[%at] : f32, memref<64xf32>
        loop.store %v, %s[%at] : f32, memref<64xf32>
        loop.yield
      }
      loop.yield
    }
    loop.for 16 thread_x {
    ^bb0(%t: index):
      loop.for 4 serial {
      ^bb0(%u: index):
        %at = affine.apply affine_map<(d0, d1) -> (d0 * 4 + 3 - d1)>(%t, %u)
        %to = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%b, %at)
        %p = loop.load %own[%at] : memref<64xf32> -> f32
        %q = loop.load %all[%at] : memref<64xf32> -> f32
        %r = loop.load %s[%u] : memref<64xf32> -> f32
        %pq = arith.addf %p, %q : f32
        %pqr = arith.addf %pq, %r : f32
        loop.store %pqr, %z[%to] : f32, memref<128xf32>
        loop.yield
      }
      loop.yield
    }
    loop.for 3 serial {
    ^bb0(%u: index):
      loop.for 16 thread_x {
      ^bb0(%t: index):
        %to = affine.apply affine_map<(d0, d1, d2) -> (d0 * 64 + d1 * 16 + d2)>(%b, %u, %t)
        loop.store %v, %y[%to] : f32, memref<128xf32>
        loop.yield
      }
      loop.yield
    }
    loop.for 13 thread_x {
    ^bb0(%t: index):
      %to = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1 + 48)>(%b, %t)
      loop.store %v, %y[%to] : f32, memref<128xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Thread t reads what thread t + 1 writes, before or after it does.
func.func @beside(%y: memref<17xf32>) attributes {loop.kernel} {
  // expected-error @+1 {{'loop.load' op of kernel @beside reads elements of a buffer of one launch, which another along thread_x may have written}}
  loop.for 16 thread_x {
  ^bb0(%t: index):
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%t)
    %a = loop.load %y[%next] : memref<17xf32> -> f32
    loop.store %a, %y[%t] : f32, memref<17xf32>
    loop.yield
  }
  return
}

// -----

// Each step of a thread touches what is its own, but another one has touched that in an earlier step.
func.func @in_turn(%y: memref<32xf32>, %v: f32) attributes {loop.kernel} {
  // expected-error @+1 {{'loop.load' op of kernel @in_turn reads elements of a buffer of one launch, which another along block_x may have written}}
  loop.for 16 block_x {
  ^bb0(%t: index):
    loop.for 4 serial {
    ^bb0(%k: index):
      %at = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%t, %k)
      %a = loop.load %y[%at] : memref<32xf32> -> f32
      %b = arith.addf %a, %v : f32
      loop.store %b, %y[%at] : f32, memref<32xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// One thread writes what all read.
func.func @first(%y: memref<4xf32>, %z: memref<128xf32>, %v: f32) attributes {loop.kernel} {
  loop.for 4 block_x {
  ^bb0(%b: index):
    %t = loop.thread_index 32 thread_x
    %zero = arith.constant 0 : index
    %is_first = arith.cmpi eq, %t, %zero : index
    loop.guard %is_first {
      loop.store %v, %y[%b] : f32, memref<4xf32>
      loop.yield
    }
    // expected-error @+1 {{'loop.load' op of kernel @first reads elements of a buffer of one launch, which another along thread_x may have written}}
    loop.for 32 thread_x {
    ^bb0(%i: index):
      %a = loop.load %y[%b] : memref<4xf32> -> f32
      %to = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%b, %i)
      loop.store %a, %z[%to] : f32, memref<128xf32>
      loop.yield
    }
    loop.yield
  }
  return
}

// -----

// Sums that each thread keeps in global memory are its own, also where another loop comes between; and who waits by hand knows why.
func.func @kept(%x: memref<512xf32>, %y: memref<64xf32>, %z: memref<32xf32>) attributes {loop.kernel} {
  loop.for 2 block_x {
  ^bb0(%b: index):
    loop.for 32 thread_x {
    ^bb0(%t: index):
      loop.for 8 serial {
      ^bb0(%k: index):
        %from = affine.apply affine_map<(d0, d1, d2) -> (d0 * 256 + d1 * 32 + d2)>(%b, %k, %t)
        %at = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%b, %t)
        %a = loop.load %x[%from] : memref<512xf32> -> f32
        %c = loop.load %y[%at] : memref<64xf32> -> f32
        %d = arith.addf %a, %c : f32
        loop.store %d, %y[%at] : f32, memref<64xf32>
        loop.yield
      }
      loop.yield
    }
    loop.yield
  }
  return
}

func.func @by_hand(%y: memref<33xf32>) attributes {loop.kernel} {
  loop.for 32 thread_x {
  ^bb0(%t: index):
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%t)
    %a = loop.load %y[%next] : memref<33xf32> -> f32
    loop.barrier
    loop.store %a, %y[%t] : f32, memref<33xf32>
    loop.yield
  }
  return
}
