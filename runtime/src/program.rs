//! Loading and running a program of the whole language that was compiled ahead of time: `fusion_call` of `docs/reference/abi.md`.
//!
//! Values go in as items, each before its parts, and come out as pointers to where the program has them; here they become
//! [`ValueTree`]s by loops, so their depth does not matter.
//!
//! With `module.rs` this is where foreign code is called.
#![allow(unsafe_code)]

use crate::description::{ModelDescription, ProgramDescription};
use crate::module::{LoadError, Module, RunError, symbol};
use crate::raw::{RawString, RawTensor};
use fusion_bytecode::{ValueType, check_inputs};
use fusion_operators::{DType, Dim, Item, Tensor, TensorType, ValueTree};
use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

/// Parts of a value that are read: what is shared is read every time it is met, which may be without end.
const MOST_ITEMS: usize = 1 << 26;

/// Axes that a tensor may have.
const MOST_AXES: usize = 64;

/// A value of the library.
type Value = *const c_void;

/// `struct fusion_item`.
#[repr(C)]
struct RawItem {
    kind: u32,
    data_type: u32,
    tag: u32,
    dtype: u32,
    parts: u32,
    extents: *const i64,
    data: *const c_void,
}

type Call = unsafe extern "C" fn(*const RawItem, u64, *mut Value) -> i32;
type Message = unsafe extern "C" fn() -> *const c_char;
type Number = unsafe extern "C" fn() -> i64;
type Release = unsafe extern "C" fn(Value);
type Fact = unsafe extern "C" fn(Value) -> u32;
type Part = unsafe extern "C" fn(Value, u32) -> Value;
type Extent = unsafe extern "C" fn(Value, u32) -> i64;
type Strings = unsafe extern "C" fn(Value, Value, *mut RawString) -> i32;
type OutputShape = unsafe extern "C" fn(*const RawTensor, u32, u32, *mut i64, u32) -> i32;
type RunBytes = unsafe extern "C" fn(*const RawTensor, u32, *mut u64) -> i32;
/// `fusion_allocate`.
type Allocate = unsafe extern "C" fn(*mut c_void, u32, *const RawTensor) -> *mut c_void;
type RunTensors = unsafe extern "C" fn(*const RawTensor, u32, Allocate, *mut c_void) -> i32;
type Data = unsafe extern "C" fn(Value) -> *const c_void;

/// The functions of the library.
pub(crate) struct Interface {
    call: Call,
    last_error: Message,
    live_values: Number,
    release: Release,
    kind: Fact,
    data_type: Fact,
    tag: Fact,
    count: Fact,
    field: Part,
    dtype: Fact,
    rank: Fact,
    extent: Extent,
    data: Data,
    strings: Strings,
    /// Libraries of before there was this have none.
    pub(crate) run_tensors: Option<RunTensors>,
    output_shape: Option<OutputShape>,
    run_bytes: Option<RunBytes>,
}

const TENSOR: u32 = 0;
const DATA: u32 = 1;
const TUPLE: u32 = 2;
const CELL: u32 = 4;

/// A compiled program of the whole language.
pub struct NativeProgram {
    module: Module,
    pub(crate) program: ProgramDescription,
    pub(crate) interface: Interface,
    /// Keeps the code of `interface` in memory.
    _library: Library,
}

