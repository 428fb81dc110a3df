//! A stage of a schedule: a computation, its loops and how they were made, and where it is computed and kept.
//!
//!     stage "c": i (128), j (3072), k (768, reduction)
//!     split j by 16          axes i, j, k, jo, ji      loops i, jo, ji, k      j = 16 jo + ji

use super::{AxisId, StageId, Tensorized};
use crate::layout::Layout;
use fusion_dialects::loops::{LoopKind, Scope};
use fusion_dialects::{Attribute, Op, OpExt, Value};

/// Where an axis comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An axis of the computation itself, by its place: parallel axes first.
    Root(usize),
    /// The outer or inner loop of a split.
    Split(usize),
    /// The one loop over two.
    Fuse(usize),
}

/// One loop, or one that was split or fused.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Number of iterations, rounded up.
    pub extent: u64,
    /// True for reduction axes.
    pub reduce: bool,
    /// How it runs.
    pub kind: LoopKind,
    /// Where it comes from.
    pub origin: Origin,
}

/// How axes were made from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `parent = outer * factor + inner`.
    Split {
        /// The axis that was split.
        parent: AxisId,
        /// Over blocks.
        outer: AxisId,
        /// Inside a block.
        inner: AxisId,
        /// Iterations of a block.
        factor: u64,
        /// What becomes of the iterations that are left over.
        tail: Tail,
    },
    /// `first = fused / n`, `second = fused mod n`, n the extent of the second.
    Fuse {
        /// The outer of the two.
        first: AxisId,
        /// The inner of the two.
        second: AxisId,
        /// The one loop over both.
        fused: AxisId,
    },
}

/// What becomes of the iterations that a split leaves over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// A loop of its own where that can be, else as `Guard`.
    #[default]
    Any,
    /// Each iteration asks whether it is one.
    Guard,
    /// A loop of its own, or an error.
    Peel,
    /// There are none: the buffer is rounded up to whole blocks.
    Pad,
}

/// Where a stage is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attach {
    /// On its own, before its consumers.
    Root,
    /// Where its elements are used.
    Inline,
    /// In each iteration of a loop of a consumer.
    At(StageId, AxisId),
    /// At the end of each iteration of a loop of the stage it reads.
    After(StageId, AxisId),
}

/// Where the buffer of a stage lives that is computed in a loop of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// As long as the kernel runs; it holds the whole result.
    Root,
    /// In each iteration of that loop of the consumer.
    At(AxisId),
}

/// What is prefetched some iterations ahead.
#[derive(Clone, Copy, Debug)]
pub struct Prefetch<'c> {
    /// The loop.
    pub axis: AxisId,
    /// The tensor of which parts are read or written.
    pub tensor: Value<'c>,
    /// Number of iterations.
    pub ahead: u64,
    /// The loop inside, each iteration of which prefetches a share.
    pub over: Option<(StageId, AxisId)>,
}

/// Something kept on a loop.
#[derive(Clone, Debug)]
pub struct Note<'c> {
    /// The loop.
    pub axis: AxisId,
    /// Its name.
    pub key: String,
    /// What it is.
    pub value: Attribute<'c>,
}

/// A computation and its loops.
#[derive(Clone, Debug)]
pub struct Stage<'c> {
    /// The name its handle uses.
    pub name: String,
    /// The `te.compute` or `te.extern`.
    pub op: Op<'c>,
    /// All axes ever made.
    pub axes: Vec<Axis>,
    /// How they were made, in order.
    pub relations: Vec<Relation>,
    /// The loops there are now, outermost first.
    pub leaves: Vec<AxisId>,
    /// Where it is computed.
    pub attach: Attach,
    /// The order of its elements in memory; row-major without one.
    pub layout: Option<Layout>,
    /// Where its buffer lives, when that is not where it is computed.
    pub store: Option<Store>,
    /// The memory its buffer is in, when it was said.
    pub scope: Option<Scope>,
    /// How many buffers take turns; 1 where there is only one.
    pub buffers: u64,
    /// Whether boxes are copied to it.
    pub bulk: bool,
    /// Whether it is stored past the caches.
    pub streams: bool,
    /// What its loops prefetch ahead.
    pub prefetches: Vec<Prefetch<'c>>,
    /// What is kept on its loops.
    pub notes: Vec<Note<'c>>,
    /// The intrinsic that does what its inner loops say.
    pub tensorized: Option<Tensorized<'c>>,
    /// Where along each parallel axis it begins to be computed; the axis's extent is how much of it is.
    pub begins: Vec<u64>,
    /// The tensor whose memory it stores into, where other stages store the rest of it.
    pub into: Option<Value<'c>>,
}

