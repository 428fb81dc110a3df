//! Loading of models and test data from files or memory.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use fusion_operators::Tensor;
use prost::Message;
use prost::bytes::Bytes;

use super::proto::{GraphProto, ModelProto, SequenceProto, TensorProto, ValueInfoProto, type_proto};
use super::tensor::{TensorProtoError, tensor};

/// A decoded model, and where its external data lies.
pub struct Model {
    /// The message.
    pub proto: ModelProto,
    /// The directory of the file it was read from.
    pub directory: Option<PathBuf>,
}

/// Why a file is not a model.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum LoadError {
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{what} is not an ONNX {kind}: {source}; the file may be truncated or of another format")]
    Decode { what: String, kind: &'static str, source: prost::DecodeError },
    #[error("{what} has no graph; it is not an ONNX model, or it is empty")]
    NoGraph { what: String },
    #[error("{what} names no operator set, so the meaning of its operators is unknown")]
    NoOpset { what: String },
    #[error(transparent)]
    Tensor(#[from] TensorProtoError),
}

impl LoadError {
    /// True when the file is well formed but holds something that is not supported.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, LoadError::Tensor(TensorProtoError::ElementType { .. }))
    }
}

impl Model {
    /// Reads a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let bytes = read(path)?;
        let mut model = Model::decode(&path.display().to_string(), bytes)?;
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        model.directory = Some(parent.unwrap_or(Path::new(".")).to_owned());
        Ok(model)
    }

    /// Reads bytes; such a model has no external data.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self, LoadError> {
        Model::decode("the model", Bytes::from(bytes.into()))
    }

    fn decode(what: &str, bytes: Bytes) -> Result<Self, LoadError> {
        let what = || what.to_owned();
        let proto = ModelProto::decode(bytes).map_err(|source| LoadError::Decode {
            what: what(),
            kind: "model",
            source,
        })?;
        if proto.graph.is_none() {
            return Err(LoadError::NoGraph { what: what() });
        }
        if proto.opset_import.is_empty() {
            return Err(LoadError::NoOpset { what: what() });
        }
        Ok(Model { proto, directory: None })
    }

    /// The main graph.
    pub fn graph(&self) -> &GraphProto {
        static EMPTY: std::sync::OnceLock<GraphProto> = std::sync::OnceLock::new();
        self.proto.graph.as_ref().unwrap_or_else(|| EMPTY.get_or_init(GraphProto::default))
    }
}

fn read(path: &Path) -> Result<Bytes, LoadError> {
    fs::read(path).map(Bytes::from).map_err(|source| LoadError::Io { path: path.to_owned(), source })
}

/// Reads a file that holds one `TensorProto`, as test data does.
pub fn read_tensor(path: &Path) -> Result<Tensor, LoadError> {
    let decoded = TensorProto::decode(read(path)?);
    let what = || path.display().to_string();
    let proto = decoded.map_err(|source| LoadError::Decode { what: what(), kind: "tensor", source })?;
    Ok(tensor(&proto, path.parent())?)
}

/// An input or output of a model's graph, as test data needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Whether it is a single tensor, or an optional one; otherwise a sequence, or an optional one, or a map.
    pub is_tensor: bool,
}

impl Model {
    /// The inputs that are no initializers (old files list these too) and the outputs of the graph, in order.
    pub fn ports(&self) -> (Vec<Port>, Vec<Port>) {
        let port = |info: &ValueInfoProto| {
            let value = |ty: &super::proto::TypeProto| ty.value.clone();
            let kind = match info.r#type.as_ref().and_then(value) {
                Some(type_proto::Value::Optional(inner)) => inner.elem_type.as_deref().and_then(value),
                kind => kind,
            };
            Port { name: info.name.clone(), is_tensor: matches!(kind, Some(type_proto::Value::Tensor(_))) }
        };
        (self.inputs().map(port).collect(), self.graph().output.iter().map(port).collect())
    }

    /// The graph's inputs that are no initializers, which old files list as well.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &ValueInfoProto> {
        let graph = self.graph();
        let sparse = graph.sparse_initializer.iter().filter_map(|sparse| sparse.values.as_ref());
        let given: HashSet<&str> = graph.initializer.iter().chain(sparse).map(|t| t.name.as_str()).collect();
        graph.input.iter().filter(move |info| !given.contains(info.name.as_str()))
    }
}

/// Reads a file that holds one `SequenceProto` of tensors, or an `OptionalProto` of one or of a tensor.
pub fn read_sequence(path: &Path) -> Result<Vec<Tensor>, LoadError> {
    let decoded = SequenceProto::decode(read(path)?);
    let what = || path.display().to_string();
    let proto = decoded.map_err(|source| LoadError::Decode { what: what(), kind: "sequence", source })?;
    let list = match &proto.sequence_values[..] {
        [only] if proto.tensor_values.is_empty() => &only.tensor_values,
        _ => &proto.tensor_values,
    };
    let tensors: Result<Vec<_>, _> = list.iter().map(|t| tensor(t, path.parent())).collect();
    Ok(tensors?)
}
