//! Targets in programs: the attribute `fusion.target` of a module.

use crate::{Attribute, Op, OpExt, OperationLike, PassError, attr_to_mlir, dict_attr, dictionary_attr};
use fusion_machine::{FIELDS, Target, WORDS};
use fusion_operators::Attr;

/// The attribute of modules that holds their target.
pub const TARGET: &str = "fusion.target";

/// The target of the module that an operation is in, or is; the default one where that has none.
///
/// An attribute that is no target is an error at the module.
pub fn target_of<'c>(op: Op<'c>) -> Result<Target, PassError<'c>> {
    Ok(target_given(op)?.unwrap_or_default())
}

/// The target of the module that an operation is in, or is, where that has one.
///
/// An attribute that is no target is an error at the module.
pub fn target_given<'c>(op: Op<'c>) -> Result<Option<Target>, PassError<'c>> {
    let module = std::iter::successors(Some(op), |o| o.parent_operation()).find(|o| o.attr(TARGET).is_some());
    let Some((module, attr)) = module.and_then(|m| Some((m, m.attr(TARGET)?))) else {
        return Ok(None);
    };
    let wrong =
        |why: String| PassError::at(module, format!("has a {TARGET} that describes no target: {why}"));
    read(attr).map(Some).map_err(wrong)
}

/// Notes the target at a module.
pub fn attach_target(target: &Target, module: Op) {
    let context = module.context_ref();
    let words = WORDS.iter().filter(|word| !word.optional || !(word.get)(target).is_empty());
    let words = words.map(|w| (w.key, attr_to_mlir(context, &Attr::Str((w.get)(target).to_owned()))));
    let fields = FIELDS.iter().filter(|field| target.is_gpu() || !field.gpu);
    let numbers = fields.map(|field| {
        let number = (field.get)(target);
        let attr = if field.whole { Attr::Int(number as i64) } else { Attr::Float(number) };
        (field.key, attr_to_mlir(context, &attr))
    });
    let entries: Vec<(&str, Attribute)> = words.chain(numbers).collect();
    module.set_attr(TARGET, dict_attr(context, &entries));
}

/// Takes the note away.
pub fn detach_target(module: Op) {
    module.remove_attr(TARGET);
}

fn read(attr: Attribute) -> Result<Target, String> {
    let mut target = Target::default();
    for word in &WORDS {
        match dictionary_attr(attr, word.key) {
            Some(Attr::Str(text)) => (word.set)(&mut target, text),
            None if word.optional => {}
            _ => return Err(format!("it has no text `{}`", word.key)),
        }
    }
    for field in FIELDS {
        let number = match dictionary_attr(attr, field.key) {
            Some(Attr::Int(number)) => number as f64,
            Some(Attr::Float(number)) => number,
            None if field.is_optional() => 0.0,
            _ => return Err(format!("it has no number `{}`", field.key)),
        };
        if !field.allows(number) {
            return Err(format!("`{}` cannot be {number}", field.key));
        }
        (field.set)(&mut target, number);
    }
    target.check()?;
    Ok(target)
}
