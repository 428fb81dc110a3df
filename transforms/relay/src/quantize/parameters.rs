//! Scales and zero points, and the whole numbers they are for.

use fusion_operators::DType;
use fusion_operators::ops::quantization::simulated;

/// The whole numbers that stand for floats: from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// The least.
    pub least: f64,
    /// The greatest.
    pub most: f64,
}

impl Numbers {
    /// They fit one byte.
    pub fn new(least: f64, most: f64) -> Result<Numbers, String> {
        let whole = least.fract() == 0.0 && most.fract() == 0.0;
        let fits = least >= 0.0 && most <= 255.0 || least >= -128.0 && most <= 127.0;
        match whole && fits && least < most {
            true => Ok(Numbers { least, most }),
            false => Err(format!(
                "has the numbers {least} to {most}; they must be whole and fit 8 bits, as 0 to 255 and -127 to 127 do"
            )),
        }
    }

    /// Whether there is no zero point: as many numbers are below 0 as above.
    pub fn is_symmetric(&self) -> bool {
        self.least == -self.most
    }

    /// How many bits they have.
    pub fn bits(&self) -> u32 {
        (self.most - self.least + 1.0).log2().ceil() as u32
    }

    /// The element type that holds them.
    pub fn dtype(&self) -> DType {
        if self.least < 0.0 { DType::I8 } else { DType::U8 }
    }

    /// The scale and zero point for elements from `low` to `high`; floats of that type hold the scale.
    pub fn fit(&self, (low, high): (f64, f64), dtype: DType) -> (f64, f64) {
        // 0 has a number of its own: what is padded and what is behind a rectifier stays exact.
        let (low, high) = (low.min(0.0), high.max(0.0));
        let scale = match self.is_symmetric() {
            true => high.max(-low) / self.most,
            false => (high - low) / (self.most - self.least),
        };
        let scale = rounded(scale, dtype);
        // Of zeros alone every scale is right but 0.
        if scale == 0.0 {
            return (1.0, if self.is_symmetric() { 0.0 } else { self.least });
        }
        let zero = match self.is_symmetric() {
            true => 0.0,
            false => (self.least - low / scale).round_ties_even().clamp(self.least, self.most),
        };
        (scale, zero)
    }

    /// What is left of an element.
    pub fn simulate(&self, x: f64, (scale, zero): (f64, f64)) -> f64 {
        simulated(x, scale, zero, self.least, self.most)
    }
}

fn rounded(x: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F64 => x,
        DType::F32 => f64::from(x as f32),
        _ => fusion_operators::Tensor::from_f64s(dtype, &[], &[x]).map_or(x, |t| t.f64_at(0)),
    }
}

/// One scale and zero point, or one of each a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Steps between neighbouring numbers; 0 where nothing is quantized.
    pub scales: Vec<f64>,
    /// The numbers that stand for 0.
    pub zeros: Vec<f64>,
}

impl Parameters {
    /// Those of an edge that stays in floats.
    pub fn none() -> Parameters {
        Parameters { scales: vec![0.0], zeros: vec![0.0] }
    }

    /// Whether the edge stays in floats.
    pub fn is_none(&self) -> bool {
        self.scales.iter().all(|&scale| scale == 0.0)
    }

    /// Says what is wrong with them.
    pub fn check(&self, numbers: &Numbers) -> Result<(), String> {
        if let Some(scale) = self.scales.iter().find(|scale| !(scale.is_finite() && **scale >= 0.0)) {
            return Err(format!(
                "has the scale {scale}, and a scale is a number above 0, or 0 where nothing is quantized"
            ));
        }
        if !self.is_none() && self.scales.contains(&0.0) {
            return Err("has the scale 0 for some channels only; give all of them a scale above 0".to_owned());
        }
        let within = |zero: &&f64| zero.fract() == 0.0 && (numbers.least..=numbers.most).contains(zero);
        match self.zeros.iter().find(|zero| !within(zero)) {
            Some(zero) if !self.is_none() => Err(format!(
                "has the zero point {zero}, and zero points are whole numbers from {} to {}",
                numbers.least, numbers.most
            )),
            _ => Ok(()),
        }
    }
}
