//! Whether values have types whose extents may be dynamic: an unknown extent is any, an extent with a name the same one wherever the
//! name is.

use fusion_operators::{Dim, TensorType};
use std::fmt;

/// A value that has not its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMismatch {
    /// Which value it is.
    pub place: usize,
    /// The type it should have.
    pub expected: TensorType,
    /// The type it has.
    pub found: TensorType,
    /// What names of extents stand for, by the values before.
    pub known: Vec<(String, Dim)>,
}

impl std::error::Error for TypeMismatch {}

impl fmt::Display for TypeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a {}", self.expected)?;
        let named =
            |name: &str| self.expected.dims.iter().any(|dim| matches!(dim, Dim::Symbol(n) if n == name));
        for (i, (name, extent)) in self.known.iter().filter(|(name, _)| named(name)).enumerate() {
            write!(f, "{}{name} = {extent}", if i == 0 { " with " } else { ", " })?;
        }
        write!(f, ", found a {}", self.found)
    }
}

/// Compares the types of values with those they should have.
pub fn match_types<'a>(
    types: impl IntoIterator<Item = (&'a TensorType, &'a TensorType)>,
) -> Result<(), Box<TypeMismatch>> {
    let mut known: Vec<(String, Dim)> = Vec::new();
    for (place, (expected, found)) in types.into_iter().enumerate() {
        let mut fits = expected.compatible(found);
        for (dim, extent) in expected.dims.iter().zip(&found.dims) {
            let Dim::Symbol(name) = dim else { continue };
            match known.iter().find(|(known, _)| known == name) {
                Some((_, known)) => fits &= known == extent,
                None => known.push((name.clone(), extent.clone())),
            }
        }
        if !fits {
            let (expected, found) = (expected.clone(), found.clone());
            return Err(Box::new(TypeMismatch { place, expected, found, known }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_operators::DType;

    #[test]
    fn a_name_is_one_extent() {
        let n = || Dim::Symbol("n".to_owned());
        let dynamic = TensorType::new(vec![n(), Dim::Any], DType::F32);
        let (two, four) = (TensorType::fixed(&[2, 3], DType::F32), TensorType::fixed(&[4, 3], DType::F32));
        assert!(match_types([(&dynamic, &two), (&dynamic, &two)]).is_ok());
        let said = match_types([(&dynamic, &two), (&dynamic, &four)]).unwrap_err();
        assert_eq!(said.to_string(), "expected a tensor<nx?xf32> with n = 2, found a tensor<4x3xf32>");
        let square = TensorType::new(vec![n(), n()], DType::F32);
        assert!(match_types([(&square, &two)]).is_err());
    }
}
