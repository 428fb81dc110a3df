//! Blocks: a statement an operation, then the value.

use super::names::Named;
use super::sinking::sinks;
use super::{PrintError, Printer, operators, own_variables, type_text};
use crate::relay_text::blanks::MOST_DEPTH;
use fusion_dialects::relay::{Op as Relay, PARTIAL, Pattern, RECURSIVE};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, TypeParts, Value, ValueLike, arguments, array_elements, key, ops_in, symbol_path,
    type_parts,
};
use std::collections::HashMap;

type Written<T> = Result<T, PrintError>;

/// The body of a function of the module.
pub struct Body<'p> {
    printer: &'p mut Printer,
    named: Named,
    /// What is written for each value.
    texts: HashMap<usize, String>,
    /// Type variables in scope.
    variables: Vec<String>,
    graph: usize,
}

/// `target = value;`, or a value alone for its effect.
struct Statement {
    target: Option<String>,
    /// What comes before the value: `%0 = `, `let %v1: T = `.
    head: String,
    value: String,
    /// Whether the value may stand in the place of its variable at the end of the block.
    plain: bool,
}

impl<'p> Body<'p> {
    pub fn new(printer: &'p mut Printer, named: Named, variables: Vec<String>) -> Body<'p> {
        Body { printer, named, texts: HashMap::new(), variables, graph: 0 }
    }

    fn text(&self, value: Value) -> Written<String> {
        let found = self.texts.get(&key(value)).cloned();
        found.ok_or_else(|| PrintError("a value is used before it is there".into()))
    }

    fn list(&self, values: &[Value]) -> Written<String> {
        let texts = values.iter().map(|v| self.text(*v)).collect::<Written<Vec<_>>>()?;
        Ok(texts.join(", "))
    }

    /// Several values as one.
    fn tuple(&self, values: &[Value]) -> Written<String> {
        match values {
            [only] => self.text(*only),
            _ => Ok(format!("({})", self.list(values)?)),
        }
    }

    /// Gives a variable to a block's argument.
    fn variable(&mut self, value: Value) -> String {
        let name = match self.named.given(value) {
            Some(name) => name.to_owned(),
            None => self.named.fresh(),
        };
        self.texts.insert(key(value), format!("%{name}"));
        name
    }

    /// Parameters with their types.
    pub fn parameters(&mut self, values: &[Value]) -> String {
        let one = |value: &Value| {
            let name = self.variable(*value);
            match type_parts(value.r#type()) {
                TypeParts::Hole => format!("%{name}"),
                _ => format!("%{name}: {}", type_text(value.r#type())),
            }
        };
        values.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The lines of a block; what it ends with is its value.
    pub fn block(&mut self, block: Block, depth: usize) -> Written<String> {
        self.lines(block, depth, |body, values| body.tuple(values))
    }

    /// The lines of a block, what it ends with written by `last`.
    fn lines(
        &mut self,
        block: Block,
        depth: usize,
        last: impl FnOnce(&Self, &[Value]) -> Written<String>,
    ) -> Written<String> {
        if depth > MOST_DEPTH {
            return Err(PrintError(format!("it is nested more than {MOST_DEPTH} deep")));
        }
        let mut statements: Vec<Statement> = Vec::new();
        let mut result = None;
        for op in ops_in(block) {
            match op.kind() {
                Some(Kind::Relay(Relay::Yield) | Kind::Upstream(Upstream::Return)) => {
                    result = Some(op.operand_values());
                }
                _ => statements.extend(self.statement(op, depth)?),
            }
        }
        let values = result.ok_or_else(|| PrintError("a block gives no value".into()))?;
        let mut result = last(self, &values)?;
        if let Some(end) = statements.pop_if(|s| s.plain && s.target.as_ref() == Some(&result)) {
            result = end.value;
        }
        let indent = "  ".repeat(depth);
        let mut text = String::new();
        for Statement { head, value, .. } in statements {
            text.push_str(&format!("{indent}{head}{value};\n"));
        }
        text.push_str(&format!("{indent}{result}\n"));
        Ok(text)
    }

    /// A node of the graph.
    fn node(&mut self, op: Op, value: String) -> Statement {
        if sinks(op) {
            return self.bound(op, value);
        }
        let target = format!("%{}", self.graph);
        self.graph += 1;
        self.results(op, &target);
        Statement { head: format!("{target} = "), target: Some(target), value, plain: true }
    }

    /// What is evaluated in order.
    fn bound(&mut self, op: Op, value: String) -> Statement {
        let target = format!("%{}", self.named.fresh());
        self.results(op, &target);
        Statement { head: format!("let {target} = "), target: Some(target), value, plain: true }
    }

    fn results(&mut self, op: Op, target: &str) {
        let results = op.result_values();
        // Cutting gives a tuple however many pieces there are.
        let one = results.len() == 1 && !is_split(op);
        for (i, result) in results.into_iter().enumerate() {
            self.texts.insert(key(result), if one { target.to_owned() } else { format!("{target}.{i}") });
        }
    }

    fn statement(&mut self, op: Op, depth: usize) -> Written<Option<Statement>> {
        let operands = op.operand_values();
        let kind = match op.kind() {
            Some(Kind::Operator(row)) => {
                let texts = operands.iter().map(|v| self.text(*v)).collect::<Written<Vec<_>>>()?;
                let mut statement = self.node(op, operators::call(row, &texts, &op.attrs())?);
                statement.plain = op.result_values().len() == 1 && !is_split(op);
                return Ok(Some(statement));
            }
            Some(Kind::Upstream(Upstream::Call)) => Relay::Call,
            Some(Kind::Relay(kind)) => kind,
            _ => return Err(PrintError(format!("{} is no operation of the language", op.full_name()))),
        };
        let statement = match kind {
            Relay::Constant => {
                let text = self.printer.constant(op)?;
                self.alias(op, text);
                return Ok(None);
            }
            Relay::Global => {
                self.alias(op, format!("@{}", op.text("function").unwrap_or_default()));
                return Ok(None);
            }
            Relay::Instantiate => {
                let text = self.text(operands[0])?;
                self.alias(op, text);
                return Ok(None);
            }
            Relay::Ascribe => {
                let value = self.text(operands[0])?;
                let ty = op.result_values()[0].r#type();
                if matches!(type_parts(ty), TypeParts::Hole) {
                    self.alias(op, value);
                    return Ok(None);
                }
                let mut statement = self.bound(op, value);
                if let Some(target) = &statement.target {
                    statement.head = format!("let {target}: {} = ", type_text(ty));
                }
                Statement { plain: false, ..statement }
            }
            Relay::Tuple => {
                let comma = if operands.len() == 1 { "," } else { "" };
                let value = format!("({}{comma})", self.list(&operands)?);
                self.node(op, value)
            }
            Relay::Get => {
                let value = format!("{}.{}", self.text(operands[0])?, op.int("index").unwrap_or_default());
                self.node(op, value)
            }
            Relay::Construct => {
                let path = op.attr("constructor").and_then(symbol_path).unwrap_or_default();
                let name = path.last().copied().unwrap_or_default();
                let value = format!("{name}({})", self.list(&operands)?);
                // Without fields it is the name alone, which `Nil` reads as.
                self.node(op, value.trim_end_matches("()").to_owned())
            }
            Relay::Call => {
                let value = format!("@{}({})", op.text("callee").unwrap_or_default(), self.list(&operands)?);
                self.bound(op, value)
            }
            Relay::Apply => {
                let value = format!("{}({})", self.text(operands[0])?, self.list(&operands[1..])?);
                self.bound(op, value)
            }
            Relay::RefNew => {
                let value = format!("ref({})", self.text(operands[0])?);
                self.bound(op, value)
            }
            Relay::RefRead => {
                let value = format!("ref_read({})", self.text(operands[0])?);
                self.bound(op, value)
            }
            Relay::RefWrite => {
                let value = format!("ref_write({})", self.list(&operands)?);
                Statement { target: None, head: String::new(), value, plain: false }
            }
            Relay::Fn => return self.closure(op, depth).map(Some),
            Relay::If => {
                let condition = self.text(operands[0])?;
                let (then, other) = (self.region(op, 0, depth)?, self.region(op, 1, depth)?);
                let indent = "  ".repeat(depth);
                self.bound(op, format!("if ({condition}) {{\n{then}{indent}}} else {{\n{other}{indent}}}"))
            }
            Relay::Match => self.matching(op, depth)?,
            Relay::While => return self.while_loop(op, depth).map(Some),
            Relay::Yield | Relay::Data => {
                return Err(PrintError(format!("{} stands where a value is expected", op.full_name())));
            }
        };
        Ok(Some(statement))
    }

    fn alias(&mut self, op: Op, text: String) {
        for result in op.result_values() {
            self.texts.insert(key(result), text.clone());
        }
    }

    fn region(&mut self, op: Op, index: usize, depth: usize) -> Written<String> {
        match op.body(index) {
            Some(block) => self.block(block, depth + 1),
            None => Err(PrintError(format!("a region of {} is empty", op.full_name()))),
        }
    }

    fn closure(&mut self, op: Op, depth: usize) -> Written<Statement> {
        let block = op.body(0).ok_or_else(|| PrintError("a function has no body".into()))?;
        let ty = op.result_values()[0].r#type();
        let recursive = op.attr(RECURSIVE).is_some();
        let own = own_variables(ty, &self.variables);
        let names: Vec<&str> = own.iter().map(String::as_str).collect();
        let type_parameters = super::type_parameters(&names)?;
        let before = self.variables.len();
        self.variables.extend(own);
        let target = format!("%{}", self.named.fresh());
        let mut inputs = arguments(block);
        let mut declared = ty;
        if recursive && !inputs.is_empty() {
            let this = inputs.remove(0);
            declared = this.r#type();
            self.texts.insert(key(this), target.clone());
        }
        let parameters = self.parameters(&inputs);
        let lines = self.block(block, depth + 1)?;
        self.variables.truncate(before);
        let result = match type_parts(declared) {
            TypeParts::Function(_, results) => match results[..] {
                [result] if !matches!(type_parts(result), TypeParts::Hole) => {
                    format!(" -> {}", type_text(result))
                }
                _ => String::new(),
            },
            _ => String::new(),
        };
        let value = format!("fn{type_parameters} ({parameters}){result} {{\n{lines}{}}}", "  ".repeat(depth));
        self.results(op, &target);
        Ok(Statement { head: format!("let {target} = "), target: Some(target), value, plain: !recursive })
    }

    fn matching(&mut self, op: Op, depth: usize) -> Written<Statement> {
        let indent = "  ".repeat(depth);
        let sign = if op.attr(PARTIAL).is_some() { "?" } else { "" };
        let mut value = format!("match{sign} ({}) {{\n", self.text(op.operand_values()[0])?);
        let patterns = op.attr("patterns").map(array_elements).unwrap_or_default();
        for (i, pattern) in patterns.into_iter().enumerate() {
            let pattern = Pattern::read(pattern).map_err(|error| PrintError(error.to_string()))?;
            let block = op.body(i).ok_or_else(|| PrintError("a clause is empty".into()))?;
            let names: Vec<String> = arguments(block).into_iter().map(|value| self.variable(value)).collect();
            let pattern = pattern_text(&pattern, &mut names.iter());
            let lines = self.block(block, depth + 2)?;
            value.push_str(&format!("{indent}  {pattern} => {{\n{lines}{indent}  }},\n"));
        }
        value.push_str(&format!("{indent}}}"));
        Ok(self.bound(op, value))
    }

    /// A loop is a function that calls itself.
    fn while_loop(&mut self, op: Op, depth: usize) -> Written<Statement> {
        let missing = || PrintError("a loop has no body".into());
        let (test, step) = (op.body(0).ok_or_else(missing)?, op.body(1).ok_or_else(missing)?);
        let start = self.list(&op.operand_values())?;
        let target = self.named.fresh();
        let inputs = arguments(test);
        let parameters = self.parameters(&inputs);
        let state = self.tuple(&inputs)?;
        for (inner, outer) in arguments(step).into_iter().zip(&inputs) {
            let text = self.text(*outer)?;
            self.texts.insert(key(inner), text);
        }
        let again =
            self.lines(step, depth + 2, |body, next| Ok(format!("%{target}({})", body.list(next)?)))?;
        let inside = "  ".repeat(depth + 1);
        let lines = self.lines(test, depth + 1, |body, condition| {
            let condition = body.list(condition)?;
            Ok(format!("if ({condition}) {{\n{again}{inside}}} else {{\n{inside}  {state}\n{inside}}}"))
        })?;
        let indent = "  ".repeat(depth);
        let result = format!("%{}", self.named.fresh());
        self.results(op, &result);
        let head =
            format!("let %{target} = fn ({parameters}) {{\n{lines}{indent}}};\n{indent}let {result} = ");
        Ok(Statement { target: Some(result), head, value: format!("%{target}({start})"), plain: false })
    }
}

fn is_split(op: Op) -> bool {
    matches!(op.kind(), Some(Kind::Operator(row)) if row.is(&fusion_operators::ops::shape::SPLIT))
}

/// A pattern with the variables its names have become.
fn pattern_text<'n>(pattern: &Pattern, names: &mut impl Iterator<Item = &'n String>) -> String {
    let mut list = |parts: &[Pattern]| {
        parts.iter().map(|part| pattern_text(part, &mut *names)).collect::<Vec<_>>().join(", ")
    };
    match pattern {
        Pattern::Wildcard => "_".to_owned(),
        Pattern::Bind(_) => names.next().map_or("_".to_owned(), |name| format!("%{name}")),
        Pattern::Constructor { name, fields, .. } if fields.is_empty() => name.clone(),
        Pattern::Constructor { name, fields, .. } => format!("{name}({})", list(fields)),
        Pattern::Tuple(parts) => format!("({})", list(parts)),
    }
}
