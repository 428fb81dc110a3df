//! The functions that gates of recurrent operators are bent by, with their parameters (ONNX, "LSTM", activations).

use fusion_operators::ops::elementwise as ew;

use crate::onnx::build::Made;
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::Value;
use crate::onnx::ops::nn::activation::{elu, hard_sigmoid, leaky_relu, softplus};

/// A function of a value and the attributes alpha and beta.
type Function = fn(&mut Importer, Value, [Option<f64>; 2]) -> Made;

const FUNCTIONS: [(&str, Function); 11] = [
    ("Sigmoid", |im, x, _| im.un(&ew::SIGMOID, x)),
    ("Tanh", |im, x, _| im.un(&ew::TANH, x)),
    ("Relu", |im, x, _| im.un(&ew::RELU, x)),
    ("Softplus", |im, x, _| softplus(im, x)),
    ("Elu", |im, x, [alpha, _]| elu(im, x, alpha.unwrap_or(1.0))),
    ("HardSigmoid", |im, x, [alpha, beta]| hard_sigmoid(im, x, alpha.unwrap_or(0.2), beta.unwrap_or(0.5))),
    ("Affine", |im, x, [alpha, beta]| {
        let scaled = im.mul_f(x, alpha.unwrap_or(1.0))?;
        im.add_f(scaled, beta.unwrap_or(0.0))
    }),
    ("ScaledTanh", |im, x, [alpha, beta]| {
        let scaled = im.mul_f(x, beta.unwrap_or(1.0))?;
        let bent = im.un(&ew::TANH, scaled)?;
        im.mul_f(bent, alpha.unwrap_or(1.0))
    }),
    ("LeakyRelu", |im, x, [alpha, _]| leaky_relu(im, x, alpha.unwrap_or(0.01))),
    ("ThresholdedRelu", |im, x, [alpha, _]| {
        let (low, zero) = (im.less_f(x, alpha.unwrap_or(1.0))?, im.like(x, 0.0)?);
        im.select(low, zero, x)
    }),
    ("Softsign", |im, x, _| {
        let size = im.un(&ew::ABS, x)?;
        let below = im.add_f(size, 1.0)?;
        im.div(x, below)
    }),
];

/// A function with its parameters.
pub struct Bend {
    function: Function,
    parameters: [Option<f64>; 2],
}

impl Bend {
    /// By its name, in upper or lower case.
    pub fn named(name: &str, parameters: [Option<f64>; 2]) -> Result<Bend, Fault> {
        let found = FUNCTIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let (_, function) = found.ok_or_else(|| Fault::unsupported(format!("activation '{name}'")))?;
        Ok(Bend { function: *function, parameters })
    }

    /// The function of x.
    pub fn of(&self, im: &mut Importer, x: Value) -> Made {
        (self.function)(im, x, self.parameters)
    }
}
