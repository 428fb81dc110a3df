//! Building operations at a place in a block.

use super::attributes::{segments_attr, str_attr};
use super::ir::{
    Attribute, Block, BlockLike, Context, Location, Op, OpExt, OperationLike, Type, Value, arguments,
};
use fusion_operators::DType;
use melior::ir::operation::OperationBuilder;
use melior::ir::{Identifier, Module, Region, RegionLike};

/// The type in which scalars of an element type are computed where floats are computed in a type of at least that width.
pub fn computed_in(floats: DType, dtype: DType) -> DType {
    if dtype.is_float() && dtype.size() < floats.size() { floats } else { dtype }
}

/// Builds operations one after another at a place.
#[derive(Clone, Copy)]
pub struct Build<'c> {
    context: &'c Context,
    block: Block<'c>,
    before: Option<Op<'c>>,
    floats: DType,
    /// Where new operations say they come from.
    pub location: Location<'c>,
}

impl<'c> Build<'c> {
    /// At the end of a block.
    pub fn at_end(context: &'c Context, block: Block<'c>, location: Location<'c>) -> Self {
        Build { context, block, before: None, floats: DType::F32, location }
    }

    /// Before an operation, with its location.
    pub fn before(op: Op<'c>) -> Self {
        let block = op.block().expect("an operation that is built at stands in a block");
        Build {
            context: op.context_ref(),
            block,
            before: Some(op),
            floats: DType::F32,
            location: op.location(),
        }
    }

    /// Behind an operation, with its location.
    pub fn after(op: Op<'c>) -> Self {
        let next = Build::before(op);
        Build { before: op.next_in_block(), ..next }
    }

    /// A module whose operations `body` builds.
    pub fn module(context: &'c Context, location: Location<'c>, body: impl FnOnce(Build<'c>)) -> Module<'c> {
        let module = Module::new(location);
        // SAFETY: the block lives as long as the module; as everywhere, handles are not used beyond their operations.
        let block: Block<'c> = unsafe { Block::from_raw(module.body().to_raw()) };
        body(Build::at_end(context, block, location));
        module
    }

    /// The context.
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// The block built into.
    pub fn block(&self) -> Block<'c> {
        self.block
    }

    /// The operation built before, unless building at the end.
    pub fn anchor(&self) -> Option<Op<'c>> {
        self.before
    }

    /// The same place with another location.
    pub fn at(&self, location: Location<'c>) -> Self {
        Build { location, ..*self }
    }

    /// The same place, where floats are computed in a type of at least that width. It is F32 elsewhere.
    pub fn computing_in(&self, floats: DType) -> Self {
        Build { floats, ..*self }
    }

    /// The type in which scalars of an element type are computed here.
    pub fn compute_type(&self, dtype: DType) -> DType {
        computed_in(self.floats, dtype)
    }

    /// Builds an operation without regions.
    pub fn op(
        &self,
        name: &str,
        operands: &[Value<'c>],
        results: &[Type<'c>],
        attrs: &[(&str, Attribute<'c>)],
    ) -> Op<'c> {
        self.op_with_regions(name, operands, results, attrs, Vec::new())
    }

    /// Builds an operation of one result without regions.
    pub fn value(
        &self,
        name: &str,
        operands: &[Value<'c>],
        result: Type<'c>,
        attrs: &[(&str, Attribute<'c>)],
    ) -> Value<'c> {
        self.op(name, operands, &[result], attrs).result_values()[0]
    }

    /// Calls an intrinsic of LLVM by its name. What it is overloaded on follows from the types.
    pub fn intrinsic(&self, name: &str, operands: &[Value<'c>], result: Type<'c>) -> Value<'c> {
        let attributes = [
            ("intrin", str_attr(self.context, name)),
            ("op_bundle_sizes", segments_attr(self.context, &[])),
            ("operandSegmentSizes", segments_attr(self.context, &[operands.len() as i32, 0])),
        ];
        self.value("llvm.call_intrinsic", operands, result, &attributes)
    }

    /// At the end of a new block behind all others of this one's region, with those arguments.
    pub fn new_block(&self, inputs: &[Type<'c>]) -> Self {
        let region = self.block.parent_region().expect("a block that is built in belongs to a region");
        let arguments_at: Vec<_> = inputs.iter().map(|t| (*t, self.location)).collect();
        let block = region.append_block(melior::ir::Block::new(&arguments_at));
        // SAFETY: the block belongs to the region of the one built in, and lives as long.
        let block: Block<'c> = unsafe { Block::from_raw(block.to_raw()) };
        Build { before: None, block, ..*self }
    }

    /// Builds an operation that ends its block and goes on in one of others.
    pub fn branch(
        &self,
        name: &str,
        operands: &[Value<'c>],
        successors: &[Block<'c>],
        attrs: &[(&str, Attribute<'c>)],
    ) -> Op<'c> {
        let attrs: Vec<_> = attrs.iter().map(|(n, a)| (Identifier::new(self.context, n), *a)).collect();
        let successors: Vec<&melior::ir::Block<'c>> = successors.iter().map(|block| &**block).collect();
        let op = OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_successors(&successors)
            .add_attributes(&attrs);
        self.put(name, op)
    }

    fn put(&self, name: &str, op: OperationBuilder<'c>) -> Op<'c> {
        let op = op.build().unwrap_or_else(|error| panic!("{name} cannot be built: {error}"));
        match self.before {
            Some(before) => self.block.insert_operation_before(before, op),
            None => self.block.append_operation(op),
        }
    }

    /// Builds an operation with regions.
    pub fn op_with_regions(
        &self,
        name: &str,
        operands: &[Value<'c>],
        results: &[Type<'c>],
        attrs: &[(&str, Attribute<'c>)],
        regions: Vec<Region<'c>>,
    ) -> Op<'c> {
        let attrs: Vec<_> = attrs.iter().map(|(n, a)| (Identifier::new(self.context, n), *a)).collect();
        let op = OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_results(results)
            .add_attributes(&attrs)
            .add_regions_vec(regions);
        self.put(name, op)
    }

    /// A region of one block with those arguments, built by `body`.
    pub fn region(&self, inputs: &[Type<'c>], body: impl FnOnce(Build<'c>, &[Value<'c>])) -> Region<'c> {
        let region = Region::new();
        let arguments_at: Vec<_> = inputs.iter().map(|t| (*t, self.location)).collect();
        let block = region.append_block(melior::ir::Block::new(&arguments_at));
        // SAFETY: the block belongs to the region, which the caller puts into an operation of the same context.
        let block: Block<'c> = unsafe { Block::from_raw(block.to_raw()) };
        let inner = Build { before: None, block, ..*self };
        body(inner, &arguments(block));
        region
    }
}
