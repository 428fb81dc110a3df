//! The rows, one file a family.

pub mod attention;
pub mod columns;
pub mod contiguous;
pub mod contraction;
pub mod convolution;
pub mod creation;
pub mod elementwise;
pub mod few_bits;
pub mod images;
pub mod indexing;
pub mod inner_product_trick;
pub mod layout;
pub mod non_max_suppression;
pub mod normalization;
pub mod philox;
pub mod pooling;
pub mod quantization;
pub mod reduction;
pub mod sequence_mask;
pub mod shape;
pub mod strassen;
pub mod strings;
pub mod window;
pub mod winograd;

use crate::Operator;

/// All families, in the order of the documentation.
pub const FAMILIES: &[(&str, &[&Operator])] = &[
    ("elementwise", elementwise::ALL),
    ("contraction", contraction::ALL),
    ("few-bits", few_bits::ALL),
    ("strassen", strassen::ALL),
    ("inner-product-trick", inner_product_trick::ALL),
    ("attention", attention::ALL),
    ("convolution", convolution::ALL),
    ("columns", columns::ALL),
    ("winograd", winograd::ALL),
    ("pooling", pooling::ALL),
    ("layout", layout::ALL),
    ("normalization", normalization::ALL),
    ("shape", shape::ALL),
    ("indexing", indexing::ALL),
    ("creation", creation::ALL),
    ("reduction", reduction::ALL),
    ("sequence_mask", sequence_mask::ALL),
    ("non_max_suppression", non_max_suppression::ALL),
    ("quantization", quantization::ALL),
    ("philox", philox::ALL),
    ("images", images::ALL),
    ("strings", strings::ALL),
];

/// All operators.
pub fn all() -> impl Iterator<Item = &'static Operator> {
    FAMILIES.iter().flat_map(|(_, rows)| rows.iter().copied())
}

/// The operator of a name without the dialect's prefix, for parsers.
pub fn named(name: &str) -> Option<&'static Operator> {
    all().find(|op| op.name == name)
}

/// A family's rows as statics, and the list of them. The comment of a row is the documentation of its operation: a summary, then constraints.
#[macro_export]
macro_rules! operators {
    ($($(#[doc = $doc:literal])+ $ident:ident = $row:expr;)*) => {
        $($(#[doc = $doc])+ pub static $ident: $crate::Operator = $row.documented(&[$($doc),+]);)*
        /// The rows of this family.
        pub const ALL: &[&$crate::Operator] = &[$(&$ident),*];
    };
}
