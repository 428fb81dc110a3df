//! The operations of operators in ODS, as their rows say.
//!
//! ```text
//!   /// Sum
//!   REDUCE_SUM = many_to_one("reduce_sum", ..).of(form(&[operand("data")]).attributes(&[ints("axes"), flag("keepdims")]));
//!   =>
//!   def Relay_ReduceSumOp : Relay_Operator<"reduce_sum"> {
//!     let summary = "Sum";
//!     let arguments = (ins Relay_Tensor:$data, Relay_Ints:$axes, Relay_Flag:$keepdims);
//!     let results = (outs Relay_Tensor:$result);
//!   }
//! ```

use fusion_operators::Operator;
use fusion_operators::form::{Attribute, AttributeType, Count, Operand};
use fusion_operators::ops::FAMILIES;

/// All of them, a family after the other.
pub fn definitions() -> String {
    let families = FAMILIES.iter().map(|(family, rows)| {
        let rows: Vec<String> = rows.iter().map(|row| definition(row)).collect();
        format!("//===- {family}\n\n{}", rows.join("\n"))
    });
    families.collect::<Vec<_>>().join("\n")
}

fn definition(row: &Operator) -> String {
    let class: String = row.name.split('_').map(capitalized).collect();
    let traits = if row.form.commutes { ", [Commutative]" } else { "" };
    let (summary, details) = documentation(row);
    let inputs: Vec<String> =
        row.form.operands.iter().map(value).chain(row.form.attributes.iter().map(attribute)).collect();
    let outputs: Vec<String> = row.form.results.iter().map(value).collect();
    // Without operands, nothing stands before the attributes.
    let none = "  let assemblyFormat = \"attr-dict `:` functional-type(operands, results)\";\n";
    let format = if row.form.operands.is_empty() { none } else { "" };
    let description = if details.is_empty() {
        String::new()
    } else {
        format!("  let description = [{{\n{details}\n  }}];\n")
    };
    format!(
        "def Relay_{class}Op : Relay_Operator<\"{}\"{traits}> {{\n  let summary = {summary:?};\n{description}  \
         let arguments = (ins {});\n  let results = (outs {});\n{format}}}\n",
        row.name,
        inputs.join(", "),
        outputs.join(", ")
    )
}

/// The first line, and what follows it, with what its form says of all operators of its kind.
fn documentation(row: &Operator) -> (String, String) {
    // A comment's lines begin with a blank.
    let lines: Vec<&str> = row.docs.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let (summary, own) = lines.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
    let all: Vec<String> =
        own.iter().copied().chain(row.form.about.lines()).map(|line| format!("    {line}")).collect();
    (summary.trim().to_owned(), all.join("\n").trim_matches('\n').trim_end().to_owned())
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn value(operand: &Operand) -> String {
    let ty = match operand.count {
        Count::One => "Relay_Tensor",
        Count::Optional => "Optional<Relay_Tensor>",
        Count::Any => "Variadic<Relay_Tensor>",
    };
    format!("{ty}:${}", operand.name)
}

fn attribute(attribute: &Attribute) -> String {
    let (required, optional) = match attribute.ty {
        AttributeType::Int => ("I64Attr", "Relay_Int"),
        AttributeType::Ints => ("DenseI64ArrayAttr", "Relay_Ints"),
        AttributeType::Float => ("F64Attr", "Relay_Float"),
        AttributeType::Floats => ("DenseF64ArrayAttr", "Relay_Floats"),
        AttributeType::Flag => ("BoolAttr", "Relay_Flag"),
        AttributeType::Text => ("StrAttr", "Relay_Str"),
        AttributeType::Dim => ("Relay_ExtentAttr", "Relay_Extent"),
        AttributeType::Dims => ("Relay_ExtentsAttr", "Relay_Extents"),
        AttributeType::DType => ("TypeAttr", "Relay_DType"),
    };
    format!("{}:${}", if attribute.required { required } else { optional }, attribute.name)
}
