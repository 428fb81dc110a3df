//! Which operators become narrow: one walk from operands to results.

use fusion_dialects::relay::constant_value;
use fusion_dialects::rows::Kind;
use fusion_dialects::{Op, OpExt, Value, arguments, key, kind_of, nested_ops, op_key, tensor_type};
use fusion_operators::{Attrs, DType, Operator, Precision, Tensor, TensorType};
use std::collections::{HashMap, HashSet};

/// What is known of a value of f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Colour {
    /// A narrow operator gives it.
    Narrow,
    /// An argument, a constant, or what elementwise operators make of these: narrow where something asks for it.
    Open,
    /// A constant that contractions may take narrow, as some of its elements are 0 then; others may not.
    Small,
    /// f32, unless a contraction takes it.
    Wide,
    /// A constant that is too large for the narrow type.
    Large,
}

/// The colours of a function's values, and its narrow operators.
pub struct Colours {
    values: HashMap<usize, Colour>,
    /// The narrow operators, by their keys, and the element types of their results.
    pub narrow: HashMap<usize, Vec<DType>>,
    /// The narrow forms of constants, by the keys of their values.
    pub constants: HashMap<usize, Tensor>,
}

impl Colours {
    /// Of a function.
    pub fn of(function: Op, narrow: DType) -> Self {
        let mut colours =
            Colours { values: HashMap::new(), narrow: HashMap::new(), constants: HashMap::new() };
        let open = function.body(0).map(arguments).unwrap_or_default();
        let open = open.into_iter().filter(|v| is_wide(*v)).map(|v| (key(v), Colour::Open));
        colours.values.extend(open);
        for op in nested_ops(function) {
            match kind_of(op) {
                Some(Kind::Operator(row)) => colours.operator(op, row, narrow),
                Some(Kind::Relay(fusion_dialects::relay::Op::Constant)) => colours.constant(op, narrow),
                _ => {}
            }
        }
        colours
    }

    /// The colour of a value.
    pub fn colour(&self, value: Value) -> Colour {
        self.values.get(&key(value)).copied().unwrap_or(Colour::Wide)
    }

    /// True when an operation computes in the narrow type.
    pub fn is_narrow(&self, op: Op) -> bool {
        self.narrow.contains_key(&op_key(op))
    }

    fn operator(&mut self, op: Op, row: &'static Operator, narrow: DType) {
        let taken: HashSet<Colour> =
            op.operand_values().into_iter().filter(|v| is_wide(*v)).map(|v| self.colour(v)).collect();
        let all = |of: &[Colour]| taken.iter().all(|colour| of.contains(colour));
        let may = !taken.is_empty()
            && match row.precision() {
                Precision::Narrow => !taken.contains(&Colour::Large),
                Precision::Follow => taken.contains(&Colour::Narrow) && all(&[Colour::Narrow, Colour::Open]),
                Precision::Wide => false,
            };
        let results: Vec<Value> = op.result_values().into_iter().filter(|v| is_wide(*v)).collect();
        if let Some(types) = may.then(|| narrowed(op, row, narrow)).flatten() {
            self.narrow.insert(op_key(op), types);
            self.values.extend(results.into_iter().map(|v| (key(v), Colour::Narrow)));
        } else if row.precision() == Precision::Follow && !taken.is_empty() && all(&[Colour::Open]) {
            self.values.extend(results.into_iter().map(|v| (key(v), Colour::Open)));
        }
    }

    fn constant(&mut self, op: Op, narrow: DType) {
        let Some(&value) = op.result_values().first().filter(|v| is_wide(**v)) else { return };
        let form = constant_value(value).and_then(|tensor| {
            let elements = tensor.to_f64s();
            Some((Tensor::from_f64s(narrow, tensor.shape(), &elements).ok()?, elements))
        });
        let Some((form, elements)) = form else { return };
        let pairs = || elements.iter().zip(form.to_f64s());
        let colour = if pairs().any(|(x, y)| x.is_finite() && !y.is_finite()) {
            Colour::Large
        } else if pairs().any(|(x, y)| *x != 0.0 && y == 0.0) {
            Colour::Small
        } else {
            Colour::Open
        };
        self.values.insert(key(value), colour);
        if colour != Colour::Large {
            self.constants.insert(key(value), form);
        }
    }
}

/// True for tensors of f32.
pub fn is_wide(value: Value) -> bool {
    tensor_type(value).is_some_and(|ty| ty.dtype == DType::F32)
}

/// The element types of a call's results where its operands are narrow; `None` when it has no such form.
fn narrowed(op: Op, row: &'static Operator, narrow: DType) -> Option<Vec<DType>> {
    let narrow_type = |ty: TensorType| if ty.dtype == DType::F32 { ty.with_dtype(narrow) } else { ty };
    let types = |values: Vec<Value>| values.into_iter().map(tensor_type).collect::<Option<Vec<_>>>();
    let operands: Vec<TensorType> = types(op.operand_values())?.into_iter().map(narrow_type).collect();
    let attrs: Attrs = op.attrs();
    let found: Vec<DType> = row.infer(&operands, &attrs).ok()?.into_iter().map(|ty| ty.dtype).collect();
    let before = types(op.result_values())?;
    let same = |(now, before): (&DType, &TensorType)| {
        *now == before.dtype || *now == narrow && before.dtype == DType::F32
    };
    (found.len() == before.len() && found.iter().zip(&before).all(same)).then_some(found)
}
