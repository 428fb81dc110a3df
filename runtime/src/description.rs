//! What a compiled model says of itself: the JSON of `docs/reference/abi.md`.

use crate::gpu::Device;
use fusion_bytecode::{DataType, Program, Range, ValueType};
use fusion_operators::{DType, Tensor, TensorError, TensorType, tensor::bytes_of};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A compiled model: what it takes, what it gives, and the kernels it is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelDescription {
    /// The model's name, an identifier.
    pub name: String,
    /// The target it was compiled for, as given to `--target`.
    pub target: String,
    /// Inputs, in the order of `fusion_run`.
    pub inputs: Vec<ArgumentDescription>,
    /// Outputs, in the order of `fusion_run`.
    pub outputs: Vec<ArgumentDescription>,
    /// Kernels, in the order they run.
    #[serde(default)]
    pub kernels: Vec<KernelDescription>,
    /// What else a program of the whole language says: how its values are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramDescription>,
    /// What its kernels run on, where that is not the processor itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// Bytes of workspace a call needs. Not in the JSON: a library has it as `fusion_workspace_bytes`.
    #[serde(skip)]
    pub workspace_bytes: u64,
}

/// A program of the whole language: what it takes and gives through `fusion_call`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramDescription {
    /// Its data types; a value names one by its place here.
    pub data: Vec<DataDescription>,
    /// Names and types of what it takes, in order, as they are written in the language.
    pub inputs: Vec<(String, String)>,
    /// The type of what it gives.
    pub output: String,
    /// How many values that is, where it is a tuple.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<usize>,
    /// The same types for who checks values before they go in.
    pub types: InputTypes,
}

/// Types of what a program takes, with those of all fields of data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputTypes {
    /// The data types.
    pub data: Vec<DataType>,
    /// Names and types of inputs, in order.
    pub inputs: Vec<(String, ValueType)>,
    /// Which sizes extents of inputs may have, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<(String, Range)>,
}

/// A data type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataDescription {
    /// Its name.
    pub name: String,
    /// Names of constructors and how many fields each has; a value names one by its place here, its tag.
    pub constructors: Vec<(String, u32)>,
}

/// An input or an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentDescription {
    /// Its name in the model.
    pub name: String,
    /// Its element type.
    #[serde(serialize_with = "write_dtype", deserialize_with = "read_dtype")]
    pub dtype: DType,
    /// Its extents, outermost first.
    pub shape: Vec<usize>,
    /// The bytes of the only value the model was compiled for, where it relies on one: an input that decides extents.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_hex",
        deserialize_with = "read_hex"
    )]
    pub value: Option<Vec<u8>>,
}

/// A kernel, with what was fused into it and what it costs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelDescription {
    /// Its name.
    pub name: String,
    /// What the functions of a GPU that it launches are called but for their numbers: `f` of `f_0`, `f_1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The operators fused into it, in program order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<String>,
    /// Floating-point operations of one run, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops: Option<u64>,
    /// Bytes read from and written to memory in one run, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl ArgumentDescription {
    /// Its type.
    pub fn tensor_type(&self) -> TensorType {
        let shape: Vec<u64> = self.shape.iter().map(|&n| n as u64).collect();
        TensorType::fixed(&shape, self.dtype)
    }

    /// Its bytes in memory.
    pub fn bytes(&self) -> Result<usize, TensorError> {
        bytes_of(self.dtype, &self.shape)
    }

    /// The only value it may have, if there is one.
    pub fn only_value(&self) -> Result<Option<Tensor>, TensorError> {
        let tensor = |bytes: &Vec<u8>| Tensor::from_bytes(self.dtype, &self.shape, bytes);
        self.value.as_ref().map(tensor).transpose()
    }
}

/// What an output is called that the model gives no name.
pub fn output_name(number: usize) -> String {
    format!("output_{number}")
}

impl ModelDescription {
    /// Of a program of the whole language. What it takes and gives as a model is left out where that is not only tensors of known
    /// shapes.
    pub fn of_program(name: &str, target: &str, program: &Program) -> ModelDescription {
        let argument = |name: String, ty: &TensorType| {
            let shape = ty.shape()?.into_iter().map(|n| n as usize).collect();
            Some(ArgumentDescription { name, dtype: ty.dtype, shape, value: None })
        };
        let given = program.tensors_given();
        let inputs = program.inputs.iter().filter_map(|(name, ty)| match ty {
            ValueType::Tensor(ty) if given.is_some() => argument(name.clone(), ty),
            _ => None,
        });
        let given = given.iter().flatten().enumerate();
        let constructors = |data: &DataType| {
            data.constructors.iter().map(|c| (c.name.clone(), c.fields.len() as u32)).collect()
        };
        let data =
            |data: &DataType| DataDescription { name: data.name.clone(), constructors: constructors(data) };
        let typed = |(name, ty): &(String, ValueType)| (name.clone(), program.type_text(ty));
        ModelDescription {
            name: name.to_owned(),
            target: target.to_owned(),
            inputs: inputs.collect(),
            outputs: given.filter_map(|(i, ty)| argument(output_name(i), ty)).collect(),
            kernels: Vec::new(),
            program: Some(ProgramDescription {
                data: program.data.iter().map(data).collect(),
                inputs: program.inputs.iter().map(typed).collect(),
                output: program.type_text(&program.output),
                outputs: match &program.output {
                    ValueType::Tuple(outputs) => Some(outputs.len()),
                    _ => None,
                },
                types: InputTypes {
                    data: program.data.clone(),
                    inputs: program.inputs.clone(),
                    ranges: program.ranges.clone(),
                },
            }),
            device: None,
            workspace_bytes: program.workspace_bytes(),
        }
    }

    /// True for a program that takes or gives more than tensors of known shapes, so that it cannot be run as a model.
    pub fn takes_other_values(&self) -> bool {
        self.program.is_some() && self.outputs.is_empty()
    }

    /// Floating-point operations of one run, when they are known of every kernel.
    pub fn flops(&self) -> Option<u64> {
        total(self.kernels.iter().map(|k| k.flops))
    }

    /// Bytes its kernels read and write in one run, when they are known of every kernel.
    pub fn bytes_moved(&self) -> Option<u64> {
        total(self.kernels.iter().map(|k| k.bytes))
    }
}

fn total(parts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    parts.fold(None, |sum: Option<Option<u64>>, part| {
        Some(sum.unwrap_or(Some(0)).zip(part).and_then(|(a, b)| a.checked_add(b)))
    })?
}

fn write_dtype<S: Serializer>(dtype: &DType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(dtype.mlir_name())
}

fn read_dtype<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DType, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map_err(|()| de::Error::custom(format!("{name:?} is not an element type")))
}

fn write_hex<S: Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|d| char::from_digit(d.into(), 16).unwrap_or('0'));
    serializer.collect_str(&bytes.iter().flatten().flat_map(digits).collect::<String>())
}

fn read_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0);
    let digits = digits.ok_or_else(|| de::Error::custom("a value is not written in hexadecimal"))?;
    Ok(Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()))
}
