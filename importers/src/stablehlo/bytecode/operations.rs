//! The operations of a file, as the graph.
//!
//! ```text
//!   operation   name, mask, location, [attributes], [properties], [result types], [operands], [orders of uses], [regions]
//!   region      blocks, values; block: operations, arguments
//! ```
//! Values are numbered as they are defined: in a function from 0, in a region inside of it from where the outer one's end.

use super::attributes::Decoder;
use super::cursor::{Cursor, Read};
use super::properties::names_of;
use super::tables::{COUNTED_NAMES, Tables};
use crate::sources::Span;
use crate::stablehlo::graph::{Attr, Attributes, Block, Function, Operation, Program, ValueId};
use crate::stablehlo::types::Type;

/// Regions are nested at most so deeply.
const MOST_DEPTH: usize = 128;
/// Since this version sections hold regions that use no values around them.
const LAZY: u64 = 2;
/// Since this version the order of uses may be noted.
const USE_ORDERS: u64 = 3;

mod mask {
    pub const ATTRIBUTES: u8 = 1;
    pub const RESULTS: u8 = 2;
    pub const OPERANDS: u8 = 4;
    pub const SUCCESSORS: u8 = 8;
    pub const REGIONS: u8 = 16;
    pub const USE_ORDERS: u8 = 32;
    pub const PROPERTIES: u8 = 64;
}

/// Reads operations.
pub struct Reader<'t, 'b> {
    tables: &'t Tables<'b>,
    decoder: Decoder<'t, 'b>,
    listing: String,
    program: Program,
    /// The values of the function that is read, by their number in the file.
    values: Vec<Option<ValueId>>,
    types: Vec<Type>,
    /// Where the next value of each open region is, innermost last.
    next: Vec<usize>,
    depth: usize,
}

impl<'t, 'b> Reader<'t, 'b> {
    pub fn new(tables: &'t Tables<'b>) -> Read<Self> {
        Ok(Reader {
            tables,
            decoder: Decoder::new(tables),
            listing: String::new(),
            program: Program::default(),
            values: Vec::new(),
            types: Vec::new(),
            next: Vec::new(),
            depth: 0,
        })
    }

    /// The whole program, and the listing of its operations.
    pub fn program(mut self) -> Read<(Program, String)> {
        let mut code = self.tables.code;
        self.next.push(0);
        self.block(&mut code)?;
        if self.program.functions.is_empty() {
            return Err("the file has no function of vhlo; write it by stablehlo.serialize_portable_artifact or jax.export".into());
        }
        Ok((self.program, self.listing))
    }

    fn block(&mut self, cursor: &mut Cursor<'b>) -> Read<Block> {
        let (count, has_arguments) = cursor.flagged()?;
        let mut block = Block::default();
        if has_arguments {
            for _ in 0..cursor.count()? {
                let ty = match self.tables.version >= COUNTED_NAMES {
                    false => {
                        let ty = self.decoder.value_type(cursor)?;
                        self.decoder.attribute(cursor)?;
                        ty
                    }
                    true => {
                        let (index, has_location) = cursor.flagged()?;
                        let ty = self.decoder.value_type_at(index)?;
                        if has_location {
                            self.decoder.attribute(cursor)?;
                        }
                        ty
                    }
                };
                block.arguments.push(self.define(ty)?);
            }
            if self.tables.version >= USE_ORDERS && cursor.byte()? != 0 {
                self.use_orders(cursor, block.arguments.len())?;
            }
        }
        for _ in 0..count {
            block.operations.extend(self.operation(cursor)?);
        }
        Ok(block)
    }

    fn define(&mut self, ty: Type) -> Read<ValueId> {
        let id = self.types.len() as ValueId;
        self.types.push(ty);
        let Some(next) = self.next.last_mut() else {
            return Err("a value is defined outside of regions".into());
        };
        match self.values.get_mut(*next) {
            Some(place) => *place = Some(id),
            None => return Err("a region defines more values than it announces; the file is damaged".into()),
        }
        *next += 1;
        Ok(id)
    }

    /// The order of uses does not matter here.
    fn use_orders(&self, cursor: &mut Cursor<'b>, values: usize) -> Read<()> {
        let count = if values > 1 { cursor.count()? } else { 1 };
        for _ in 0..count {
            if values > 1 {
                cursor.varint()?;
            }
            let (numbers, _) = cursor.flagged()?;
            for _ in 0..numbers {
                cursor.varint()?;
            }
        }
        Ok(())
    }

