//! How long the sums of an instruction may stay in tensor memory.
//!
//!     for { %c = vector.load %sums ; %d = multiply %c ; vector.store %d, %sums }      nothing else reads or writes %sums in it

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Attribute, Build, Op, OpExt, OperationLike, Type, Value, defining_op, key, users};

/// The outermost loop that does nothing else with the sums of an instruction, or that itself.
pub struct Around<'c> {
    pub outermost: Op<'c>,
    /// The load and the store of the sums in it, where it is a loop.
    moves: Option<[Op<'c>; 2]>,
}

impl<'c> Around<'c> {
    /// Around an instruction with these sums.
    pub fn of(op: Op<'c>, sums: Value<'c>) -> Around<'c> {
        let alone = Around { outermost: op, moves: None };
        let is = |op: Op, kind: Upstream| matches!(op.kind(), Some(Kind::Upstream(k)) if k == kind);
        let load = defining_op(sums).filter(|load| is(*load, Upstream::VectorLoad) && users(sums).len() == 1);
        let result = op.result_values()[0];
        let stores = users(result);
        let (Some(load), [store]) = (load, &stores[..]) else { return alone };
        let (from, to) = (load.operand_values(), store.operand_values());
        let same = to.len() == 3 && key(to[1]) == key(from[0]) && key(to[2]) == key(from[1]);
        if !is(*store, Upstream::VectorStore) || !same {
            return alone;
        }
        let buffer = from[0];
        let of_buffer = users(buffer);
        let is_inside = |inner: Op<'c>, outer: Op<'c>| {
            std::iter::successors(Some(inner), |o| o.parent_operation()).any(|o| o == outer)
        };
        let mut outermost = op;
        while let Some(parent) = outermost.parent_operation().filter(|p| is(*p, Upstream::ScfFor)) {
            let others = of_buffer.iter().filter(|user| **user != load && *user != store);
            let index_outside = defining_op(from[1]).is_some_and(|made| !is_inside(made, parent));
            if !index_outside || others.into_iter().any(|user| is_inside(*user, parent)) {
                break;
            }
            outermost = parent;
        }
        match outermost == op {
            true => alone,
            false => Around { outermost, moves: Some([load, *store]) },
        }
    }

    /// The sums before the loop.
    pub fn load(&self, build: &Build<'c>, sums: Value<'c>, floats: Type<'c>) -> Value<'c> {
        match self.moves {
            None => sums,
            Some([load, _]) => {
                build.value(Upstream::VectorLoad.name(), &load.operand_values(), floats, &alignment(load))
            }
        }
    }

    /// Puts them where they are wanted.
    pub fn store(&self, build: &Build<'c>, op: Op<'c>, done: Value<'c>) {
        let Some([load, store]) = self.moves else {
            op.replace_all_uses(&[done]);
            op.erase();
            return;
        };
        let mut operands = store.operand_values();
        operands[0] = done;
        build.op(Upstream::VectorStore.name(), &operands, &[], &alignment(store));
        store.erase();
        op.erase();
        load.erase();
    }
}

/// How far an access is aligned, where it says so.
fn alignment<'c>(access: Op<'c>) -> Vec<(&'static str, Attribute<'c>)> {
    access.attr("alignment").map(|a| ("alignment", a)).into_iter().collect()
}
