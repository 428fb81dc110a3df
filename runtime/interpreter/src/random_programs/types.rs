//! The types of values in random programs, and how they are written.

use super::Writer;

/// A type.
#[derive(Clone, PartialEq)]
pub(super) enum Ty {
    Float,
    Int,
    Bool,
    Vector,
    Tuple(Vec<Ty>),
    List(Box<Ty>),
    Option(Box<Ty>),
    Function(Vec<Ty>, Box<Ty>),
    Ref(Box<Ty>),
}

impl Ty {
    pub(super) fn text(&self) -> String {
        match self {
            Ty::Float => "tensor<f32>".into(),
            Ty::Int => "tensor<i32>".into(),
            Ty::Bool => "tensor<i1>".into(),
            Ty::Vector => "tensor<3xf32>".into(),
            Ty::Tuple(parts) => format!("tuple<{}>", texts(parts)),
            Ty::List(of) => format!("!relay.adt<@List, [{}]>", of.text()),
            Ty::Option(of) => format!("!relay.adt<@Option, [{}]>", of.text()),
            Ty::Function(inputs, result) => format!("({}) -> ({})", texts(inputs), result.text()),
            Ty::Ref(of) => format!("!relay.ref<{}>", of.text()),
        }
    }
}

impl Ty {
    fn has_function(&self) -> bool {
        match self {
            Ty::Function(..) => true,
            Ty::Tuple(parts) => parts.iter().any(Ty::has_function),
            Ty::List(of) | Ty::Option(of) | Ty::Ref(of) => of.has_function(),
            Ty::Float | Ty::Int | Ty::Bool | Ty::Vector => false,
        }
    }
}

pub(super) fn texts(types: &[Ty]) -> String {
    types.iter().map(Ty::text).collect::<Vec<_>>().join(", ")
}

impl Writer {
    /// A type; tensors most of the time.
    pub(super) fn ty(&mut self, depth: usize) -> Ty {
        let sorts = if depth == 0 || !self.contents.language { 4 } else { 10 };
        match self.below(sorts) {
            0 | 4 => Ty::Float,
            1 => Ty::Int,
            2 => Ty::Bool,
            3 => Ty::Vector,
            5 => {
                let count = 1 + self.below(3);
                Ty::Tuple((0..count).map(|_| self.ty(depth - 1)).collect())
            }
            6 => Ty::List(Box::new(self.ty(depth - 1))),
            7 => Ty::Option(Box::new(self.ty(depth - 1))),
            8 if self.contents.references => Ty::Ref(Box::new(self.ty(depth - 1))),
            _ => Ty::Function(vec![self.ty(0)], Box::new(self.ty(depth - 1))),
        }
    }

    /// A type whose values look the same whatever functions are made of.
    pub(super) fn shown(&mut self) -> Ty {
        loop {
            let ty = self.ty(2);
            if !ty.has_function() {
                return ty;
            }
        }
    }
}
