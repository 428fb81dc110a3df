//! The attributes of vhlo's operations, in the order in which bytecode has them.
//!
//! MLIR keeps what an operation declares apart from its other attributes, and bytecode has the values alone. The names are those of VHLO's
//! definition, which never change for an operation of a version.

/// The names of the attributes of an operation.
pub fn names_of(operation: &str) -> &'static [&'static str] {
    let name = operation.strip_prefix("vhlo.").unwrap_or(operation);
    NAMES.iter().find(|(known, _)| *known == name).map_or(&[], |(_, names)| names)
}

#[rustfmt::skip]
const NAMES: &[(&str, &[&str])] = &[
    ("batch_norm_grad_v1", &["epsilon", "feature_index"]),
    ("batch_norm_inference_v1", &["epsilon", "feature_index"]),
    ("batch_norm_training_v1", &["epsilon", "feature_index"]),
    ("broadcast_in_dim_v1", &["broadcast_dimensions"]),
    ("broadcast_v1", &["broadcast_sizes"]),
    ("call_v1", &["callee"]),
    ("cbrt_v2", &["result_accuracy"]),
    ("cholesky_v1", &["lower"]),
    ("compare_v1", &["comparison_direction", "compare_type"]),
    ("composite_v1", &["name", "composite_attributes", "decomposition", "version"]),
    ("composite_v2", &["name", "composite_attributes", "decomposition", "version"]),
    ("concatenate_v1", &["dimension"]),
    ("constant_v1", &["value"]),
    ("convolution_v1", &[
        "window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal", "input_batch_dimension",
        "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension", "kernel_output_feature_dimension",
        "kernel_spatial_dimensions", "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions",
        "feature_group_count", "batch_group_count", "precision_config",
    ]),
    ("cosine_v2", &["result_accuracy"]),
    ("custom_call_v1", &[
        "call_target_name", "has_side_effect", "backend_config", "api_version", "called_computations", "operand_layouts",
        "result_layouts", "output_operand_aliases",
    ]),
    ("custom_call_v2", &[
        "call_target_name", "has_side_effect", "backend_config", "api_version", "called_computations", "operand_layouts",
        "result_layouts", "output_operand_aliases", "result_tilings",
    ]),
    ("dot_general_v1", &[
        "lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions",
        "precision_config",
    ]),
    ("dot_general_v2", &[
        "lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions",
        "precision_config", "lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count", "rhs_component_count",
        "num_primitive_operations", "allow_imprecise_accumulation",
    ]),
    ("dynamic_broadcast_in_dim_v1", &["broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions"]),
    ("dynamic_conv_v1", &[
        "window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal", "input_batch_dimension",
        "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension", "kernel_output_feature_dimension",
        "kernel_spatial_dimensions", "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions",
        "feature_group_count", "batch_group_count", "precision_config",
    ]),
    ("dynamic_conv_v2", &[
        "window_strides", "lhs_dilation", "rhs_dilation", "window_reversal", "input_batch_dimension", "input_feature_dimension",
        "input_spatial_dimensions", "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions",
        "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", "feature_group_count", "batch_group_count",
        "precision_config",
    ]),
    ("dynamic_gather_v1", &["offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim", "indices_are_sorted"]),
    ("dynamic_gather_v2", &[
        "offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map",
        "index_vector_dim", "indices_are_sorted",
    ]),
    ("dynamic_iota_v1", &["iota_dimension"]),
    ("dynamic_slice_v1", &["slice_sizes"]),
    ("einsum_v1", &["einsum_config"]),
    ("exponential_minus_one_v2", &["result_accuracy"]),
    ("exponential_v2", &["result_accuracy"]),
    ("fft_v1", &["fft_type", "fft_length"]),
    ("func_v1", &["sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"]),
    ("gather_v1", &["offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim", "slice_sizes", "indices_are_sorted"]),
    ("gather_v2", &[
        "offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map",
        "index_vector_dim", "slice_sizes", "indices_are_sorted",
    ]),
    ("get_dimension_size_v1", &["dimension"]),
    ("get_tuple_element_v1", &["index"]),
    ("iota_v1", &["iota_dimension"]),
    ("log_plus_one_v2", &["result_accuracy"]),
    ("logistic_v2", &["result_accuracy"]),
    ("log_v2", &["result_accuracy"]),
    ("map_v1", &["dimensions"]),
    ("pad_v1", &["edge_padding_low", "edge_padding_high", "interior_padding"]),
    ("reduce_v1", &["dimensions"]),
    ("reduce_precision_v1", &["exponent_bits", "mantissa_bits"]),
    ("reduce_window_v1", &["window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding"]),
    ("reverse_v1", &["dimensions"]),
    ("rng_bit_generator_v1", &["rng_algorithm"]),
    ("rng_v1", &["rng_distribution"]),
    ("rsqrt_v2", &["result_accuracy"]),
    ("scatter_v1", &[
        "update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "index_vector_dim", "indices_are_sorted",
        "unique_indices",
    ]),
    ("scatter_v2", &[
        "update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims", "index_vector_dim", "indices_are_sorted", "unique_indices",
    ]),
    ("select_and_scatter_v1", &["window_dimensions", "window_strides", "padding"]),
    ("set_dimension_size_v1", &["dimension"]),
    ("sine_v2", &["result_accuracy"]),
    ("slice_v1", &["start_indices", "limit_indices", "strides"]),
    ("sort_v1", &["dimension", "is_stable"]),
    ("sqrt_v2", &["result_accuracy"]),
    ("tan_v2", &["result_accuracy"]),
    ("tanh_v2", &["result_accuracy"]),
    ("torch_index_select_v1", &["dim", "batch_dims"]),
    ("transpose_v1", &["permutation"]),
    ("triangular_solve_v1", &["left_side", "lower", "unit_diagonal", "transpose_a"]),
    ("unary_einsum_v1", &["einsum_config"]),
];
