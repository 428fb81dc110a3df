//! The program around its functions: data types, constants, kernels, what it takes and gives.

use super::known::{Facts, is_closure};
use super::liveness::Uses;
use super::outline::SEGMENT;
use fusion_bytecode::ranges::places;
use fusion_bytecode::{Constructor, DataType, FunctionId, Kernel, Program, ValueType};
use fusion_dialects::relay::NAME;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Attribute, Op, OpExt, OperationLike, PassError, Type, TypeParts, Value, ValueLike, arguments,
    array_elements, attr_key, dictionary_text, function_parts, nested_ops, op_key, ops_in, parent_of,
    read_tensor, relay, tensor_type_of, top_level, type_key, type_of_attr, type_parts,
};
use fusion_operators::TensorType;
use fusion_relay_to_te::dynamic::{self, ranges};
use fusion_te_to_loop::plan_memory::ENTRY;
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet};

/// A function or closure that something calls.
#[derive(Clone)]
pub struct Wanted<'c> {
    /// `func.func` or `relay.fn`.
    pub op: Op<'c>,
    /// Its name, for messages.
    pub name: String,
}

/// The program that is being made.
pub struct Lowering<'c> {
    pub facts: Facts<'c>,
    /// True when an extent anywhere in the module is known at run time only: a value may then have other extents than its type.
    pub is_dynamic: bool,
    pub uses: Uses<'c>,
    pub program: Program,
    by_name: HashMap<&'c str, Op<'c>>,
    declared: HashMap<&'c str, relay::DataType<'c>>,
    data: HashMap<&'c str, u32>,
    constants: HashMap<usize, u32>,
    contents: HashMap<blake3::Hash, u32>,
    kernels: IndexMap<&'c str, u32>,
    wanted: IndexMap<usize, Wanted<'c>>,
}

