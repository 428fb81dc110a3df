//! What a program's arithmetic of floats may be taken for: the attribute `fusion.fp_math` of a module, and `fusion.max_error` beside it.
//!
//! ```text
//!   strict      each operator in double precision, in the order of the source, rounded once: the same bits on every target
//!   standard    multiply-adds are fused, sums have no order, errors stay small element by element; Winograd convolutions within a bound
//!   fast        Strassen's products, the inner-product trick, Winograd convolutions of any size, tf32, shorter functions
//!
//!   --fp-math=fast   =>   module attributes {fusion.fp_math = "fast"}   =>   a pass: FpMath::of(op)
//! ```
//!
//! A form is *normwise* where its error is bounded by the largest numbers that take part in a result, not by the terms of that result. What
//! each level promises is in docs/explanation/numerics.md.

use crate::{Op, OpExt, OperationLike, PassError, attr_to_mlir};
use fusion_operators::{Attr, DType};

/// The attribute of modules that holds their level.
pub const FP_MATH: &str = "fusion.fp_math";
/// The attribute of modules that holds the largest error they may have by normwise forms.
pub const MAX_ERROR: &str = "fusion.max_error";

/// A level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// What the source says, bit for bit.
    Strict,
    /// What libraries of linear algebra do.
    #[default]
    Standard,
    /// What is quickest.
    Fast,
}

impl Level {
    /// All levels with their names.
    pub const ALL: &'static [(Level, &'static str)] =
        &[(Level::Strict, "strict"), (Level::Standard, "standard"), (Level::Fast, "fast")];

    /// Its name.
    pub fn name(self) -> &'static str {
        Level::ALL.iter().find(|(level, _)| *level == self).map_or("", |(_, name)| name)
    }

    /// The level of that name.
    pub fn named(name: &str) -> Option<Level> {
        Level::ALL.iter().find(|(_, known)| *known == name).map(|(level, _)| *level)
    }
}

/// The largest error of a normwise form by default, as a part of the largest result near the element.
pub const STANDARD_ERROR: f64 = 1e-5;

/// The arithmetic that is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FpMath {
    /// The level.
    pub level: Level,
    /// The largest error that normwise forms may add up to in a result, as a part of the largest one, where that is asked for.
    pub max_error: Option<f64>,
}

impl FpMath {
    /// That of the module that an operation is in, or is; the usual one where nothing is said.
    ///
    /// An attribute that is no level, or no error, is an error at the module.
    pub fn of<'c>(op: Op<'c>) -> Result<FpMath, PassError<'c>> {
        Ok(FpMath::given(op)?.unwrap_or_default())
    }

    /// The same where the module says something.
    pub fn given<'c>(op: Op<'c>) -> Result<Option<FpMath>, PassError<'c>> {
        let says = |op: &Op<'c>| op.attr(FP_MATH).is_some() || op.attr(MAX_ERROR).is_some();
        let Some(module) = std::iter::successors(Some(op), |o| o.parent_operation()).find(says) else {
            return Ok(None);
        };
        let level = match module.attr(FP_MATH) {
            None => Level::default(),
            Some(attr) => module.text(FP_MATH).and_then(Level::named).ok_or_else(|| {
                let why =
                    format!("has a {FP_MATH} of {attr}; it must be \"strict\", \"standard\" or \"fast\"");
                PassError::at(module, why)
            })?,
        };
        let max_error = match module.attr(MAX_ERROR) {
            None => None,
            Some(attr) => match crate::float_of(attr).filter(|error| *error > 0.0) {
                Some(error) => Some(error),
                None => {
                    let why = format!("has a {MAX_ERROR} of {attr}; it must be a number above 0, as 1.0e-04");
                    return Err(PassError::at(module, why));
                }
            },
        };
        Ok(Some(FpMath { level, max_error }))
    }

    /// Notes it at a module.
    pub fn attach(self, module: Op) {
        let context = module.context_ref();
        module.set_attr(FP_MATH, attr_to_mlir(context, &Attr::Str(self.level.name().to_owned())));
        match self.max_error {
            Some(error) => module.set_attr(MAX_ERROR, attr_to_mlir(context, &Attr::Float(error))),
            None => module.remove_attr(MAX_ERROR),
        }
    }

    /// True where nothing may be computed otherwise than the source says.
    pub fn is_strict(self) -> bool {
        self.level == Level::Strict
    }

    /// The type in which narrower floats are computed.
    pub fn floats(self) -> DType {
        if self.is_strict() { DType::F64 } else { DType::F32 }
    }

    /// True where everything is allowed that is quick.
    pub fn is_fast(self) -> bool {
        self.level == Level::Fast
    }

    /// Whether Strassen's products, the inner-product trick and the like may be used.
    pub fn allows_normwise_products(self) -> bool {
        self.is_fast() || self.max_error.is_some() && !self.is_strict()
    }

    /// The largest error that one normwise form may have.
    pub fn largest_normwise_error(self) -> f64 {
        match (self.level, self.max_error) {
            (Level::Strict, _) => 0.0,
            (_, Some(error)) => error,
            (Level::Standard, None) => STANDARD_ERROR,
            (Level::Fast, None) => f64::INFINITY,
        }
    }
}
