//! From a plan back to a block.
//!
//! Before each pinned operation the kernels are written that it needs and that were not written yet, operands first. A kernel's members
//! become calls, which are moved into a function of their own ([`Outliner`]); views stay outside. What is computed of constants alone was
//! computed before ([`fold`](super::fold)). At last the old calls are erased.

use super::extract::kernel::Kernel;
use super::extract::plan::Plan;
use super::extract::space::{ClassId, Space};
use super::fold::Constants;
use super::language::Head;
use super::read::Program;
use egg::Id;
use fusion_dialects::relay::Builder;
use fusion_dialects::{
    Build, Location, Op, OpExt, OperationLike, PassError, Value, ValueLike, defining_op, relay, replace_uses,
    unused,
};
use fusion_relay::fuse_ops::{Outliner, is_copied};
use std::collections::{HashMap, HashSet};

/// A kernel that was written.
pub struct Written {
    /// The name of its function; none where it stays in its place.
    pub name: String,
    /// The kernel.
    pub kernel: Kernel,
}

/// Writes a plan. Without an outliner, kernels stay where they are written.
pub fn write<'c>(
    program: &Program<'c>,
    space: &Space,
    plan: &Plan,
    constants: &Constants<'c>,
    outliner: Option<&mut Outliner<'c>>,
) -> Result<Vec<Written>, PassError<'c>> {
    let places = space.classes.iter().enumerate().map(|(place, class)| (class.id, place)).collect();
    let mut writer = Writer {
        program,
        space,
        plan,
        outliner,
        places,
        constants,
        values: HashMap::new(),
        written: Vec::new(),
    };
    let mut replaced = Vec::new();
    for one in &program.uses {
        let class = writer.places[&program.graph.find(one.class)];
        let build = Build::before(one.by);
        writer.need(&build, class)?;
        replaced.push((one.value, writer.value(&build, class)?));
    }
    let written = writer.written;
    for (old, new) in replaced {
        if old.r#type() != new.r#type() {
            let message = format!("{} would become {}: a rule changed a type", old.r#type(), new.r#type());
            return Err(PassError::new(
                program.locations.first().copied().unwrap_or(new_location(new)),
                message,
            ));
        }
        replace_uses(old, new);
    }
    for op in program.calls.iter().rev() {
        if op.result_values().into_iter().all(unused) {
            op.erase();
        }
    }
    Ok(written)
}

fn new_location(value: Value) -> Location {
    defining_op(value).map_or_else(|| unreachable!("what was written is a result"), |op| op.location())
}

struct Writer<'a, 'c> {
    program: &'a Program<'c>,
    space: &'a Space,
    plan: &'a Plan,
    outliner: Option<&'a mut Outliner<'c>>,
    places: HashMap<Id, ClassId>,
    constants: &'a Constants<'c>,
    /// The values of classes that were written.
    values: HashMap<ClassId, Vec<Value<'c>>>,
    written: Vec<Written>,
}

