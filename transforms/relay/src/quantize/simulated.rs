//! A simulated quantization in a program: what it says of its edge, and how that is changed.

use super::parameters::{Numbers, Parameters};
use fusion_dialects::relay::{Builder, constant_value};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Build, Op, OpExt, Value, attr_to_mlir, defining_op, kind_of, ops_in, tensor_type, unused,
};
use fusion_operators::ops::quantization::SIMULATED_QUANTIZE;
use fusion_operators::{Attr, DType, Tensor, TensorType};

/// The operands behind the data.
const SCALE: usize = 1;
const ZERO: usize = 2;
const LEAST: usize = 3;
const MOST: usize = 4;

/// A call of `relay.simulated_quantize`.
#[derive(Clone, Copy)]
pub struct Simulated<'c> {
    /// The call.
    pub op: Op<'c>,
}

/// Those of a function's own block, in order.
pub fn simulated_in<'c>(function: Op<'c>) -> Vec<Simulated<'c>> {
    let ops = function.body(0).map(ops_in).unwrap_or_default();
    ops.into_iter().filter_map(Simulated::of).collect()
}

impl<'c> Simulated<'c> {
    /// The call, if it is one.
    pub fn of(op: Op<'c>) -> Option<Simulated<'c>> {
        matches!(kind_of(op), Some(Kind::Operator(row)) if row.is(&SIMULATED_QUANTIZE))
            .then_some(Simulated { op })
    }

    /// What is quantized.
    pub fn data(&self) -> Value<'c> {
        self.op.operand_values()[0]
    }

    /// Its type.
    pub fn data_type(&self) -> Option<TensorType> {
        tensor_type(self.data())
    }

    /// The constant that is quantized, if it is one.
    pub fn constant(&self) -> Option<Tensor> {
        constant_value(self.data())
    }

    /// Whether it is one.
    pub fn is_constant(&self) -> bool {
        defining_op(self.data())
            .is_some_and(|op| matches!(kind_of(op), Some(Kind::Relay(fusion_dialects::relay::Op::Constant))))
    }

    /// The axis along which scales may differ.
    pub fn axis(&self) -> Option<usize> {
        self.op.int("axis").and_then(|axis| usize::try_from(axis).ok())
    }

    /// The whole numbers that stand for the data.
    pub fn numbers(&self) -> Result<Numbers, String> {
        let one = |place, name: &str| match self.floats(place).as_deref() {
            Some([number]) => Ok(*number),
            Some(found) => {
                Err(format!("has {} numbers as '{name}', where one constant is expected", found.len()))
            }
            None => {
                Err(format!("has no constant as '{name}', so that it is not known which numbers there are"))
            }
        };
        Numbers::new(one(LEAST, "least")?, one(MOST, "most")?)
    }

    /// Scales and zero points; `None` where they are no constants.
    pub fn parameters(&self) -> Option<Parameters> {
        Some(Parameters { scales: self.floats(SCALE)?, zeros: self.floats(ZERO)? })
    }

    /// The values of the operands behind the data, by their places from 1 on.
    pub fn settings(&self) -> Vec<Value<'c>> {
        self.op.operand_values()[SCALE..].to_vec()
    }

    fn floats(&self, place: usize) -> Option<Vec<f64>> {
        constant_value(self.op.operand_values()[place]).map(|t| t.to_f64s())
    }

    /// Sets scales and zero points: one of each, or one a channel.
    pub fn set_parameters(&self, parameters: &Parameters) -> Result<(), String> {
        for (place, values) in [(SCALE, &parameters.scales), (ZERO, &parameters.zeros)] {
            self.set(place, values)?;
        }
        Ok(())
    }

    /// Sets the whole numbers that stand for the data.
    pub fn set_numbers(&self, numbers: &Numbers) -> Result<(), String> {
        self.set(LEAST, &[numbers.least])?;
        self.set(MOST, &[numbers.most])
    }

    fn set(&self, place: usize, values: &[f64]) -> Result<(), String> {
        let ty = self.data_type().ok_or("takes no tensor")?;
        let shape = match (values.len(), self.axis()) {
            (1, _) => Vec::new(),
            (n, Some(axis)) if axis < ty.rank() => {
                let mut shape = vec![1; ty.rank()];
                shape[axis] = n;
                shape
            }
            (n, _) => return Err(format!("has {n} scales and no axis for them")),
        };
        let tensor = Tensor::from_f64s(ty.dtype, &shape, values).map_err(|error| error.to_string())?;
        let old = self.op.operand_values()[place];
        self.op.set_operand_value(place, Builder::new(Build::before(self.op)).constant(&tensor));
        if unused(old)
            && let Some(op) = defining_op(old)
        {
            op.erase();
        }
        Ok(())
    }

    /// The least and the greatest element that were seen.
    pub fn range(&self) -> Option<(f64, f64)> {
        match self.op.attrs().floats("range") {
            Some([least, most]) => Some((*least, *most)),
            _ => None,
        }
    }

    /// How many elements were seen in equal parts of the range.
    pub fn histogram(&self) -> Option<Vec<u64>> {
        let counts = self.op.attrs().ints("histogram")?.to_vec();
        Some(counts.into_iter().map(|n| n.max(0) as u64).collect())
    }

    /// Notes what was seen.
    pub fn set_statistics(&self, range: (f64, f64), histogram: &[u64]) {
        let context = self.op.context_ref();
        let counts = histogram.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
        self.op.set_attr("range", attr_to_mlir(context, &Attr::Floats(vec![range.0, range.1])));
        self.op.set_attr("histogram", attr_to_mlir(context, &Attr::Ints(counts)));
    }

    /// The element type of the data.
    pub fn dtype(&self) -> DType {
        self.data_type().map_or(DType::F32, |ty| ty.dtype)
    }
}
