//! The compiler as a library: models in, code that runs out.
//!
//! ```
//! use fusion::{Compiler, Source, Tensor};
//!
//! let model = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
//!   %y = relay.relu %x : (tensor<3xf32>) -> tensor<3xf32>
//!   return %y : tensor<3xf32>
//! }";
//! let module = Compiler::new().compile(Source::mlir(model))?; // or a path: .onnx, .relay, .mlir
//! let x = Tensor::from_slice(&[3], &[-1.0f32, 0.5, 2.0])?;
//! let outputs = module.run(&[x])?;
//! assert_eq!(outputs[0].to_vec::<f32>(), Some(vec![0.0, 0.5, 2.0]));
//! # Ok::<(), fusion::Error>(())
//! ```
//!
//! [`Compiler`] says how a model is compiled, with passes, rules and targets of one's own. [`Module`] is a compiled model: it runs, and is
//! saved and loaded. [`dlpack`] takes and gives tensors of other libraries; with the feature `ndarray`, [`TensorView`]s are made of arrays.
//! The other modules are the layers below, which the programs `fusion` and `fusion-opt` use as well.

#[cfg(feature = "ndarray")]
mod arrays;
mod bind;
pub mod compilation;
mod compiler;
pub mod dlpack;
pub mod driver;
mod error;
pub mod extend;
mod external;
mod language;
pub mod load;
pub mod models;
mod module;
mod notes;
pub mod package;
mod passes;
pub mod programs;
pub mod quantize;
pub mod shapes;
pub mod source;
pub mod stages;
pub mod target;
pub mod validate;

#[cfg(feature = "ndarray")]
pub use arrays::{array, view};
pub use compiler::Compiler;
pub use error::{DriverError, Error};
pub use fusion_dialects::module::Level;
pub use fusion_operators::tensor::Element;
pub use fusion_operators::{AsTensor, DType, Tensor, TensorView, ValueTree};
pub use fusion_runtime::{ArgumentDescription, Session, TensorViewMut};
pub use module::Module;
pub use passes::{mixed_precision, register_passes};
pub use shapes::Axis;
pub use source::{Format, Source};
pub use target::Target;