impl<'c> Writer<'_, 'c> {
    /// Writes all kernels that a class needs, operands first.
    fn need(&mut self, build: &Build<'c>, class: ClassId) -> Result<(), PassError<'c>> {
        let (state, mut waiting) = (&self.plan.state, HashSet::new());
        let mut stack = vec![class];
        while let Some(&at) = stack.last() {
            if self.space.classes[at].is_external || self.values.contains_key(&at) {
                stack.pop();
                continue;
            }
            let kernel = Kernel::of(self.space, state, at);
            let missing: Vec<ClassId> = kernel
                .reads(self.space, state)
                .into_iter()
                .filter(|c| !self.values.contains_key(c))
                .collect();
            if missing.is_empty() {
                self.kernel(build, kernel)?;
                waiting.remove(&state.group(at));
                stack.pop();
            } else {
                waiting.insert(state.group(at));
                if missing.iter().any(|&read| waiting.contains(&state.group(read))) {
                    return Err(PassError::new(
                        self.location(build, at),
                        "is computed by a kernel that would wait for itself",
                    ));
                }
                stack.extend(missing);
            }
        }
        Ok(())
    }

    /// The value of an external class, of a stored one, or of a view of these.
    fn value(&mut self, build: &Build<'c>, class: ClassId) -> Result<Value<'c>, PassError<'c>> {
        if let Some(values) = self.values.get(&class) {
            return Ok(values[0]);
        }
        let value = if self.space.classes[class].is_external {
            self.external(build, class)?
        } else {
            let candidate = self.plan.state.candidate(self.space, class);
            match candidate.operator {
                None => {
                    let of = candidate.operands[0];
                    self.values[&of][candidate.result as usize]
                }
                Some(operator) => {
                    let operand = self.value(build, candidate.operands[0])?;
                    let builder = Builder::new(build.at(self.location(build, class)));
                    let made = builder.op(operator, &[operand], &candidate.attrs.attrs);
                    made.map_err(|violation| PassError::new(build.location, violation.to_string()))?[0]
                }
            }
        };
        // What is copied into each kernel is erased outside when the kernel has it.
        if !is_copied(value) {
            self.values.insert(class, vec![value]);
        }
        Ok(value)
    }

    fn external(&mut self, build: &Build<'c>, class: ClassId) -> Result<Value<'c>, PassError<'c>> {
        let id = self.space.classes[class].id;
        let leaf = self.program.graph[id].nodes.iter().find_map(|n| match n.head {
            Head::Leaf(number) => Some(self.program.leaves[number as usize]),
            _ => None,
        });
        if let Some(leaf) = leaf {
            return Ok(leaf);
        }
        let ty = fusion_dialects::tensor_type_to_mlir(build.context(), &self.space.classes[class].types[0]);
        let attr = self.constants.get(&id).copied().ok_or_else(|| {
            PassError::new(build.location, "a class of constants was not computed before it was written")
        })?;
        Ok(build.at(self.location(build, class)).value(
            relay::Op::Constant.name(),
            &[],
            ty,
            &[("value", attr)],
        ))
    }

    /// Writes a kernel's members and moves them into a function.
    fn kernel(&mut self, build: &Build<'c>, kernel: Kernel) -> Result<(), PassError<'c>> {
        let mut inside: HashMap<ClassId, Vec<Value<'c>>> = HashMap::new();
        for &input in &kernel.inputs {
            let value = self.value(build, input)?;
            inside.insert(input, vec![value]);
        }
        let mut ops: Vec<Op<'c>> = Vec::new();
        for &member in &kernel.members {
            let candidate = self.plan.state.candidate(self.space, member);
            let Some(operator) = candidate.operator else { continue };
            let operands: Vec<Value<'c>> = candidate.operands.iter().map(|o| inside[o][0]).collect();
            let builder = Builder::new(build.at(self.location(build, member)));
            let made = builder
                .op(operator, &operands, &candidate.attrs.attrs)
                .map_err(|violation| PassError::new(build.location, violation.to_string()))?;
            ops.extend(defining_op(made[0]));
            inside.insert(member, made);
        }
        if !ops.is_empty() {
            let results: Vec<Value<'c>> = kernel.results.iter().flat_map(|r| inside[r].clone()).collect();
            let (name, new) = match &mut self.outliner {
                Some(outliner) => outliner.outline(&ops, &results),
                None => (String::new(), results),
            };
            let mut new = new.into_iter();
            for result in &kernel.results {
                let count = inside[result].len();
                self.values.insert(*result, new.by_ref().take(count).collect());
            }
            self.written.push(Written { name, kernel: kernel.clone() });
        }
        for &stored in &kernel.stored {
            self.value(build, stored)?;
        }
        Ok(())
    }

    /// Where a class comes from in the source.
    fn location(&self, build: &Build<'c>, class: ClassId) -> Location<'c> {
        let data = &self.program.graph[self.space.classes[class].id].data;
        let origin = data.origins.first().and_then(|&o| self.program.locations.get(o as usize));
        origin.copied().unwrap_or(build.location)
    }
}
