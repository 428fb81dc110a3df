//! Constants, structures and functions that a library gets for the run time.

use crate::spelled::Spelled;
use fusion_dialects::rows::Upstream;
use fusion_dialects::{
    Attribute, Build, PassError, Type, Value, int_attr, ints_attr, str_attr, type_attr, unit_attr,
};

/// A constant of this object.
pub(super) fn constant<'c>(
    lib: &Spelled<'c>,
    name: &str,
    ty: Type<'c>,
    value: Attribute<'c>,
) -> Result<(), PassError<'c>> {
    let build = Build::before(lib.owner);
    let context = build.context();
    let attrs = [
        ("sym_name", str_attr(context, name)),
        ("global_type", type_attr(ty)),
        ("constant", unit_attr(context)),
        ("value", value),
        ("alignment", int_attr(context, 64)),
        ("linkage", lib.attribute("#llvm.linkage<internal>")?),
    ];
    build.op_with_regions("llvm.mlir.global", &[], &[], &attrs, vec![fusion_dialects::Region::new()]);
    Ok(())
}

/// A structure of this object that can be written, from the values of its fields.
pub(super) fn structure<'c>(
    lib: &Spelled<'c>,
    (name, linkage): (&str, &str),
    ty: &str,
    fields: impl FnOnce(&Build<'c>) -> Result<Vec<Value<'c>>, PassError<'c>>,
) -> Result<(), PassError<'c>> {
    let build = Build::before(lib.owner);
    let (context, ty) = (build.context(), lib.ty(ty)?);
    let mut outcome = Ok(());
    let region = build.region(&[], |inner, _| {
        let mut whole = inner.value("llvm.mlir.undef", &[], ty, &[]);
        match fields(&inner) {
            Ok(fields) => {
                for (i, field) in fields.into_iter().enumerate() {
                    let position = ints_attr(context, &[i as i64]);
                    whole = inner.value("llvm.insertvalue", &[whole, field], ty, &[("position", position)]);
                }
            }
            Err(error) => outcome = Err(error),
        }
        inner.op("llvm.return", &[whole], &[], &[]);
    });
    let attrs = [
        ("sym_name", str_attr(context, name)),
        ("global_type", type_attr(ty)),
        ("linkage", lib.attribute(&format!("#llvm.linkage<{linkage}>"))?),
    ];
    build.op_with_regions("llvm.mlir.global", &[], &[], &attrs, vec![region]);
    outcome
}

/// A number of that type.
pub(super) fn number<'c>(
    lib: &Spelled<'c>,
    build: &Build<'c>,
    ty: &str,
    number: u64,
) -> Result<Value<'c>, PassError<'c>> {
    let value = ("value", lib.attribute(&format!("{number} : {ty}"))?);
    Ok(build.value("llvm.mlir.constant", &[], lib.ty(ty)?, &[value]))
}

/// The function that takes the arguments as a list and passes them on; gives its name.
pub(super) fn by_list<'c>(lib: &Spelled<'c>, function: &str, count: usize) -> Result<String, PassError<'c>> {
    let build = Build::before(lib.owner);
    let name = format!("{function}_of");
    let mut outcome = Ok(());
    let region = build.region(&[lib.pointer], |inner, given| {
        let all = (0..count).map(|i| {
            let place = lib.element(&inner, given[0], i)?;
            Ok(inner.value("llvm.load", &[place], lib.pointer, &[]))
        });
        outcome = all.collect::<Result<Vec<Value>, _>>().and_then(|all| lib.call(&inner, function, &all));
        inner.op("llvm.return", &[], &[], &[]);
    });
    outcome?;
    let attrs = [
        ("sym_name", str_attr(build.context(), &name)),
        ("function_type", type_attr(lib.ty("!llvm.func<void (ptr)>")?)),
        ("linkage", lib.attribute("#llvm.linkage<internal>")?),
    ];
    build.op_with_regions(Upstream::LlvmFunc.name(), &[], &[], &attrs, vec![region]);
    Ok(name)
}
