//===- Pooling.td - Windows over [N, C, spatial...] ------------------------===//

class Relay_MaxPool<int rank> : Relay_Plain<"max_pool" # rank # "d", "The greatest element of each window",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$kernel, Relay_Ints:$strides, Relay_Ints:$padding,
         Relay_Ints:$dilation, Relay_Flag:$ceil_mode)> {
  let description = [{
    Attributes as the convolution's. With `ceil_mode` the last window may hang over the end; a window that would start in the
    padding at the end is left out. Padding is never the greatest: a window of nothing else has the type's least value.
    - C1: the data has the rank of the operator plus 2.
    - C2: attributes have one number an axis (two for padding); kernel, strides and dilation are above 0.
    - C3: the dilated kernel fits the padded data; with ceil_mode the only window may hang over its end by less than a stride.
  }];
}
class Relay_AvgPool<int rank> : Relay_Plain<"avg_pool" # rank # "d", "The mean of each window",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$kernel, Relay_Ints:$strides, Relay_Ints:$padding,
         Relay_Ints:$dilation, Relay_Flag:$ceil_mode, Relay_Flag:$count_include_pad)> {
  let description = [{
    As the maximum's. The divisor counts the window's elements inside the data; with `count_include_pad` also those in the
    padding (never those beyond it); a window of nothing that counts has the mean NaN. C4: the data is a float tensor.
  }];
}
def Relay_MaxPool1dOp : Relay_MaxPool<1>;
def Relay_MaxPool2dOp : Relay_MaxPool<2>;
def Relay_MaxPool3dOp : Relay_MaxPool<3>;
def Relay_AvgPool1dOp : Relay_AvgPool<1>;
def Relay_AvgPool2dOp : Relay_AvgPool<2>;
def Relay_AvgPool3dOp : Relay_AvgPool<3>;
def Relay_GlobalMaxPoolOp : Relay_Unary<"global_max_pool", "Maximum over all spatial axes, which become 1"> {
  let description = [{ C1: the data has rank 3 or more. }];
}
def Relay_GlobalAvgPoolOp : Relay_Unary<"global_avg_pool", "Mean over all spatial axes, which become 1"> {
  let description = [{ C1: the data has rank 3 or more. C2: the data is a float tensor. }];
}
