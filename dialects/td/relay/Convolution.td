//===- Convolution.td - Convolutions and their transposes, NCHW / OIHW -----===//

class Relay_Conv<int rank> : Relay_Plain<"conv" # rank # "d",
    "y[n, f, o] = sum_{c, k} x[n, g C + c, o s + k d - p] * w[f, c, k]",
    (ins Relay_Tensor:$data, Relay_Tensor:$weight, Relay_Ints:$strides, Relay_Ints:$padding,
         Relay_Ints:$dilation, Relay_Int:$groups)> {
  let description = [{
    Data [N, C, spatial...], weight [F, C / groups, kernel...]. `strides` and `dilation` (one number an axis) and
    `groups` are 1 when absent; `padding` has all beginnings, then all ends, and is 0 when absent.
    - C1: operands have one element type.
    - C2: data and weight have the rank of the operator plus 2.
    - C3: attributes have one number an axis (two for padding); the kernel's extents, strides, dilation and
      groups are above 0, padding is not negative.
    - C4: groups divides the filters, and the channels are groups times those of the weight.
    - C5: the dilated kernel fits the padded data.
  }];
}
def Relay_Conv1dOp : Relay_Conv<1>;
def Relay_Conv2dOp : Relay_Conv<2>;
def Relay_Conv3dOp : Relay_Conv<3>;

class Relay_ConvTranspose<int rank> : Relay_Plain<"conv" # rank # "d_transpose",
    "The gradient of a convolution with respect to its data",
    (ins Relay_Tensor:$data, Relay_Tensor:$weight, Relay_Ints:$strides, Relay_Ints:$padding,
         Relay_Ints:$output_padding, Relay_Ints:$dilation, Relay_Int:$groups)> {
  let description = [{
    y[n, g F + f, i s + k d - p] += x[n, g C + c, i] * w[g C + c, f, k]. Data [N, C, spatial...], weight [C, F / groups, kernel...].
    The extent of an axis is (x - 1) s + (k - 1) d + 1 + output_padding - padding. Attributes and constraints as the convolution's;
    C4: groups divides the channels, and the channels are the weight's first extent. C5: the extents are above 0.
  }];
}
def Relay_Conv1dTransposeOp : Relay_ConvTranspose<1>;
def Relay_Conv2dTransposeOp : Relay_ConvTranspose<2>;
def Relay_Conv3dTransposeOp : Relay_ConvTranspose<3>;

def Relay_Col2ImOp : Relay_Plain<"col2im", "Columns added into an image",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$kernel, Relay_Ints:$strides, Relay_Ints:$padding,
         Relay_Ints:$output_padding, Relay_Ints:$dilation)> {
  let description = [{
    y[n, c, i s + k d - p] += x[n, c K + k, i], with the K positions k of a window of extents `kernel`. Data [N, C K, spatial...], result [N, C, ...], with
    extents and attributes as a transposed convolution's.
    - C1: the data has rank 3 or more, and is made of numbers.
    - C2: attributes have one number an axis (two for padding); kernel, strides and dilation are above 0.
    - C3: the positions of the kernel divide the channels.
    - C4: the extents are above 0.
  }];
}

def Relay_WinogradConv2dOp : Relay_Plain<"winograd_conv2d",
    "A convolution with a 3x3 kernel, tile by tile: y = A' [sum_c u[:, c, f] * (B' x B)] A",
    (ins Relay_Tensor:$data, Relay_Tensor:$weight, Relay_Int:$tile, Relay_Ints:$padding)> {
  let description = [{
    Data [N, C, H, W], weight [(tile + 2)^2, C, F]: `G w G'` of a weight [F, C, 3, 3] (Lavin and Gray, 2016). `padding` is at the
    top, left, bottom and right, and 0 when absent.
    - C1: operands are f32.
    - C2: data has rank 4, the weight rank 3.
    - C3: tile is 2 or 4, the weight's first extent the square of tile + 2.
    - C4: the data's channels are the weight's second extent.
    - C5: padding has four numbers that are not negative, and the result's extents are above 0.
  }];
}
def Relay_WinogradWeightOp : Relay_Plain<"winograd_weight", "The weight of such a convolution, u = G w G'",
    (ins Relay_Tensor:$weight, Relay_Int:$tile)> {
  let description = [{
    Weight [F, C, 3, 3], result [(tile + 2)^2, C, F]. It has no kernel: weights are transformed when compiling.
    - C1: the weight is f32 of rank 4 with a kernel of 3 x 3.
    - C2: tile is 2 or 4.
  }];
}
