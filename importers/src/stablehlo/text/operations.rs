//! Regions and operations from their pairs.

use super::pretty::{self, Parts};
use super::reader::{Reader, symbol};
use super::{Node, Rule, span};
use crate::sources::{Fault, Outcome, Span};
use crate::stablehlo::graph::{Attributes, Block, Operation, ValueId};
use crate::stablehlo::text::literals::unquoted;
use crate::stablehlo::types::Type;
use std::collections::HashMap;

impl Reader {
    /// A block of operations, with arguments that are there already or that its label names.
    pub fn region(&mut self, node: Node, arguments: &[ValueId]) -> Outcome<Block> {
        self.scopes.push(HashMap::new());
        let block = self.block(node, arguments);
        self.scopes.pop();
        block
    }

    fn block(&mut self, node: Node, arguments: &[ValueId]) -> Outcome<Block> {
        let mut block = Block { arguments: arguments.to_vec(), operations: Vec::new() };
        let mut labels = 0;
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::label => {
                    labels += 1;
                    if labels > 1 || !block.operations.is_empty() {
                        return Fault::new(
                            span(&part),
                            "a region has one block here; write control flow as stablehlo.if, case or while",
                        );
                    }
                    for list in part.into_inner().filter(|n| n.as_rule() == Rule::arguments) {
                        block.arguments.extend(self.arguments(list)?);
                    }
                }
                Rule::operation => block.operations.extend(self.operation(part)?),
                _ => {}
            }
        }
        Ok(block)
    }

    /// `%a: T, %b: U`
    fn arguments(&mut self, node: Node) -> Outcome<Vec<ValueId>> {
        let mut values = Vec::new();
        for argument in node.into_inner() {
            let place = span(&argument);
            let mut parts = argument.into_inner();
            if let (Some(name), Some(ty)) = (parts.next(), parts.next()) {
                let ty = self.ty(ty)?;
                values.push(self.define(name.as_str(), place, ty)?);
            }
        }
        Ok(values)
    }

    fn operation(&mut self, node: Node) -> Outcome<Option<Operation>> {
        let mut results = Vec::new();
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::results => {
                    for result in part.into_inner() {
                        let text = result.as_str();
                        let (name, count) = text.split_once(':').unwrap_or((text, "1"));
                        let count: usize = count.parse().unwrap_or(usize::MAX);
                        if count > 1 << 16 {
                            return Fault::new(span(&result), format!("{count} results are too many"));
                        }
                        results.push((name.to_owned(), count, span(&result)));
                    }
                }
                Rule::generic => return self.generic(part, &results).map(Some),
                Rule::custom => return self.custom(part, &results).map(Some),
                Rule::module | Rule::function => {
                    return Fault::new(span(&part), "functions and modules do not stand in functions");
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn generic(&mut self, node: Node, results: &[(String, usize, Span)]) -> Outcome<Operation> {
        let mut place = span(&node);
        let (mut name, mut operands, mut attributes) = (String::new(), Vec::new(), Attributes::new());
        let (mut regions, mut types) = (Vec::new(), Vec::new());
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::string => {
                    place = span(&part);
                    name = unquoted(part.as_str());
                }
                Rule::uses => {
                    for one in part.into_inner() {
                        operands.extend(self.values(&one)?);
                    }
                }
                Rule::properties => {
                    for dict in part.into_inner() {
                        attributes.extend(self.dict(dict)?);
                    }
                }
                Rule::dict => attributes.extend(self.dict(part)?),
                Rule::regions => {
                    for region in part.into_inner() {
                        regions.push(self.region(region, &[])?);
                    }
                }
                Rule::signature => types = self.results_of(part, results)?,
                _ => {}
            }
        }
        let attributes = pretty::flat(&name, attributes);
        let results = self.define_results(results, types, place)?;
        Ok(Operation { name, operands, results, attributes, regions, span: place })
    }

    fn custom(&mut self, node: Node, results: &[(String, usize, Span)]) -> Outcome<Operation> {
        let mut place = span(&node);
        let (mut name, mut parts) = (String::new(), Parts::default());
        let (mut regions, mut types, mut signature) = (Vec::new(), Vec::new(), None);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::name => {
                    place = span(&part);
                    name = match part.as_str() {
                        "return" => "func.return".to_owned(),
                        "call" => "func.call".to_owned(),
                        other => other.to_owned(),
                    };
                }
                Rule::signature => {
                    signature = part.clone().into_inner().next().filter(|n| n.as_rule() == Rule::r#type);
                    types = self.results_of(part, results)?;
                }
                Rule::tail => regions.extend(self.tail(part, &parts)?),
                _ => self.clause(part, &mut parts)?,
            }
        }
        if let Some(dense) = parts.dense.take() {
            let ty = match types.first().cloned() {
                Some(ty) => ty,
                None => signature.map(|n| self.ty(n)).transpose()?.unwrap_or(Type::Token),
            };
            let value = self.dense(&dense, &ty)?;
            parts.attributes.insert("value".to_owned(), value);
        }
        let applied = pretty::named(&name, &mut parts)
            .map_err(|message| Fault::boxed(place, format!("{name}: {message}")))?;
        let Parts { mut operands, initial, attributes, .. } = parts;
        operands.extend(initial);
        if let Some(applied) = applied {
            regions.push(self.applied(&applied, &operands, place)?);
        }
        let attributes = pretty::flat(&name, attributes);
        let results = self.define_results(results, types, place)?;
        Ok(Operation { name, operands, results, attributes, regions, span: place })
    }

    fn clause<'i>(&mut self, node: Node<'i>, parts: &mut Parts<'i>) -> Outcome<()> {
        match node.as_rule() {
            Rule::entry => {
                let (key, value) = self.entry(node)?;
                parts.attributes.insert(key, value);
            }
            Rule::r#use => parts.operands.extend(self.values(&node)?),
            Rule::symbol => parts.words.push(symbol(node.as_str())),
            Rule::string => parts.words.push(unquoted(node.as_str())),
            Rule::dict => parts.attributes.extend(self.dict(node)?),
            Rule::list => parts.lists.push(self.attribute(node)?),
            Rule::number => parts.numbers.push(self.attribute(node)?),
            Rule::dense => parts.dense = Some(node),
            Rule::word => parts.words.push(node.as_str().to_owned()),
            Rule::parens => {
                for item in node.into_inner() {
                    self.paren_item(item, parts)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// `%x`, `%iterArg = %x`, `%x init: %y`, `k = 3`
    fn paren_item<'i>(&mut self, node: Node<'i>, parts: &mut Parts<'i>) -> Outcome<()> {
        let inner: Vec<Node> = node.into_inner().collect();
        match &inner[..] {
            [first, initial, second] if initial.as_rule() == Rule::initial => {
                parts.operands.extend(self.values(first)?);
                parts.initial.extend(self.values(second)?);
            }
            [first, second] if first.as_rule() == Rule::r#use => {
                parts.named.push((first.as_str().to_owned(), span(first)));
                parts.operands.extend(self.values(second)?);
            }
            _ => {
                for one in inner {
                    match one.as_rule() {
                        Rule::bare => {
                            let value = self.attribute(one)?;
                            parts.numbers.push(value);
                        }
                        _ => self.clause(one, parts)?,
                    }
                }
            }
        }
        Ok(())
    }

    /// What stands behind the types: `cond {...}`, `do {...}`, `reducer(...) {...}`.
    fn tail(&mut self, node: Node, parts: &Parts) -> Outcome<Option<Block>> {
        let mut inner = node.into_inner();
        let Some(first) = inner.next() else { return Ok(None) };
        match first.as_rule() {
            Rule::tail_word => {
                let Some(region) = inner.next() else { return Ok(None) };
                self.scopes.push(HashMap::new());
                let mut arguments = Vec::new();
                for ((name, place), operand) in parts.named.iter().zip(&parts.operands) {
                    let ty = self.types[*operand as usize].clone();
                    arguments.push(self.define(name, *place, ty)?);
                }
                let block = self.region(region, &arguments);
                self.scopes.pop();
                block.map(Some)
            }
            Rule::kw_reducer => {
                self.scopes.push(HashMap::new());
                let (mut left, mut right, mut region) = (Vec::new(), Vec::new(), None);
                for part in inner {
                    match part.as_rule() {
                        Rule::pair => {
                            let place = span(&part);
                            let mut both = Vec::new();
                            for list in part.into_inner() {
                                both.extend(self.arguments(list)?);
                            }
                            let [a, b] = both[..] else {
                                return Fault::new(place, "a reducer takes two values for each operand");
                            };
                            left.push(a);
                            right.push(b);
                        }
                        Rule::region => region = Some(part),
                        _ => {}
                    }
                }
                left.extend(right);
                let block = region.map(|region| self.region(region, &left)).transpose();
                self.scopes.pop();
                block
            }
            _ => Ok(None),
        }
    }

    /// The body of `applies stablehlo.add`: that operator on one element of each operand.
    fn applied(&mut self, name: &str, operands: &[ValueId], place: Span) -> Outcome<Block> {
        let Some(initial) = operands.last() else { return Fault::new(place, "a reduction has operands") };
        let ty = self.types[*initial as usize].clone();
        let first = self.types.len() as ValueId;
        self.types.extend([ty.clone(), ty.clone(), ty]);
        let at = |name: &str, operands: Vec<ValueId>, results: Vec<ValueId>| Operation {
            name: name.to_owned(),
            operands,
            results,
            attributes: Attributes::new(),
            regions: Vec::new(),
            span: place,
        };
        let operations = vec![
            at(name, vec![first, first + 1], vec![first + 2]),
            at("stablehlo.return", vec![first + 2], Vec::new()),
        ];
        Ok(Block { arguments: vec![first, first + 1], operations })
    }

    /// The types of the results that a signature says.
    fn results_of(&self, node: Node, results: &[(String, usize, Span)]) -> Outcome<Vec<Type>> {
        let wanted: usize = results.iter().map(|(_, count, _)| count).sum();
        let place = span(&node);
        let (mut given, mut lists, mut arrow) = (Vec::new(), Vec::new(), false);
        arrow |= node.as_str().contains("->");
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::function_type => {
                    lists.extend(part.into_inner().skip(1));
                }
                Rule::type_list => lists.push(part),
                _ => given.push(part),
            }
        }
        let mut types = Vec::new();
        for part in &lists {
            match part.as_rule() {
                Rule::type_list => {
                    for one in part.clone().into_inner() {
                        types.push(self.ty(one)?);
                    }
                }
                _ => types.push(self.ty(part.clone())?),
            }
        }
        if lists.is_empty() {
            let plain: Vec<Type> = given.into_iter().map(|n| self.ty(n)).collect::<Outcome<_>>()?;
            // With an arrow the last one is the result; otherwise one for all, one each, or those of the operands before it.
            types = match (arrow, plain.len() == wanted, plain.last()) {
                (false, true, _) => plain,
                (_, _, Some(last)) => vec![last.clone(); wanted],
                (_, _, None) => plain,
            };
        }
        if wanted > 0 && types.len() != wanted {
            return Fault::new(
                place,
                format!("{wanted} results are named, and {} types are said", types.len()),
            );
        }
        types.truncate(wanted);
        Ok(types)
    }

    fn define_results(
        &mut self,
        results: &[(String, usize, Span)],
        types: Vec<Type>,
        place: Span,
    ) -> Outcome<Vec<ValueId>> {
        let wanted: usize = results.iter().map(|(_, count, _)| count).sum();
        if types.len() != wanted {
            return Fault::new(
                place,
                "the types of the results are missing; write : TYPES behind the operation",
            );
        }
        let (mut types, mut values) = (types.into_iter(), Vec::new());
        for (name, count, place) in results {
            let own = types.by_ref().take(*count).collect();
            values.extend(self.define_all(name, *place, own)?);
        }
        Ok(values)
    }
}