    fn operation(&mut self, cursor: &mut Cursor<'b>) -> Read<Option<Operation>> {
        let full = &self.tables.operations[cursor.index(self.tables.operations.len(), "operation name")?];
        let name = name_of(full);
        let flags = cursor.byte()?;
        let location = self.decoder.attribute(cursor)?;
        let mut attributes = Attributes::new();
        if flags & mask::ATTRIBUTES != 0
            && let Attr::Map(map) = self.decoder.attribute(cursor)?
        {
            attributes = map;
        }
        if flags & mask::PROPERTIES != 0 {
            let mut declared = Cursor::new(
                self.tables.properties[cursor.index(self.tables.properties.len(), "properties")?],
            );
            for known in names_of(full) {
                attributes.insert((*known).to_owned(), self.decoder.attribute(&mut declared)?);
            }
        }
        let span = self.note(&name, &location);
        let mut types = Vec::new();
        if flags & mask::RESULTS != 0 {
            for _ in 0..cursor.count()? {
                types.push(self.decoder.value_type(cursor)?);
            }
        }
        let mut operands = Vec::new();
        if flags & mask::OPERANDS != 0 {
            for _ in 0..cursor.count()? {
                let index = cursor.index(self.values.len(), "value")?;
                let value = self.values[index];
                operands.push(value.ok_or_else(|| format!("value {index} is used before it is defined"))?);
            }
        }
        if flags & mask::SUCCESSORS != 0 {
            return Err(format!(
                "{name} jumps to another block; control flow must be stablehlo.if, case or while"
            ));
        }
        if flags & mask::USE_ORDERS != 0 {
            self.use_orders(cursor, types.len())?;
        }
        let (mut count, mut isolated) = (0, false);
        if flags & mask::REGIONS != 0 {
            let (regions, is_isolated) = cursor.flagged()?;
            (count, isolated) = (regions, is_isolated);
        }
        if name == "builtin.module" || name == "stablehlo.func" {
            return self.isolated(cursor, &name, attributes, (count, isolated), span).map(|()| None);
        }
        let results = types.into_iter().map(|ty| self.define(ty)).collect::<Read<Vec<_>>>()?;
        let mut regions = Vec::new();
        if isolated && self.tables.version >= LAZY && count > 0 {
            // Regions that use no values around them number their own from 0, and stand in a section.
            let outer = (std::mem::take(&mut self.values), std::mem::take(&mut self.next));
            let mut own = cursor.section()?.1;
            for _ in 0..count {
                regions.push(self.region(&mut own)?);
            }
            (self.values, self.next) = outer;
        } else {
            for _ in 0..count {
                regions.push(self.region(cursor)?);
            }
        }
        Ok(Some(Operation { name, operands, results, attributes, regions, span }))
    }

    /// Writes an operation into the listing.
    fn note(&mut self, name: &str, location: &Attr) -> Span {
        let start = self.listing.len() as u32;
        self.listing.push_str(name);
        let end = self.listing.len() as u32;
        if let Attr::Text(text) = location {
            self.listing.push_str("  // ");
            self.listing.extend(text.chars().filter(|c| !c.is_control()).take(80));
        }
        self.listing.push('\n');
        Span { file: 0, start, end }
    }

    /// A module or a function, which sees no values around it.
    fn isolated(
        &mut self,
        cursor: &mut Cursor<'b>,
        name: &str,
        attributes: Attributes,
        (count, isolated): (u64, bool),
        span: Span,
    ) -> Read<()> {
        let outer = (
            std::mem::take(&mut self.values),
            std::mem::take(&mut self.types),
            std::mem::take(&mut self.next),
        );
        let mut own;
        let cursor = match isolated && self.tables.version >= LAZY && count > 0 {
            true => {
                own = cursor.section()?.1;
                &mut own
            }
            false => cursor,
        };
        let mut body = None;
        for _ in 0..count {
            body = Some(self.region(cursor)?);
        }
        let types = std::mem::take(&mut self.types);
        (self.values, self.types, self.next) = outer;
        if name == "builtin.module" {
            return Ok(());
        }
        let Some(body) = body.filter(|body| !body.operations.is_empty()) else { return Ok(()) };
        let text = |name: &str| match attributes.get(name) {
            Some(Attr::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let names = |list: &str, key: &str| -> Vec<String> {
            let Some(Attr::List(all)) = attributes.get(list) else { return Vec::new() };
            let one = |attr: &Attr| match attr {
                Attr::Map(map) => {
                    map.get(key).and_then(|a| if let Attr::Text(t) = a { Some(t.clone()) } else { None })
                }
                _ => None,
            };
            all.iter().map(|attr| one(attr).unwrap_or_default()).collect()
        };
        let mut argument_names = names("arg_attrs", "jax.arg_info");
        argument_names.resize(body.arguments.len(), String::new());
        for (i, name) in argument_names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
            *name = format!("arg{i}");
        }
        let function = Function {
            name: text("sym_name"),
            argument_names,
            result_names: names("res_attrs", "jax.result_info"),
            public: text("sym_visibility") != "private",
            body,
            types,
            span,
        };
        self.program.functions.insert(function.name.clone(), function);
        Ok(())
    }

    fn region(&mut self, cursor: &mut Cursor<'b>) -> Read<Block> {
        let blocks = cursor.varint()?;
        if blocks == 0 {
            return Ok(Block::default());
        }
        if blocks > 1 {
            return Err(
                "a region has several blocks; control flow must be stablehlo.if, case or while".into()
            );
        }
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(format!("regions are nested more than {MOST_DEPTH} levels deep"));
        }
        let values = cursor.count()?;
        let first = self.values.len();
        self.values.resize(first + values, None);
        self.next.push(first);
        let block = self.block(cursor);
        self.next.pop();
        self.values.truncate(first);
        self.depth -= 1;
        block
    }
}

/// `vhlo.add_v1` as `stablehlo.add`.
fn name_of(full: &str) -> String {
    let Some(name) = full.strip_prefix("vhlo.") else { return full.to_owned() };
    let (base, version) = name.rsplit_once("_v").unwrap_or((name, ""));
    let base = if !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()) { base } else { name };
    match base {
        "call" => "func.call".to_owned(),
        _ => format!("stablehlo.{base}"),
    }
}
