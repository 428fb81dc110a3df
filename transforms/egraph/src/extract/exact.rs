//! The best plan of a small space, by an integer program.
//!
//!     x_k = 1: kernel k is in the program         y_cn = 1: class c is computed by its candidate n
//!
//!     least       sum of seconds(k) x_k
//!     results     sum of the x_j that store r  = 1                    for each class r that the block uses
//!     reads       x_k <= sum of the x_j that store i                  for each class i that k reads
//!     lazy        x_k + sum of the x_j that store c <= 1              for each class c that k computes and does not store
//!     choices     x_k <= y_cn,   sum over n of y_cn <= 1              for each class c in k, by the candidate n
//!     order       t_c >= t_o + 1 - N (1 - y_cn)                       for the operands o of n: no class needs itself
//!
//! The kernels are listed first, all that store one class: so this is what the search looks for, without kernels of several results. Their
//! number grows exponentially with the space, which decides whether the plan is affordable.

use super::cost;
use super::kernel::Kernel;
use super::space::{ClassId, Space};
use super::state::State;
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, constraint, variable};
use std::collections::BTreeMap;

/// Classes of a space that is looked at.
const MOST_CLASSES: usize = 64;
/// Ways to compute a class that are tried, over all classes.
const MOST_TRIED: usize = 4096;
/// Kernels the program may choose from.
const MOST_KERNELS: usize = 256;

/// Relaxed programs that the solver may look at: most need one, and some would need millions.
const MOST_NODES: u64 = 256;

/// The candidate that a kernel computes each of its classes by.
type Choices = BTreeMap<ClassId, usize>;

/// A kernel that stores one class.
struct Column {
    stores: ClassId,
    choices: Choices,
    reads: Vec<ClassId>,
    seconds: f64,
}

/// The state whose kernels of one result each take the least time together; `None` where that is not affordable.
pub fn solve(space: &Space, choice: Vec<u32>) -> Option<State> {
    let computed = space.classes.iter().filter(|c| !c.is_external).count();
    if computed == 0 || computed > MOST_CLASSES {
        return None;
    }
    let mut listing = Listing { space, columns: Vec::new(), tried: 0 };
    for (class, facts) in space.classes.iter().enumerate().filter(|(_, c)| !c.is_external) {
        for candidate in 0..facts.candidates.len() {
            listing.extend(class, &Choices::from([(class, candidate)]), &mut Vec::new())?;
        }
    }
    let chosen = Program::of(space, &listing.columns).least()?;
    Some(state_of(space, choice, &chosen))
}

/// The kernels found so far.
struct Listing<'a> {
    space: &'a Space,
    columns: Vec<Column>,
    tried: usize,
}

impl Listing<'_> {
    /// Lists the kernels that store a class and compute those classes, and any of what they read but that which others store.
    fn extend(&mut self, stores: ClassId, choices: &Choices, stored: &mut Vec<ClassId>) -> Option<()> {
        let open = choices.iter().flat_map(|(&class, &n)| &self.space.classes[class].candidates[n].operands);
        let open = open
            .copied()
            .find(|o| !self.space.classes[*o].is_external && !choices.contains_key(o) && !stored.contains(o));
        let Some(open) = open else { return self.complete(stores, choices) };
        stored.push(open);
        self.extend(stores, choices, stored)?;
        stored.pop();
        if self.space.roots.contains(&open) {
            return Some(());
        }
        for candidate in 0..self.space.classes[open].candidates.len() {
            let mut more = choices.clone();
            more.insert(open, candidate);
            if !needs_itself(self.space, &more, open) {
                self.extend(stores, &more, stored)?;
            }
        }
        Some(())
    }

    /// Keeps a kernel that is legal; `None` when there are too many.
    fn complete(&mut self, stores: ClassId, choices: &Choices) -> Option<()> {
        self.tried += 1;
        let state = State::of_one_kernel(self.space, choices, stores);
        let kernel = Kernel::of(self.space, &state, stores);
        if kernel.check(self.space, &state).is_ok() {
            self.columns.push(Column {
                stores,
                choices: choices.clone(),
                reads: kernel.reads(self.space, &state),
                seconds: cost::kernel(self.space, &state, &kernel),
            });
        }
        (self.tried <= MOST_TRIED && self.columns.len() <= MOST_KERNELS).then_some(())
    }
}

/// True when the choices make a class an operand of itself.
fn needs_itself(space: &Space, choices: &Choices, class: ClassId) -> bool {
    let mut stack = vec![class];
    let mut seen = Vec::new();
    while let Some(at) = stack.pop() {
        let Some(&n) = choices.get(&at) else { continue };
        for &operand in &space.classes[at].candidates[n].operands {
            if operand == class {
                return true;
            }
            if !seen.contains(&operand) {
                seen.push(operand);
                stack.push(operand);
            }
        }
    }
    false
}