impl NativeProgram {
    /// Loads a library that was compiled of a program; `None` for one that was compiled of a model, which is a [`Module`] only.
    /// Loading runs its initialisers, so load only what you trust.
    pub fn load(path: &Path) -> Result<Option<NativeProgram>, LoadError> {
        let module = Module::load(path)?;
        let Some(program) = module.description().program.clone() else { return Ok(None) };
        let unloadable = |why: String| LoadError::Library { path: path.to_owned(), why };
        let full = path.canonicalize().map_err(|error| unloadable(error.to_string()))?;
        // SAFETY: the same library has just been loaded, on the caller's word.
        let library = unsafe { Library::new(&full) }.map_err(|error| unloadable(error.to_string()))?;
        macro_rules! function {
            ($name:literal as $ty:ty) => {{
                let address: *const c_void = symbol(&library, path, $name)?;
                // SAFETY: a library that describes a program has a function of the field's type by this name, see docs/reference/abi.md.
                unsafe { std::mem::transmute::<*const c_void, $ty>(address) }
            }};
        }
        macro_rules! newer {
            ($name:literal as $ty:ty) => {
                // SAFETY: as above.
                symbol(&library, path, $name).ok().map(|address: *const c_void| unsafe {
                    std::mem::transmute::<*const c_void, $ty>(address)
                })
            };
        }
        let interface = Interface {
            call: function!("fusion_call" as Call),
            last_error: function!("fusion_last_error" as Message),
            live_values: function!("fusion_live_values" as Number),
            release: function!("fusion_value_release" as Release),
            kind: function!("fusion_value_kind" as Fact),
            data_type: function!("fusion_value_data_type" as Fact),
            tag: function!("fusion_value_tag" as Fact),
            count: function!("fusion_value_count" as Fact),
            field: function!("fusion_value_field" as Part),
            dtype: function!("fusion_value_dtype" as Fact),
            rank: function!("fusion_value_rank" as Fact),
            extent: function!("fusion_value_extent" as Extent),
            data: function!("fusion_value_data" as Data),
            strings: function!("fusion_value_strings" as Strings),
            run_tensors: newer!("fusion_run_tensors" as RunTensors),
            output_shape: newer!("fusion_output_shape" as OutputShape),
            run_bytes: newer!("fusion_run_bytes" as RunBytes),
        };
        Ok(Some(NativeProgram { module, program, interface, _library: library }))
    }

    /// The library as a model. Its runs fail unless the program takes and gives tensors of known shapes.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// What it says of itself.
    pub fn description(&self) -> &ModelDescription {
        self.module.description()
    }

    /// How many values there are of runs that have ended: those that are held, and those that own themselves through a cell.
    pub fn live_values(&self) -> i64 {
        // SAFETY: the function takes nothing, and the library is loaded.
        unsafe { (self.interface.live_values)() }
    }

    /// Runs the program once.
    pub fn call(&self, inputs: &[ValueTree]) -> Result<ValueTree, RunError> {
        let types = &self.program.types;
        let constructors = check_inputs(&types.data, &types.inputs, &types.ranges, inputs)?;
        let mut constructors = constructors.into_iter().flatten();
        let all: Vec<&Item> = inputs.iter().flat_map(|input| &input.items).collect();
        let extents = |item: &&Item| match item {
            Item::Tensor(tensor) => tensor.shape().iter().map(|&n| n as i64).collect(),
            _ => Vec::new(),
        };
        let extents: Vec<Vec<i64>> = all.iter().map(extents).collect();
        let strings: Vec<Vec<RawString>> = all.iter().map(|item| raw_strings(item)).collect();
        let items = all.iter().zip(&extents).zip(&strings);
        let items: Vec<RawItem> =
            items.map(|((item, extents), own)| raw(item, extents, own, &mut constructors)).collect();
        let mut value: Value = std::ptr::null();
        // SAFETY: the items and what they point to live through the call; the program checks what they say.
        let code = unsafe { (self.interface.call)(items.as_ptr(), items.len() as u64, &mut value) };
        if code != 0 {
            return Err(self.last_error());
        }
        let tree = self.read(value);
        // SAFETY: the value is one that `fusion_call` gave, and nobody uses it any more.
        unsafe { (self.interface.release)(value) };
        tree
    }

    /// Why the last call did not do what was asked.
    pub(crate) fn last_error(&self) -> RunError {
        // SAFETY: the text ends with NUL and stays until the next run on this thread.
        let why = unsafe { CStr::from_ptr((self.interface.last_error)()) };
        RunError::Program(why.to_string_lossy().into_owned())
    }

