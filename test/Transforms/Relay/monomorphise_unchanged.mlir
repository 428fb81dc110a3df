// RUN: fusion-opt %s -o %t.before
// RUN: fusion-opt %s --relay-monomorphise -o %t.after
// RUN: diff %t.before %t.after

// Nothing is polymorphic, or its extents are not known.
func.func @dynamic(%x: tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>> {
  %0 = relay.relu %x : (tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>>
  return %0 : tensor<?xf32, #relay.dims<["n"]>>
}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %f = relay.fn {
  ^bb0(%a: tensor<?xf32>):
    %1 = relay.call @dynamic(%a) : (tensor<?xf32>) -> tensor<?xf32>
    relay.yield %1 : tensor<?xf32>
  } : (tensor<?xf32>) -> tensor<?xf32>
  %0 = relay.apply %f(%x) : (tensor<?xf32>) -> tensor<?xf32>, (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
