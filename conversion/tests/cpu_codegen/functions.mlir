// The functions that become polynomials, one after another, 16 values each.
func.func @functions(%a: memref<16xf32>, %out: memref<64xf32>) {
  loop.for 16 vectorized {
  ^bb0(%v: index):
    %x = loop.load %a[%v] : memref<16xf32> -> f32
    %exp = math.exp %x : f32
    loop.store %exp, %out[%v] : f32, memref<64xf32>
    %log = math.log %x : f32
    %at1 = affine.apply affine_map<(d0) -> (d0 + 16)>(%v)
    loop.store %log, %out[%at1] : f32, memref<64xf32>
    %tanh = math.tanh %x : f32
    %at2 = affine.apply affine_map<(d0) -> (d0 + 32)>(%v)
    loop.store %tanh, %out[%at2] : f32, memref<64xf32>
    %erf = math.erf %x : f32
    %at3 = affine.apply affine_map<(d0) -> (d0 + 48)>(%v)
    loop.store %erf, %out[%at3] : f32, memref<64xf32>
    loop.yield
  }
  return
}
