//! Quantization in three passes, as Relay has them:
//!
//! ```text
//!   conv2d(x, w)  =>  conv2d(sim(x), sim(w))  =>  scales are set  =>  conv2d(dequantize(quantize(x)), dequantize(w as integers))
//!                  annotate                    calibrate           realize
//! ```
//! Which operands may be quantized is a fact of the operator's row. `sim` is `relay.simulated_quantize`: between the passes the program is one of
//! floats, which can be run to see what it loses. Its operands say how an edge is quantized; a scale of 0 says that it is not.

pub mod annotate;
pub mod calibrate;
pub mod distribution;
pub mod method;
pub mod parameters;
pub mod realize;
pub mod simulated;