    /// Names and types of what it takes, where these are tensors.
    pub fn inputs(&self) -> Result<Vec<(String, TensorType)>, RunError> {
        let tensor = |(name, ty): &(String, ValueType)| match ty {
            ValueType::Tensor(ty) => Ok((name.clone(), ty.clone())),
            _ => Err(RunError::Program(format!(
                "input {name:?} of the program is no tensor, and has no shape"
            ))),
        };
        self.program.types.inputs.iter().map(tensor).collect()
    }

    /// How many results it gives.
    pub fn outputs(&self) -> usize {
        self.program.outputs.unwrap_or(1)
    }

    /// The shape of a result for inputs of these types, without running the program.
    pub fn output_shape(&self, inputs: &[TensorType], output: u32) -> Result<Vec<u64>, RunError> {
        let ask = self.interface.output_shape.ok_or_else(older)?;
        with_shapes(inputs, |inputs| {
            let mut shape = vec![0i64; MOST_AXES];
            let count = inputs.len() as u32;
            // SAFETY: tensors and shape live through the call, which looks at no data and writes as many extents as it is told.
            let rank = unsafe { ask(inputs.as_ptr(), count, output, shape.as_mut_ptr(), MOST_AXES as u32) };
            let rank = usize::try_from(rank).map_err(|_| self.last_error())?;
            Ok(shape.into_iter().take(rank).map(|n| n as u64).collect())
        })
    }

    /// How many bytes of tensors a run on inputs of these types holds at a time, besides inputs and constants.
    pub fn run_bytes(&self, inputs: &[TensorType]) -> Result<u64, RunError> {
        let ask = self.interface.run_bytes.ok_or_else(older)?;
        with_shapes(inputs, |inputs| {
            let mut bytes = 0;
            // SAFETY: tensors and number live through the call, which looks at no data.
            let code = unsafe { ask(inputs.as_ptr(), inputs.len() as u32, &mut bytes) };
            if code == 0 { Ok(bytes) } else { Err(self.last_error()) }
        })
    }

    fn read(&self, whole: Value) -> Result<ValueTree, RunError> {
        enum Step {
            Enter(Value),
            Leave,
        }
        let mut tree = ValueTree::default();
        let (mut steps, mut cells) = (vec![Step::Enter(whole)], Vec::<Value>::new());
        while let Some(step) = steps.pop() {
            let Step::Enter(value) = step else {
                cells.pop();
                continue;
            };
            if tree.items.len() >= MOST_ITEMS {
                tree.items.push(Item::More);
                continue;
            }
            let item = self.item(whole, value)?;
            if item == Item::Cell {
                if cells.contains(&value) {
                    tree.items.push(Item::More);
                    continue;
                }
                cells.push(value);
                steps.push(Step::Leave);
            }
            for part in (0..item.parts() as u32).rev() {
                // SAFETY: the value lives until it is released, and has that many parts.
                steps.push(Step::Enter(unsafe { (self.interface.field)(value, part) }));
            }
            tree.items.push(item);
        }
        Ok(tree)
    }

    /// The tensor of strings that a part of a value is.
    fn strings(&self, whole: Value, tensor: Value, shape: &[usize]) -> Result<Tensor, RunError> {
        let bytes = fusion_operators::tensor::bytes_of(DType::String, shape)?;
        let mut raw = vec![RawString::NONE; bytes / DType::String.size()];
        // SAFETY: the list has room for each element, and both values live until the whole is released.
        if unsafe { (self.interface.strings)(whole, tensor, raw.as_mut_ptr()) } != 0 {
            return Err(RunError::Program("the library does not give the strings of a tensor".to_owned()));
        }
        // SAFETY: the library gave strings of so many bytes, which live as the value does.
        let text = |raw: &RawString| unsafe { raw.text() };
        Ok(Tensor::from_strings(shape, &raw.iter().map(text).collect::<Vec<String>>())?)
    }