/// True when a type anywhere has an extent that is not known.
fn has_dynamic_types(module: Op) -> bool {
    let mut left: Vec<Type> = Vec::new();
    for op in nested_ops(module) {
        left.extend(op.result_values().iter().map(ValueLike::r#type));
        left.extend(op.attr("function_type").and_then(type_of_attr));
        for block in (0..op.region_count()).filter_map(|i| op.body(i)) {
            left.extend(arguments(block).iter().map(ValueLike::r#type));
        }
        if let Some(data) = relay::DataType::of(op) {
            left.extend(data.constructors.into_iter().flat_map(|constructor| constructor.fields));
        }
    }
    let mut seen = HashSet::new();
    while let Some(ty) = left.pop() {
        if !seen.insert(type_key(ty)) {
            continue;
        }
        match type_parts(ty) {
            TypeParts::Tensor(tensor) if tensor.shape().is_none() => return true,
            TypeParts::Tuple(parts) | TypeParts::Adt(_, parts) => left.extend(parts),
            TypeParts::Function(takes, gives) => left.extend(takes.into_iter().chain(gives)),
            TypeParts::Ref(held) => left.push(held),
            TypeParts::Tensor(_) | TypeParts::Var(_) | TypeParts::Hole | TypeParts::Other => {}
        }
    }
    false
}

impl<'c> Lowering<'c> {
    /// What is there before a function is lowered; `@main` is wanted.
    pub fn of(module: Op<'c>) -> Result<Self, PassError<'c>> {
        let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func)));
        let by_name: HashMap<&str, Op> =
            functions.iter().filter_map(|f| Some((f.text("sym_name")?, *f))).collect();
        let Some(main) = by_name.get(ENTRY).copied() else {
            return Err(PassError::at(
                module,
                format!("has no function @{ENTRY}, which a program starts with"),
            ));
        };
        let declarations = top_level(module, |k| matches!(k, Kind::Relay(relay::Op::Data)));
        let declared =
            declarations.into_iter().filter_map(relay::DataType::of).map(|data| (data.name, data)).collect();
        let mut lowering = Lowering {
            facts: Facts::of(module),
            is_dynamic: has_dynamic_types(module),
            uses: Uses::default(),
            program: Program::default(),
            by_name,
            declared,
            data: HashMap::new(),
            constants: HashMap::new(),
            contents: HashMap::new(),
            kernels: IndexMap::new(),
            wanted: IndexMap::new(),
        };
        lowering.signature(main)?;
        lowering.program.entry = lowering.want(main, || ENTRY.to_owned());
        Ok(lowering)
    }

    /// The function whose turn it is: functions that are wanted on the way are added behind.
    pub fn next(&self) -> Option<Wanted<'c>> {
        self.wanted.get_index(self.program.functions.len()).map(|(_, wanted)| wanted.clone())
    }

    /// The number of a function or closure, which is lowered in its turn.
    pub fn want(&mut self, op: Op<'c>, name: impl FnOnce() -> String) -> FunctionId {
        let next = self.wanted.len();
        let entry = self.wanted.entry(op_key(op));
        let index = entry.index();
        entry.or_insert_with(|| Wanted { op, name: name() });
        debug_assert!(index <= next);
        index as FunctionId
    }

    /// The function of the module of that name.
    pub fn function_named(&self, name: &str) -> Option<Op<'c>> {
        self.by_name.get(name).copied()
    }

    /// The number of a function of the module.
    pub fn named(&mut self, user: Op<'c>, name: &'c str) -> Result<FunctionId, PassError<'c>> {
        match self.by_name.get(name).copied() {
            Some(function) if function.body(0).is_some() => Ok(self.want(function, || name.to_owned())),
            Some(_) => Err(PassError::at(user, format!("calls @{name}, which is declared, not defined"))),
            None => Err(PassError::at(user, format!("calls @{name}, which the module does not have"))),
        }
    }

    /// The number of a closure's function.
    pub fn closure(&mut self, closure: Op<'c>) -> FunctionId {
        let count = self.wanted.len();
        self.want(closure, || {
            let around = std::iter::successors(parent_of(closure), |op| parent_of(*op))
                .find(|op| !is_closure(*op) && op.text("sym_name").is_some());
            format!("{}.fn{count}", around.and_then(|op| op.text("sym_name")).unwrap_or_default())
        })
    }

    /// The number of a kernel, when the function of that name is one.
    pub fn kernel(&mut self, name: &'c str) -> Result<Option<u32>, PassError<'c>> {
        if let Some(known) = self.kernels.get(name) {
            return Ok(Some(*known));
        }
        let Some(function) = self.by_name.get(name).filter(|f| f.attr(SEGMENT).is_some()) else {
            return Ok(None);
        };
        let (inputs, outputs) = signature(*function);
        let types = |types: Vec<Type<'c>>| -> Result<Vec<TensorType>, PassError<'c>> {
            let no_tensor = || PassError::at(*function, "takes or gives something else than tensors");
            types.into_iter().map(|ty| tensor_type_of(ty).ok_or_else(no_tensor)).collect()
        };
        let number = self.program.kernels.len() as u32;
        let (mut inputs, mut outputs) = (types(inputs)?, types(outputs)?);
        let mut shapes = None;
        if dynamic::is_dynamic(*function) {
            let named = dynamic::name(*function)?;
            let body = function.body(0).map(|body| (arguments(body), ops_in(body)));
            let (arguments, ops) = body.unwrap_or_default();
            let returned = ops.last().map(|op| op.operand_values()).unwrap_or_default();
            let of =
                |values: Vec<Value<'c>>| values.into_iter().filter_map(|v| named.of(v).cloned()).collect();
            (inputs, outputs) = (of(arguments), of(returned));
            shapes = Some(named.shapes);
        }
        self.program.kernels.push(Kernel {
            symbol: name.to_owned(),
            inputs,
            outputs,
            workspace_bytes: 0,
            shapes,
        });
        self.kernels.insert(name, number);
        Ok(Some(number))
    }

    /// True for the function that the program starts with.
    pub fn is_entry(&self, function: Op<'c>) -> bool {
        self.by_name.get(ENTRY).is_some_and(|main| op_key(*main) == op_key(function))
    }

    /// True when the function of that name is a kernel.
    pub fn is_kernel(&self, name: &str) -> bool {
        self.by_name.get(name).is_some_and(|f| f.attr(SEGMENT).is_some())
    }

    /// The number of a constant.
    pub fn constant(&mut self, op: Op<'c>) -> Result<u32, PassError<'c>> {
        let value = op.attr("value").ok_or_else(|| PassError::at(op, "has no value"))?;
        if let Some(known) = self.constants.get(&attr_key(value)) {
            return Ok(*known);
        }
        let tensor =
            read_tensor(value).ok_or_else(|| PassError::at(op, "holds no elements that can be read"))?;
        let mut hash = blake3::Hasher::new();
        hash.update(tensor.tensor_type().to_string().as_bytes()).update(tensor.bytes());
        for string in tensor.strings() {
            hash.update(&string.len().to_le_bytes()).update(string.as_bytes());
        }
        let next = self.program.constants.len() as u32;
        let number = *self.contents.entry(hash.finalize()).or_insert(next);
        if number == next {
            self.program.constants.push(tensor);
        }
        self.constants.insert(attr_key(value), number);
        Ok(number)
    }

    /// The declaration of a data type.
    pub fn declaration(&self, user: Op<'c>, name: &str) -> Result<&relay::DataType<'c>, PassError<'c>> {
        let unknown =
            || PassError::at(user, format!("needs the data type @{name}, which the module does not declare"));
        self.declared.get(name).ok_or_else(unknown)
    }

    /// The number of a data type.
    pub fn data(&mut self, user: Op<'c>, name: &str) -> Result<u32, PassError<'c>> {
        if let Some(known) = self.data.get(name) {
            return Ok(*known);
        }
        let declared = self.declaration(user, name)?;
        let (name, number) = (declared.name, self.program.data.len() as u32);
        let parameters = declared.parameters.clone();
        let constructors = declared.constructors.iter();
        let constructors: Vec<(String, Vec<Type>)> =
            constructors.map(|c| (c.name.to_owned(), c.fields.clone())).collect();
        self.program.data.push(DataType { name: name.to_owned(), constructors: Vec::new() });
        self.data.insert(name, number);
        // Fields may be of the type itself, or of one that is met here first.
        for (name, fields) in constructors {
            let fields = fields.into_iter().map(|ty| self.value_type(user, ty, &parameters));
            let fields = fields.collect::<Result<_, _>>()?;
            self.program.data[number as usize].constructors.push(Constructor { name, fields });
        }
        Ok(number)
    }

    /// The numbers of a data type and of one of its constructors.
    pub fn constructor(&mut self, user: Op<'c>, data: &str, name: &str) -> Result<(u32, u32), PassError<'c>> {
        let unknown =
            || PassError::at(user, format!("needs the constructor @{data}::@{name}, which is not declared"));
        let (tag, _) = self.declaration(user, data)?.constructor(name).ok_or_else(unknown)?;
        Ok((self.data(user, data)?, tag as u32))
    }

    /// What the program takes and gives.
    fn signature(&mut self, main: Op<'c>) -> Result<(), PassError<'c>> {
        if main.body(0).is_none() {
            return Err(PassError::at(main, format!("@{ENTRY} is declared, not defined")));
        }
        let (inputs, outputs) = signature(main);
        let attrs: Vec<Attribute> = main.attr("arg_attrs").map(array_elements).unwrap_or_default();
        for (i, ty) in inputs.into_iter().enumerate() {
            let given = attrs.get(i).and_then(|attrs| dictionary_text(*attrs, NAME));
            let ty = self.value_type(main, ty, &[])?;
            self.program.inputs.push((given.unwrap_or_else(|| format!("input_{i}")), ty));
        }
        let mut outputs =
            outputs.into_iter().map(|ty| self.value_type(main, ty, &[])).collect::<Result<Vec<_>, _>>()?;
        let ranges = ranges::of(main)?;
        for (name, _) in &ranges {
            if places(self.program.inputs.iter().map(|(_, ty)| ty), name).next().is_none() {
                let why = format!(
                    "says which sizes the extent {name} has, and no input has an extent of that name"
                );
                return Err(PassError::at(main, why));
            }
        }
        self.program.ranges = ranges;
        self.program.output = if outputs.len() == 1 { outputs.remove(0) } else { ValueType::Tuple(outputs) };
        Ok(())
    }

    /// A type, in which a data type's parameters may stand.
    fn value_type(
        &mut self,
        user: Op<'c>,
        ty: Type<'c>,
        parameters: &[&str],
    ) -> Result<ValueType, PassError<'c>> {
        let all = |lowering: &mut Self, types: Vec<Type<'c>>| {
            types
                .into_iter()
                .map(|ty| lowering.value_type(user, ty, parameters))
                .collect::<Result<Vec<_>, _>>()
        };
        let parts = type_parts(ty);
        if let TypeParts::Var(name) = parts
            && let Some(place) = parameters.iter().position(|parameter| *parameter == name)
        {
            return Ok(ValueType::Parameter(place as u32));
        }
        Ok(match parts {
            TypeParts::Tensor(tensor) => ValueType::Tensor(tensor),
            TypeParts::Tuple(elements) => ValueType::Tuple(all(self, elements)?),
            TypeParts::Adt(name, arguments) => ValueType::Data(self.data(user, name)?, all(self, arguments)?),
            TypeParts::Ref(value) => ValueType::Cell(Box::new(self.value_type(user, value, parameters)?)),
            TypeParts::Function(..) => ValueType::Function,
            TypeParts::Var(_) | TypeParts::Hole | TypeParts::Other => {
                return Err(PassError::at(
                    user,
                    format!(
                        "takes or gives a value of type {ty}; a program needs types without variables and unknowns"
                    ),
                ));
            }
        })
    }
}

/// The types of what a function takes and gives.
pub fn signature<'c>(function: Op<'c>) -> (Vec<Type<'c>>, Vec<Type<'c>>) {
    function.attr("function_type").and_then(type_of_attr).and_then(function_parts).unwrap_or_default()
}
