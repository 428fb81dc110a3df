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
def Relay_MatmulStrassenOp : Relay_Plain<"matmul_strassen",
    "A product of matrices by Strassen's algorithm: 7 products of sums of quarters in place of 8 of quarters",
    (ins Relay_Tensor:$left, Relay_Tensor:$sums)> {
  let description = [{
    The left side [M, K], and of the right side [K, N] the sums that `relay.strassen_sums` gives (Strassen, 1969, in Winograd's form). Errors are
    bounded by the norms of the matrices and not by each element.
    - C1: operands are f32.
    - C2: the left side has rank 2, the sums of the right side rank 3.
    - C3: these are 7.
    - C4: the left side's extents are even, and half of its columns are the sums' rows.
  }];
}
def Relay_StrassenSumsOp : Relay_Plain<"strassen_sums", "The sums of quarters of such a product's right side",
    (ins Relay_Tensor:$right)> {
  let description = [{
    The matrix [K, N], result [7, K/2, N/2]. Those of a constant are made when compiling.
    - C1: the matrix is f32 of rank 2.
    - C2: its extents are even.
  }];
}
def Relay_MatmulInnerProductTrickOp : Relay_Plain<"matmul_inner_product_trick",
    "A product of matrices by the inner-product trick: a multiplication and two additions in place of two multiplications",
    (ins Relay_Tensor:$left, Relay_Tensor:$right)> {
  let description = [{
    The left side [..., M, K], and of the right side [..., K, N] what `relay.inner_product_trick_right` gives (Winograd, 1968). Rows and columns are
    divided by powers of two before; errors are bounded by the largest number of a row and of a column, and not by each element. A row or
    a column with an infinity gives no numbers.
    - C1: operands are f32.
    - C2: they have one rank, of 2 or more, and the same leading extents.
    - C3: the right side has the rows that the left side's columns ask for.
  }];
}
def Relay_Conv2dInnerProductTrickOp : Relay_Plain<"conv2d_inner_product_trick", "A convolution by a kernel of 1 x 1, by the inner-product trick",
    (ins Relay_Tensor:$data, Relay_Tensor:$right)> {
  let description = [{
    The image [N, C, H, W], and of the weights, channels by filters [C, F], what `relay.inner_product_trick_right` gives; result [N, F, H, W]. The numbers of
    all channels at a place are a row as those of `relay.matmul_inner_product_trick`.
    - C1: operands are f32.
    - C2: the image has rank 4, the right side rank 2.
    - C3: the right side has the rows that the channels ask for.
  }];
}
def Relay_InnerProductTrickRightOp : Relay_Plain<"inner_product_trick_right", "A product's right side as products by the inner-product trick read it",
    (ins Relay_Tensor:$right)> {
  let description = [{
    The matrix [..., K, N], result [..., 6 ceil(K / 6) + 2, N]: its columns divided by powers of two, zeros, the sums that its pairs have of
    themselves, and those powers. Those of a constant are made when compiling.
    - C1: the matrix is f32, of rank 2 or more.
  }];
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
