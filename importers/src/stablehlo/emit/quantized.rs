//! Elements that relay keeps in another type.
//!
//! ```text
//!   add of !quant.uniform<i8:f32, s:z>     real = (stored - z) * s of each operand, add, stored = round(real / s) + z
//!   add of i4                              add of i8, of which the lower 4 bits are kept
//! ```
//! StableHLO defines operators on quantized tensors this way (dequantize, compute, quantize).

use super::{Convert, Emitter, Held, Results};
use crate::sources::Outcome;
use crate::stablehlo::graph::Operation;
use crate::stablehlo::types::{Element, Quantized, Type};
use fusion_dialects::Value;
use fusion_operators::ops::elementwise as ew;
use fusion_operators::{Attrs, DType, Tensor};

/// The quantized type of a value.
fn quantized_of(ty: &Type) -> Option<&Quantized> {
    match &ty.tensor()?.element {
        Element::Quantized(quantized) => Some(quantized),
        _ => None,
    }
}

/// Operators that move stored numbers, or that are about them.
const ON_STORED: &[&str] = &[
    "func.call",
    "stablehlo.constant",
    "stablehlo.bitcast_convert",
    "stablehlo.while",
    "stablehlo.if",
    "stablehlo.case",
    "stablehlo.optimization_barrier",
    "stablehlo.tuple",
    "stablehlo.get_tuple_element",
];

/// Whether an operation computes with quantized tensors.
pub fn is_about(e: &Emitter, operation: &Operation) -> bool {
    let mut values = operation.operands.iter().chain(&operation.results);
    !ON_STORED.contains(&operation.name.as_str()) && values.any(|&v| quantized_of(e.type_of(v)).is_some())
}

impl<'c, 'p> Emitter<'c, 'p> {
    /// An operation on what quantized operands stand for.
    pub fn on_floats(
        &mut self,
        operation: &'p Operation,
        operands: Vec<Held<'c>>,
        convert: Convert,
    ) -> Results<'c> {
        let mut real = Vec::new();
        for (held, &value) in operands.into_iter().zip(&operation.operands) {
            real.push(match (quantized_of(self.type_of(value)), held) {
                (Some(quantized), Held::Tensor(x)) => Held::Tensor(self.dequantize(x, quantized)?),
                (_, held) => held,
            });
        }
        // The two that are nothing else.
        let short = operation.short_name();
        let results = match short {
            "uniform_quantize" | "uniform_dequantize" => real,
            _ => convert(self, operation, &real)?,
        };
        let mut stored = Vec::new();
        for (held, &value) in results.into_iter().zip(&operation.results) {
            stored.push(match (quantized_of(self.type_of(value)), held) {
                (Some(quantized), Held::Tensor(x)) => Held::Tensor(self.quantize(x, quantized)?),
                (_, held) => held,
            });
        }
        Ok(stored)
    }

    /// Scales or zeros as they stand along their axis.
    fn along(&mut self, numbers: &[f64], axis: Option<usize>, rank: usize) -> Outcome<Value<'c>> {
        let shape: Vec<usize> = match axis {
            Some(axis) => (0..rank).map(|a| if a == axis { numbers.len() } else { 1 }).collect(),
            None => Vec::new(),
        };
        let given = if axis.is_some() { numbers } else { &numbers[..numbers.len().min(1)] };
        match Tensor::from_f64s(DType::F32, &shape, given) {
            Ok(tensor) => Ok(self.constant(&tensor)),
            Err(error) => self.fault(error.to_string()),
        }
    }

    fn dequantize(&mut self, x: Value<'c>, quantized: &Quantized) -> Outcome<Value<'c>> {
        let rank = self.rank(x)?;
        let zeros: Vec<f64> = quantized.zeros.iter().map(|&z| z as f64).collect();
        let (scale, zero) =
            (self.along(&quantized.scales, quantized.axis, rank)?, self.along(&zeros, quantized.axis, rank)?);
        let x = self.cast(x, DType::F32)?;
        let centred = self.sub(x, zero)?;
        let real = self.mul(centred, scale)?;
        self.cast(real, quantized.expressed)
    }

    fn quantize(&mut self, x: Value<'c>, quantized: &Quantized) -> Outcome<Value<'c>> {
        let rank = self.rank(x)?;
        let Some(storage) = quantized.storage.kept() else {
            return self.fault("this quantized type is not supported");
        };
        let zeros: Vec<f64> = quantized.zeros.iter().map(|&z| z as f64).collect();
        let (scale, zero) =
            (self.along(&quantized.scales, quantized.axis, rank)?, self.along(&zeros, quantized.axis, rank)?);
        let x = self.cast(x, DType::F32)?;
        let scaled = self.div(x, scale)?;
        let rounded = self.un(&ew::ROUND, scaled)?;
        let moved = self.add(rounded, zero)?;
        let (least, most) = quantized.range;
        let bounds = Attrs::new().with("min", least as f64).with("max", most as f64);
        let clipped = self.op(&ew::CLIP, &[moved], bounds)?;
        self.cast(clipped, storage)
    }

    /// Results of narrow integers, wrapped to their bits.
    pub fn wrapped(&mut self, operation: &Operation, results: Vec<Held<'c>>) -> Results<'c> {
        let mut all = Vec::new();
        for (i, held) in results.into_iter().enumerate() {
            let narrow = operation.results.get(i).and_then(|&v| match &self.type_of(v).tensor()?.element {
                Element::Narrow { bits, .. } => Some(*bits),
                _ => None,
            });
            all.push(match (narrow, held) {
                (Some(bits), Held::Tensor(x)) => {
                    let dtype = self.dtype(x)?;
                    let by = self.scalar(dtype, f64::from(8 - bits))?;
                    let up = self.bin(&ew::SHIFT_LEFT, x, by)?;
                    Held::Tensor(self.bin(&ew::SHIFT_RIGHT, up, by)?)
                }
                (_, held) => held,
            });
        }
        Ok(all)
    }
}
