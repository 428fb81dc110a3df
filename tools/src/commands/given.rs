//! What a model or a program is run on, by the command line.

use crate::failure::Failure;
use clap::Args;
use fusion::programs::Inputs;
use fusion_operators::ValueTree;
use fusion_runtime::npz;
use std::path::PathBuf;

/// Inputs by name.
#[derive(Debug, Args)]
pub struct Given {
    /// Inputs by name, as numpy.savez writes them; or a .npy file for a model of one input.
    #[arg(long, value_name = "FILE.npz")]
    pub inputs: Option<PathBuf>,

    /// An input as the language writes it, such as xs='Cons(1f, Nil)' or x='tensor<2xf32> [1.0, 2.0]'; as often as there are
    /// inputs.
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = named_value)]
    pub values: Vec<(String, ValueTree)>,
}

impl Given {
    /// Reads the file if there is one; the values join its tensors.
    pub fn read(&self) -> Result<Inputs, Failure> {
        let tensors = self.inputs.as_deref().map(npz::read).transpose()?.unwrap_or_default();
        let mut inputs: Inputs =
            tensors.into_iter().map(|(name, tensor)| (name, ValueTree::tensor(tensor))).collect();
        for (name, value) in &self.values {
            if inputs.insert(name.clone(), value.clone()).is_some() {
                return Err(Failure::Inputs(format!("the input {name:?} is given twice")));
            }
        }
        Ok(inputs)
    }

    /// Whether the command line gives nothing.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_none() && self.values.is_empty()
    }
}

/// `NAME=VALUE` of the command line.
fn named_value(text: &str) -> Result<(String, ValueTree), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("it has no =; write NAME=VALUE".to_owned());
    };
    match ValueTree::parse(value) {
        Ok(value) => Ok((name.trim().to_owned(), value)),
        Err(error) => {
            let column = error.column + name.chars().count() + 1;
            Err(format!("column {column}: {}", error.message))
        }
    }
}
