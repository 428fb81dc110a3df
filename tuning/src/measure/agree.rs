//! What kernels are run on, and whether two of them give the same.

use fusion_operators::random::Random;
use fusion_operators::{DType, Tensor};
use fusion_runtime::ModelDescription;
use fusion_runtime::compare::{Tolerance, compare};

/// The seed of inputs.
const SEED: u64 = 1;

/// Random inputs.
pub fn inputs_of(description: &ModelDescription) -> Result<Vec<Tensor>, String> {
    let mut random = Random::new(SEED);
    let inputs = description.inputs.iter().map(|input| random.tensor(input.dtype, &input.shape));
    inputs.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// Whether two kernels give the same, up to the order of sums.
pub fn agrees(found: &[Tensor], wanted: &[Tensor]) -> Result<(), String> {
    for (number, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let absolute = match wanted.dtype() {
            DType::F16 | DType::BF16 => 1e-2,
            _ => 1e-4,
        };
        let tolerance = Tolerance { absolute, ..Tolerance::default() };
        let compared =
            compare(found, wanted, tolerance).map_err(|why| format!("of result {number} {why}"))?;
        if let Some(first) = compared.first {
            let at: Vec<String> = first.index.iter().map(ToString::to_string).collect();
            return Err(format!(
                "it gives wrong numbers: element [{}] of result {number} is {}, where the default gives {}",
                at.join(", "),
                first.actual,
                first.expected
            ));
        }
    }
    Ok(())
}
