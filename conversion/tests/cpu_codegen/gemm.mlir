// 6x64 register tile over 512x512x512; rows 512 = 85*6 + 2.
func.func @gemm(%A: memref<262144xf32>, %B: memref<262144xf32>, %C: memref<262144xf32> {llvm.noalias}) {
  %z = arith.constant 0.0 : f32
  loop.for 8 serial {
  ^bb0(%jo: index):
    loop.for 85 serial {
    ^bb0(%io: index):
      loop.for 6 unrolled {
      ^bb0(%i: index):
        loop.for 4 unrolled {
        ^bb0(%ju: index):
        loop.for 16 vectorized {
        ^bb0(%v: index):
          %acc = loop.for 512 serial iter(%z : f32) {
          ^bb0(%k: index, %a: f32):
            %ia = affine.apply affine_map<(d0, d1, d2) -> (d0 * 3072 + d1 * 512 + d2)>(%io, %i, %k)
            %ib = affine.apply affine_map<(d0, d1, d2, d3) -> (d0 * 512 + d1 * 64 + d2 * 16 + d3)>(%k, %jo, %ju, %v)
            %x = loop.load %A[%ia] : memref<262144xf32> -> f32
            %y = loop.load %B[%ib] : memref<262144xf32> -> f32
            %p = arith.mulf %x, %y : f32
            %s = arith.addf %a, %p fastmath<reassoc,contract> : f32
            loop.yield %s : f32
          } -> f32
          %r = arith.maximumf %acc, %z : f32
          %ic = affine.apply affine_map<(d0, d1, d2, d3, d4) -> ((d0 * 6 + d1) * 512 + d2 * 64 + d3 * 16 + d4)>(%io, %i, %jo, %ju, %v)
          loop.store %r, %C[%ic] : f32, memref<262144xf32>
          loop.yield
        }
        loop.yield
        }
        loop.yield
      }
      loop.yield
    }
    loop.for 2 unrolled {
    ^bb0(%i: index):
      loop.for 64 vectorized {
      ^bb0(%v: index):
        %acc = loop.for 512 serial iter(%z : f32) {
        ^bb0(%k: index, %a: f32):
          %ia = affine.apply affine_map<(d1, d2) -> (261120 + d1 * 512 + d2)>(%i, %k)
          %ib = affine.apply affine_map<(d0, d1, d3) -> (d0 * 512 + d1 * 64 + d3)>(%k, %jo, %v)
          %x = loop.load %A[%ia] : memref<262144xf32> -> f32
          %y = loop.load %B[%ib] : memref<262144xf32> -> f32
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %a, %p : f32
          loop.yield %s : f32
        } -> f32
        %r = arith.maximumf %acc, %z : f32
        %ic = affine.apply affine_map<(d1, d2, d4) -> ((510 + d1) * 512 + d2 * 64 + d4)>(%i, %jo, %v)
        loop.store %r, %C[%ic] : f32, memref<262144xf32>
        loop.yield
      }
      loop.yield
    }
    loop.yield
  }
  return
}