    /// What a value is, which is `whole` or a part of it, besides its parts.
    fn item(&self, whole: Value, value: Value) -> Result<Item, RunError> {
        let of = &self.interface;
        // SAFETY: here and below, the value lives until it is released; the functions look at it only.
        let (kind, count) = unsafe { ((of.kind)(value), (of.count)(value) as usize) };
        Ok(match kind {
            TENSOR => {
                // SAFETY: as above.
                let (dtype, rank) = unsafe { ((of.dtype)(value) as usize, (of.rank)(value)) };
                // SAFETY: as above.
                let shape = (0..rank).map(|axis| unsafe { (of.extent)(value, axis) } as usize);
                let shape: Vec<usize> = shape.collect();
                let dtype = DType::ALL.get(dtype).copied().unwrap_or(DType::U8);
                if dtype == DType::String {
                    return Ok(Item::Tensor(self.strings(whole, value, &shape)?));
                }
                let bytes = fusion_operators::tensor::bytes_of(dtype, &shape)?;
                // SAFETY: a tensor has that many bytes there, or the program could not have written them.
                let bytes = unsafe { std::slice::from_raw_parts((of.data)(value).cast::<u8>(), bytes) };
                Item::Tensor(Tensor::from_bytes(dtype, &shape, bytes)?)
            }
            DATA => {
                // SAFETY: as above.
                let (ty, tag) = unsafe { ((of.data_type)(value) as usize, (of.tag)(value) as usize) };
                let constructor = self.program.data.get(ty).and_then(|data| data.constructors.get(tag));
                Item::Data(constructor.map_or("?", |(name, _)| name).to_owned(), count)
            }
            TUPLE => Item::Tuple(count),
            CELL => Item::Cell,
            _ => Item::Function,
        })
    }
}

/// Why a library does not tell what follows from shapes.
pub(crate) fn older() -> RunError {
    RunError::Program(
        "the library was compiled before libraries told what follows from shapes; compile the model again"
            .to_owned(),
    )
}

/// Calls with tensors of these types, which have no data.
fn with_shapes<T>(types: &[TensorType], call: impl FnOnce(&[RawTensor]) -> T) -> T {
    // An extent that is not known is none that a tensor may have.
    let extent = |dim: &Dim| dim.known().and_then(|n| i64::try_from(n).ok()).unwrap_or(-1);
    let shapes: Vec<Vec<i64>> = types.iter().map(|ty| ty.dims.iter().map(extent).collect()).collect();
    let none = std::ptr::null_mut();
    let tensors = types.iter().zip(&shapes).map(|(ty, shape)| RawTensor::of(ty.dtype, shape, none));
    call(&tensors.collect::<Vec<_>>())
}

/// The elements of a tensor of strings as the library takes them.
fn raw_strings(item: &Item) -> Vec<RawString> {
    let Item::Tensor(tensor) = item else { return Vec::new() };
    tensor.strings().map(RawString::of).collect()
}

/// An item as the library takes it; `constructors` are data types and tags of those that follow.
fn raw(
    item: &Item,
    extents: &[i64],
    strings: &[RawString],
    constructors: &mut impl Iterator<Item = (u32, u32)>,
) -> RawItem {
    let (kind, (data_type, tag)) = match item {
        Item::Tensor(_) => (TENSOR, (0, 0)),
        Item::Data(..) => (DATA, constructors.next().unwrap_or_default()),
        Item::Cell => (CELL, (0, 0)),
        Item::Tuple(_) | Item::Function | Item::More => (TUPLE, (0, 0)),
    };
    let parts = item.parts() as u32;
    let (extents, data) = (extents.as_ptr(), std::ptr::null());
    match item {
        Item::Tensor(tensor) => RawItem {
            kind,
            data_type,
            tag,
            dtype: DType::ALL.iter().position(|&other| other == tensor.dtype()).unwrap_or(0) as u32,
            parts: tensor.shape().len() as u32,
            extents,
            data: match tensor.dtype() {
                DType::String => strings.as_ptr().cast(),
                _ => tensor.bytes().as_ptr().cast(),
            },
        },
        _ => RawItem { kind, data_type, tag, dtype: 0, parts, extents, data },
    }
}
