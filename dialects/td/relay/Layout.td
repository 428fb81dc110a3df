//===- Layout.td - Images in other orders than NCHW ------------------------===//

def Relay_LayoutTransformOp : Relay_Plain<"layout_transform", "The elements in another order of axes",
    (ins Relay_Tensor:$data, StrAttr:$src_layout, StrAttr:$dst_layout)> {
  let description = [{
    A layout is an order of axes, by capital letters; an axis that is split has its number of parts where the capital stands, and its
    elements in a part where a number and the small letter stand: from `NCHW` to `NCHW16c`, `tensor<1x32x7x7xf32>` becomes
    `tensor<1x2x7x7x16xf32>`.
    - C1: both layouts are orders of the same axes.
    - C2: the data has the extents of its layout.
    - C3: what an axis is split by divides it.
  }];
}

class Relay_LayoutWindow<string name, string what, dag args> : Relay_Plain<"layout_" # name, what, args> {
  let description = [{
    As `relay.}] # name # [{`, whose constraints C1 to C5 are those of the images. `data_layout` is NCHW when absent, `out_layout` that of
    the data, `kernel_layout` OIHW.
    - C6: layouts are orders of the axes NCHW and OIHW, operands have their extents, and what an axis is split by divides it.
  }];
}
def Relay_LayoutConv2dOp : Relay_LayoutWindow<"conv2d", "A convolution of images in another order of axes",
    (ins Relay_Tensor:$data, Relay_Tensor:$weight, Relay_Ints:$strides, Relay_Ints:$padding, Relay_Ints:$dilation,
         Relay_Int:$groups, Relay_Str:$data_layout, Relay_Str:$kernel_layout, Relay_Str:$out_layout)>;
def Relay_LayoutMaxPool2dOp : Relay_LayoutWindow<"max_pool2d", "The greatest element of each window of images in another order of axes",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$kernel, Relay_Ints:$strides, Relay_Ints:$padding,
         Relay_Ints:$dilation, Relay_Flag:$ceil_mode, Relay_Str:$data_layout, Relay_Str:$out_layout)>;
def Relay_LayoutAvgPool2dOp : Relay_LayoutWindow<"avg_pool2d", "The mean of each window of images in another order of axes",
    (ins Relay_Tensor:$data, DenseI64ArrayAttr:$kernel, Relay_Ints:$strides, Relay_Ints:$padding,
         Relay_Ints:$dilation, Relay_Flag:$ceil_mode, Relay_Flag:$count_include_pad, Relay_Str:$data_layout, Relay_Str:$out_layout)>;