impl<'c> Stage<'c> {
    /// The stage of an operation before any primitive.
    pub fn of(op: Op<'c>) -> Self {
        let extents = |name: &str| op.ints(name).unwrap_or_default();
        let parallel = extents("axes").into_iter().map(|n| (n, false));
        let reduced = extents("reduce").into_iter().map(|n| (n, true));
        let axes: Vec<Axis> = parallel
            .chain(reduced)
            .enumerate()
            .map(|(i, (n, reduce))| Axis {
                extent: n.max(0) as u64,
                reduce,
                kind: LoopKind::Serial,
                origin: Origin::Root(i),
            })
            .collect();
        Stage {
            name: op.text("name").unwrap_or_default().to_owned(),
            op,
            begins: vec![0; axes.iter().filter(|a| !a.reduce).count()],
            into: None,
            leaves: (0..axes.len()).collect(),
            axes,
            relations: Vec::new(),
            attach: Attach::Root,
            layout: None,
            store: None,
            scope: None,
            buffers: 1,
            bulk: false,
            streams: false,
            prefetches: Vec::new(),
            notes: Vec::new(),
            tensorized: None,
        }
    }

    /// Number of parallel axes of the computation.
    pub fn rank(&self) -> usize {
        self.axes.iter().filter(|a| matches!(a.origin, Origin::Root(_)) && !a.reduce).count()
    }

    /// Number of axes of the computation: the first of all its axes, parallel ones, then reduction axes.
    pub fn op_axes(&self) -> usize {
        self.axes.iter().filter(|a| matches!(a.origin, Origin::Root(_))).count()
    }

    /// Extents of the axes of the computation, whatever part of it the stage computes.
    pub fn extents(&self) -> Vec<u64> {
        let named = |name: &str| self.op.ints(name).unwrap_or_default();
        [named("axes"), named("reduce")].concat().into_iter().map(|n| n.max(0) as u64).collect()
    }

    /// Has only a part of an axis computed.
    pub fn narrow(&mut self, axis: AxisId, begin: u64, extent: u64) {
        self.begins[axis] = begin;
        self.axes[axis].extent = extent;
    }

    /// The part that is computed of each parallel axis: where it begins, and its extent.
    pub fn part(&self) -> Vec<(u64, u64)> {
        self.begins.iter().zip(&self.axes).map(|(begin, axis)| (*begin, axis.extent)).collect()
    }

    /// True where only a part is computed.
    pub fn is_narrowed(&self) -> bool {
        self.part().into_iter().zip(self.extents()).any(|((_, part), whole)| part != whole)
    }

    /// Has the same part computed of the axes as another stage has of its own.
    pub fn narrow_as(&mut self, part: &[(u64, u64)]) {
        for (axis, (begin, extent)) in part.iter().enumerate() {
            self.narrow(axis, *begin, *extent);
        }
    }

    /// True when the stage combines elements over reduction axes.
    pub fn is_reduction(&self) -> bool {
        self.axes.iter().any(|a| a.reduce)
    }

    /// The axes a loop was made of, nearest first.
    pub fn made_of(&self, axis: AxisId) -> impl Iterator<Item = AxisId> {
        let parents = |axis: AxisId| match self.axes[axis].origin {
            Origin::Root(_) => Vec::new(),
            Origin::Split(r) | Origin::Fuse(r) => match self.relations[r] {
                Relation::Split { parent, .. } => vec![parent],
                Relation::Fuse { first, second, .. } => vec![first, second],
            },
        };
        let mut open = parents(axis);
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(parents(next));
            Some(next)
        })
    }

    /// The axes of the computation that a loop goes along, by their places.
    pub fn roots(&self, axis: AxisId) -> impl Iterator<Item = usize> {
        let place = |axis: AxisId| match self.axes[axis].origin {
            Origin::Root(place) => Some(place),
            Origin::Split(_) | Origin::Fuse(_) => None,
        };
        std::iter::once(axis).chain(self.made_of(axis)).filter_map(place)
    }

    /// The place of a loop in the nest.
    pub fn place(&self, axis: AxisId) -> Result<usize, String> {
        self.leaves.iter().position(|&l| l == axis).ok_or_else(|| match self.axes.get(axis) {
            Some(_) => format!(
                "names a loop of stage \"{}\" that was split or fused away; use the loops it was made into",
                self.name
            ),
            None => format!(
                "names a loop of stage \"{}\" that went to another stage; take the loops after te.cache_write or te.rfactor",
                self.name
            ),
        })
    }

    /// Extents of what is kept of a part of the results: splits that pad round up.
    pub fn padded(&self, mut extents: Vec<u64>) -> Vec<u64> {
        for relation in &self.relations {
            if let Relation::Split { parent, factor, tail: Tail::Pad, .. } = *relation
                && let Some(n) = extents.get_mut(parent)
            {
                *n = n.next_multiple_of(factor);
            }
        }
        extents
    }
}
