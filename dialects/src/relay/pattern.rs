//! Patterns of `relay.match`.
//!
//! ```text
//!   "_"                       fits every value
//!   "x"                       fits every value and binds it
//!   [@List::@Cons, p, q]      fits values of that constructor whose fields fit p, q
//!   [p, q]                    fits tuples whose elements fit p, q
//! ```

use crate::{
    Attribute, Context, Type, TypeParts, array_attr, array_elements, nested_symbol_attr, str_attr,
    symbol_path, text_of, type_parts,
};

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Fits every value.
    Wildcard,
    /// Fits every value and binds it to a name.
    Bind(String),
    /// Fits the values of a constructor.
    Constructor {
        /// The data type.
        data: String,
        /// The constructor.
        name: String,
        /// What its fields must fit.
        fields: Vec<Pattern>,
    },
    /// Fits tuples.
    Tuple(Vec<Pattern>),
}

/// Why an attribute is no pattern, or a pattern does not fit a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(pub String);

/// Patterns nested deeper than this are refused: what walks them calls itself.
const MOST_DEPTH: usize = 256;

impl Pattern {
    /// Reads a pattern.
    pub fn read(attr: Attribute) -> Result<Pattern, PatternError> {
        read(attr, 0)
    }

    /// The attribute that stands for it.
    pub fn attr<'c>(&self, context: &'c Context) -> Attribute<'c> {
        let list = |first: Option<Attribute<'c>>, parts: &[Pattern]| {
            let parts = parts.iter().map(|part| part.attr(context));
            array_attr(context, &first.into_iter().chain(parts).collect::<Vec<_>>())
        };
        match self {
            Pattern::Wildcard => str_attr(context, "_"),
            Pattern::Bind(name) => str_attr(context, name),
            Pattern::Constructor { data, name, fields } => {
                list(Some(nested_symbol_attr(context, data, name)), fields)
            }
            Pattern::Tuple(elements) => list(None, elements),
        }
    }

    /// The names it binds, in order.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.each_name(&mut |name| names.push(name));
        names
    }

    fn each_name<'a>(&'a self, found: &mut impl FnMut(&'a str)) {
        match self {
            Pattern::Wildcard => {}
            Pattern::Bind(name) => found(name),
            Pattern::Constructor { fields: parts, .. } | Pattern::Tuple(parts) => {
                parts.iter().for_each(|part| part.each_name(found));
            }
        }
    }

    /// The types of what it binds in a value of a type. `fields` gives those of a constructor's fields, at that
    /// data type.
    pub fn bound_types<'c>(
        &self,
        ty: Type<'c>,
        fields: &impl Fn(&str, &str, Type<'c>) -> Result<Vec<Type<'c>>, PatternError>,
    ) -> Result<Vec<Type<'c>>, PatternError> {
        match self {
            Pattern::Wildcard => Ok(Vec::new()),
            Pattern::Bind(_) => Ok(vec![ty]),
            Pattern::Constructor { data, name, fields: parts } => {
                let types = fields(data, name, ty)?;
                if types.len() != parts.len() {
                    return Err(PatternError(format!(
                        "the pattern of @{data}::@{name} has {} fields, the constructor {}",
                        parts.len(),
                        types.len()
                    )));
                }
                each_bound(parts, types, fields)
            }
            Pattern::Tuple(parts) => match type_parts(ty) {
                TypeParts::Tuple(types) if types.len() == parts.len() => each_bound(parts, types, fields),
                TypeParts::Hole => each_bound(parts, vec![ty; parts.len()], fields),
                _ => Err(PatternError(format!("a pattern of {}-tuples cannot fit {ty}", parts.len()))),
            },
        }
    }
}

fn each_bound<'c>(
    parts: &[Pattern],
    types: Vec<Type<'c>>,
    fields: &impl Fn(&str, &str, Type<'c>) -> Result<Vec<Type<'c>>, PatternError>,
) -> Result<Vec<Type<'c>>, PatternError> {
    let mut bound = Vec::new();
    for (part, ty) in parts.iter().zip(types) {
        bound.extend(part.bound_types(ty, fields)?);
    }
    Ok(bound)
}

fn read(attr: Attribute, depth: usize) -> Result<Pattern, PatternError> {
    if depth > MOST_DEPTH {
        return Err(PatternError(format!("the pattern is nested more than {MOST_DEPTH} levels deep")));
    }
    if let Some(name) = text_of(attr) {
        return Ok(if name == "_" { Pattern::Wildcard } else { Pattern::Bind(name.to_owned()) });
    }
    if !crate::is_array(attr) {
        return Err(PatternError(format!("{attr} is no pattern; patterns are \"_\", names and lists")));
    }
    let parts = array_elements(attr);
    let read_all = |parts: &[Attribute]| -> Result<Vec<Pattern>, PatternError> {
        parts.iter().map(|part| read(*part, depth + 1)).collect()
    };
    match parts.split_first().and_then(|(first, rest)| Some((symbol_path(*first)?, rest))) {
        Some((path, rest)) => match path[..] {
            [data, name] => {
                Ok(Pattern::Constructor { data: data.into(), name: name.into(), fields: read_all(rest)? })
            }
            _ => Err(PatternError(format!(
                "{} names no constructor; write the data type and the constructor, as @List::@Cons",
                parts[0]
            ))),
        },
        None => Ok(Pattern::Tuple(read_all(&parts)?)),
    }
}
