//! What is compiled: a file, or bytes in memory.
//!
//! ```text
//!     model.onnx              ONNX, and what has no other extension
//!     model.relay, model.rly  Relay text
//!     model.mlir              MLIR text: of the dialect relay, or StableHLO, which its content shows
//!     model.mlirbc, .jax      StableHLO: a portable artifact, a file of jax.export
//! ```

use fusion_importers::stablehlo;
use std::path::Path;

/// The form of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ONNX's protocol buffers.
    Onnx,
    /// Relay text.
    Relay,
    /// MLIR text of the dialect relay, or a program of StableHLO.
    Mlir,
    /// StableHLO: text, a portable artifact, or what `jax.export` serializes.
    StableHlo,
}

/// Where a model is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    /// In a file.
    File(&'a Path),
    /// In memory.
    Bytes(&'a [u8]),
}

/// A model to compile. A path is one, by its extension.
///
/// ```
/// let mlir = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
/// assert_eq!(fusion::Source::mlir(mlir).format(), fusion::Format::Mlir);
/// assert_eq!(fusion::Source::from("model.onnx").format(), fusion::Format::Onnx);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    format: Format,
    pub(crate) content: Content<'a>,
}

impl<'a> Source<'a> {
    /// A file; its extension says the form.
    pub fn file(path: &'a Path) -> Source<'a> {
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("mlir") => Format::Mlir,
            Some("mlirbc" | "jax" | "stablehlo") => Format::StableHlo,
            Some("relay" | "rly") => Format::Relay,
            _ => Format::Onnx,
        };
        Source { format, content: Content::File(path) }
    }

    /// A serialised ONNX model whose tensors are all in it.
    pub fn onnx(bytes: &'a [u8]) -> Source<'a> {
        Source { format: Format::Onnx, content: Content::Bytes(bytes) }
    }

    /// A model in memory whose content shows what it is: StableHLO, or else ONNX.
    pub fn bytes(bytes: &'a [u8]) -> Source<'a> {
        match stablehlo::is_stablehlo(bytes) {
            true => Source::stablehlo(bytes),
            false => Source::onnx(bytes),
        }
    }

    /// MLIR text.
    pub fn mlir(text: &'a str) -> Source<'a> {
        Source { format: Format::Mlir, content: Content::Bytes(text.as_bytes()) }
    }

    /// A StableHLO program: text, a portable artifact, or what `jax.export` serializes.
    pub fn stablehlo(bytes: &'a [u8]) -> Source<'a> {
        Source { format: Format::StableHlo, content: Content::Bytes(bytes) }
    }

    /// Relay text. It may import the prelude, and no files.
    pub fn relay(text: &'a str) -> Source<'a> {
        Source { format: Format::Relay, content: Content::Bytes(text.as_bytes()) }
    }

    /// The form.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The name of the model, an identifier, from that of its file.
    pub(crate) fn name(&self) -> String {
        match self.content {
            Content::File(path) => name_of(path),
            Content::Bytes(_) => "model".to_owned(),
        }
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Source<'a> {
    fn from(path: &'a P) -> Source<'a> {
        Source::file(path.as_ref())
    }
}

/// The name of a model, an identifier, from that of its file.
pub fn name_of(model: &Path) -> String {
    let stem = model.file_stem().unwrap_or_default().to_string_lossy();
    stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