/// The integer program.
struct Program<'a> {
    columns: &'a [Column],
    variables: ProblemVariables,
    kernels: Vec<Variable>,
    constraints: Vec<good_lp::Constraint>,
}

impl<'a> Program<'a> {
    fn of(space: &Space, columns: &'a [Column]) -> Program<'a> {
        let mut variables = ProblemVariables::new();
        let kernels: Vec<Variable> = columns.iter().map(|_| variables.add(variable().binary())).collect();
        let mut program = Program { columns, variables, kernels, constraints: Vec::new() };
        for &root in space.roots.iter().filter(|r| !space.classes[**r].is_external) {
            let stored = program.stored(root);
            program.constraints.push(constraint!(stored == 1));
        }
        for (column, &kernel) in columns.iter().zip(&program.kernels.clone()) {
            for &read in &column.reads {
                let stored = program.stored(read);
                program.constraints.push(constraint!(kernel <= stored));
            }
            for &lazy in column.choices.keys().filter(|c| **c != column.stores) {
                let stored = program.stored(lazy);
                program.constraints.push(constraint!(kernel + stored <= 1));
            }
        }
        program.choose(space);
        program
    }

    /// How many kernels store a class.
    fn stored(&self, class: ClassId) -> Expression {
        let of = self.columns.iter().zip(&self.kernels).filter(|(column, _)| column.stores == class);
        of.map(|(_, &kernel)| kernel).sum()
    }

    /// One candidate a class, and none that needs its class.
    fn choose(&mut self, space: &Space) {
        let mut choices: BTreeMap<(ClassId, usize), Variable> = BTreeMap::new();
        for (column, &kernel) in self.columns.iter().zip(&self.kernels) {
            for (&class, &candidate) in &column.choices {
                let choice = *choices
                    .entry((class, candidate))
                    .or_insert_with(|| self.variables.add(variable().binary()));
                self.constraints.push(constraint!(kernel <= choice));
            }
        }
        let most = space.classes.len() as f64;
        let times: Vec<Variable> =
            space.classes.iter().map(|_| self.variables.add(variable().min(0).max(most))).collect();
        let mut of_class: BTreeMap<ClassId, Expression> = BTreeMap::new();
        for (&(class, candidate), &choice) in &choices {
            *of_class.entry(class).or_default() += choice;
            for &operand in &space.classes[class].candidates[candidate].operands {
                if reaches(space, operand, class) {
                    let (own, before) = (times[class], times[operand]);
                    self.constraints.push(constraint!(own >= before + 1 - (most + 1.0) * (1 - choice)));
                }
            }
        }
        self.constraints.extend(of_class.into_values().map(|all| constraint!(all <= 1)));
    }

    /// The kernels of the best program.
    fn least(self) -> Option<Vec<&'a Column>> {
        // In parts of the slowest kernel: seconds are too small for the solver's tolerances.
        let unit = self.columns.iter().map(|c| c.seconds).fold(f64::MIN_POSITIVE, f64::max);
        let objective: Expression = self
            .columns
            .iter()
            .zip(&self.kernels)
            .map(|(column, &kernel)| kernel * (column.seconds / unit))
            .sum();
        let mut model = self.variables.minimise(objective).using(good_lp::microlp);
        for constraint in self.constraints {
            model.add_constraint(constraint);
        }
        let mut options = microlp::SolveOptions::default();
        options.node_limit = Some(MOST_NODES);
        let outcome = model.as_inner().solve_with(options).ok()?;
        let solution = outcome.into_solution().ok()?;
        if solution.termination_reason() != microlp::TerminationReason::ProvenOptimal {
            return None;
        }
        // The kernels' variables were the first.
        let used = self.columns.iter().zip(solution.iter()).filter(|(_, (_, value))| *value > 0.5);
        Some(used.map(|(column, _)| column).collect())
    }
}

/// True when some choice makes the value of a class need that of another, or they are one.
fn reaches(space: &Space, from: ClassId, to: ClassId) -> bool {
    let mut seen = vec![false; space.classes.len()];
    let mut stack = vec![from];
    while let Some(at) = stack.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            stack.extend(space.classes[at].candidates.iter().flat_map(|c| &c.operands));
        }
    }
    false
}

/// The state with those kernels.
fn state_of(space: &Space, mut choice: Vec<u32>, kernels: &[&Column]) -> State {
    for (&class, &candidate) in kernels.iter().flat_map(|k| &k.choices) {
        choice[class] = candidate as u32;
    }
    let mut state = State::new(space, choice);
    for kernel in kernels {
        for &class in kernel.choices.keys().filter(|c| **c != kernel.stores) {
            state.set_stored(class, false);
        }
    }
    state
}
