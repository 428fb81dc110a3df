//===- Normalization.td - (x - mean) / sqrt(variance + epsilon) ------------===//

def Relay_BatchNormOp : Relay_Plain<"batch_norm",
    "gamma * (x - mean) / sqrt(variance + epsilon) + beta, each of them [C], along axis 1",
    (ins Relay_Tensor:$data, Relay_Tensor:$gamma, Relay_Tensor:$beta, Relay_Tensor:$mean,
         Relay_Tensor:$variance, Relay_Float:$epsilon)> {
  let description = [{
    `epsilon` is 1e-5 when absent.
    - C1: the data is a float tensor of rank 2 or more.
    - C2: the other operands are float tensors [C] of the data's second extent.
  }];
}
def Relay_InstanceNormOp : Relay_Plain<"instance_norm",
    "Normalises over the spatial axes, then scales and shifts by [C]",
    (ins Relay_Tensor:$data, Relay_Tensor:$gamma, Relay_Tensor:$beta, Relay_Float:$epsilon)> {
  let description = [{ C1 (rank 3 or more), C2 as relay.batch_norm. }];
}
def Relay_GroupNormOp : Relay_Plain<"group_norm",
    "Normalises over each group of channels and the spatial axes, then scales and shifts by [C]",
    (ins Relay_Tensor:$data, Relay_Tensor:$gamma, Relay_Tensor:$beta, I64Attr:$num_groups, Relay_Float:$epsilon)> {
  let description = [{ C1, C2 as relay.batch_norm. C3: num_groups divides the channels. }];
}
def Relay_LayerNormOp : Relay_Plain<"layer_norm",
    "Normalises over the axes from `axis` to the last, then scales and shifts by operands of those axes",
    (ins Relay_Tensor:$data, Relay_Tensor:$gamma, Relay_Tensor:$beta, Relay_Int:$axis, Relay_Float:$epsilon)> {
  let description = [{
    `axis` is -1 and `epsilon` 1e-5 when absent.
    - C1: the data is a float tensor. C2: axis is in range. C3: scale and shift are float tensors
      that broadcast to the data's shape from `axis` on.
  }];
}
def Relay_LrnOp : Relay_Plain<"lrn",
    "x / (bias + alpha / size * sum of x^2 over `size` neighbouring channels)^beta",
    (ins Relay_Tensor:$data, I64Attr:$size, Relay_Float:$alpha, Relay_Float:$beta, Relay_Float:$bias)> {
  let description = [{
    alpha is 1e-4, beta 0.75 and bias 1 when absent; the window reaches floor((size - 1) / 2) back and ceil((size - 1) / 2) on.
    - C1: the data is a float tensor of rank 2 or more. C2: size is above 0.
  }];
}
def Relay_SoftmaxOp : Relay_Plain<"softmax", "exp(x - max) / sum of the same, along `axis` (-1 when absent)",
    (ins Relay_Tensor:$data, Relay_Int:$axis)> { let description = [{ C1: float. C2: axis is in range. }]; }
def Relay_LogSoftmaxOp : Relay_Plain<"log_softmax", "x - max - log(sum of exp(x - max)), along `axis` (-1 when absent)",
    (ins Relay_Tensor:$data, Relay_Int:$axis)> { let description = [{ C1: float. C2: axis is in range. }]; }
