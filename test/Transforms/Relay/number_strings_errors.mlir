// RUN: fusion-opt %s --relay-number-strings --verify-diagnostics --split-input-file

func.func @no_tensor_code(%x: tensor<2x!relay.string>) -> tensor<2x!relay.string> {
  // expected-error @+1 {{relay.string_case makes strings or looks into them, which is no tensor code}}
  %0 = relay.string_case %x {to = "lower"} : (tensor<2x!relay.string>) -> tensor<2x!relay.string>
  return %0 : tensor<2x!relay.string>
}

// -----

module attributes {relay.strings = ["x"]} {
  func.func @unknown() -> tensor<!relay.string> {
    // expected-error @+1 {{has a string that is not in the list relay.strings of the module}}
    %0 = relay.constant dense<"y"> : tensor<!relay.string>
    return %0 : tensor<!relay.string>
  }
}
