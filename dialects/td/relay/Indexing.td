//===- Indexing.td - Operators that move elements by computed indices ------===//
// Indices are i32 or i64; a negative one counts from the back. One out of range is an error of the
// reference; in compiled code reading is clamped and writing writes nothing.

def Relay_GatherOp : Relay_Plain<"gather", "y[a..., i..., b...] = x[a..., indices[i...], b...] with indices at `axis` (0 when absent)",
    (ins Relay_Tensor:$data, Relay_Tensor:$indices, Relay_Int:$axis)> {
  let description = [{ C1: indices are i32 or i64. C2: axis is in range. }];
}
def Relay_GatherElementsOp : Relay_Plain<"gather_elements", "y[i] = x[i with indices[i] at `axis`]",
    (ins Relay_Tensor:$data, Relay_Tensor:$indices, Relay_Int:$axis)> {
  let description = [{ C1: indices are i32 or i64. C2: axis (0 when absent) is in range. C3: ranks agree; off `axis`, no extent of indices exceeds the data's. }];
}
def Relay_GatherNdOp : Relay_Plain<"gather_nd", "y[b..., i..., r...] = x[b..., indices[b..., i..., :]..., r...]",
    (ins Relay_Tensor:$data, Relay_Tensor:$indices, Relay_Int:$batch_dims)> {
  let description = [{ C1: indices are i32 or i64. C2: the batch extents agree. C3: the last extent of indices is known and at most the rank left. }];
}
def Relay_ScatterElementsOp : Relay_Plain<"scatter_elements", "y = x; y[i with indices[i] at `axis`] = updates[i]",
    (ins Relay_Tensor:$data, Relay_Tensor:$indices, Relay_Tensor:$updates, Relay_Int:$axis, Relay_Str:$reduction)> {
  let description = [{ `reduction` is "none" (the default), "add", "mul", "max" or "min". C1: indices are i32 or i64. C2: axis (0 when absent) is in range. C3: indices and updates have one shape and the data's rank; off `axis`, no extent exceeds the data's. C4: updates have the data's element type. C5: a known reduction. }];
}
def Relay_ScatterNdOp : Relay_Plain<"scatter_nd", "y = x; y[indices[i..., :]...] = updates[i..., ...]",
    (ins Relay_Tensor:$data, Relay_Tensor:$indices, Relay_Tensor:$updates, Relay_Str:$reduction)> {
  let description = [{ As relay.scatter_elements. C3: updates have the shape indices.shape[:-1] + data.shape[k:], k the last extent of indices. }];
}
def Relay_OneHotOp : Relay_Plain<"one_hot", "on where the index along the new axis is indices[i], else off",
    (ins Relay_Tensor:$indices, Relay_Tensor:$on, Relay_Tensor:$off, I64Attr:$depth, Relay_Int:$axis)> {
  let description = [{ `axis` is -1 when absent; an index out of range is nowhere on. C1: indices are integers. C2: on and off are scalars (rank 0) of one element type. C3: axis is in range of the result. C4: depth is not negative. }];
}
