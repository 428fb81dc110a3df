//! Programs that tests write line by line.

use super::*;

const F32: DType = DType::F32;

fn ty(extents: &[usize]) -> String {
    format!("tensor<{}xf32>", extents.iter().map(|n| n.to_string()).collect::<Vec<_>>().join("x"))
}

/// A program, line by line.
pub struct Text {
    body: String,
    inputs: Vec<Tensor>,
    constants: bool,
}

impl Text {
    /// One without lines, whose weights are constants or arguments.
    pub fn new(constants: bool) -> Self {
        Text { body: String::new(), inputs: Vec::new(), constants }
    }

    /// Gives a random tensor a name: an argument, or a constant where it may be one.
    pub fn given(&mut self, random: &mut Random, extents: &[usize], may_be_constant: bool) -> String {
        let tensor = random.tensor(F32, extents);
        if self.constants && may_be_constant {
            let bytes: String = tensor.bytes().iter().map(|b| format!("{b:02X}")).collect();
            let ty = ty(extents);
            return self.call(&format!("relay.constant dense<\"0x{bytes}\"> : {ty}"), None);
        }
        self.inputs.push(tensor);
        format!("%x{}", self.inputs.len() - 1)
    }

    /// A line, whose types follow unless they stand there; gives the name of the result.
    pub fn call(&mut self, line: &str, types: Option<(&[&[usize]], &[usize])>) -> String {
        let name = format!("%v{}", self.body.lines().count());
        let types = types.map_or(String::new(), |(operands, result)| {
            let operands: Vec<String> = operands.iter().map(|o| ty(o)).collect();
            format!(" : ({}) -> {}", operands.join(", "), ty(result))
        });
        writeln!(self.body, "  {name} = {line}{types}").unwrap();
        name
    }

    /// The program with those results, and what it is given.
    pub fn done(self, results: &[(&str, &[usize])]) -> (String, Vec<Tensor>) {
        let arguments: Vec<String> =
            self.inputs.iter().enumerate().map(|(i, t)| format!("%x{i}: {}", t.tensor_type())).collect();
        let names: Vec<&str> = results.iter().map(|(name, _)| *name).collect();
        let types: Vec<String> = results.iter().map(|(_, extents)| ty(extents)).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        let text = format!(
            "func.func @main({}) -> ({types}) {{\n{}  return {names} : {types}\n}}\n",
            arguments.join(", "),
            self.body,
        );
        (text, self.inputs)
    }
}
