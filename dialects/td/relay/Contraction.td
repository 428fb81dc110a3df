//===- Contraction.td - Matrix products ------------------------------------===//

def Relay_MatmulOp : Relay_Plain<"matmul", "c[..., i, j] = sum_k a[..., i, k] * b[..., k, j]",
    (ins Relay_Tensor:$a, Relay_Tensor:$b, Relay_Flag:$transpose_a, Relay_Flag:$transpose_b)> {
  let description = [{
    Leading dimensions broadcast; a transposed operand has its last two dimensions swapped. Integer products are
    accumulated in the operand's type.
    - C1: operands have one element type.
    - C2: operands have rank 2 or more.
    - C3: the extents summed over agree.
    - C4: leading dimensions broadcast.
  }];
}
def Relay_BatchMatmulOp : Relay_Plain<"batch_matmul", "c[b, i, j] = sum_k x[b, i, k] * y[b, k, j]",
    (ins Relay_Tensor:$a, Relay_Tensor:$b, Relay_Flag:$transpose_a, Relay_Flag:$transpose_b)> {
  let description = [{ As relay.matmul. C5: operands have rank 3. }];
}
def Relay_DenseOp : Relay_Plain<"dense", "y[..., n] = sum_k x[..., k] * w[n, k]",
    (ins Relay_Tensor:$data, Relay_Tensor:$weight)> {
  let description = [{
    - C1: operands have one element type.
    - C2: the weight has rank 2, the data rank 1 or more.
    - C3: the extents summed over agree.
  }];
}
def Relay_AttentionOp : Relay_Plain<"attention", "softmax(scale q k' + bias) v over the last two axes",
    (ins Relay_Tensor:$queries, Relay_Tensor:$keys, Relay_Tensor:$values, Optional<Relay_Tensor>:$bias,
         Relay_Float:$scale)> {
  let description = [{
    Queries [..., n, d], keys [..., m, d], values [..., m, e]; `scale` is 1 when absent.
    - C1: operands have one float type.
    - C2: queries, keys and values have one rank, of 2 or more.
    - C3: their leading extents agree, and so do the widths of queries and keys, and the numbers of keys and of values.
    - C4: the bias broadcasts to the scores, [..., n, m].
  }];
}
