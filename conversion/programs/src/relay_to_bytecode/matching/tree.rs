//! Patterns as a tree of decisions.
//!
//! ```text
//!   case [@Cons, "x", [@Nil]]      switch on the value:        Nil  -> clause 1
//!   case "_"                ==>                                Cons -> switch on its field 1:  Nil  -> clause 0
//!                                                                                              Cons -> clause 1
//! ```
//!
//! Each part of the value is looked at once at most on every way (Maranget, "Compiling Pattern Matching to Good Decision Trees",
//! ML 2008). Of the parts that the first clause looks at, that comes first which most clauses look at. Clauses keep their order.

use fusion_dialects::relay::Pattern;

/// The fields that lead from the value to a part of it.
pub type Path = Vec<u32>;

/// A tree of decisions.
#[derive(Debug, PartialEq)]
pub enum Tree {
    /// No clause fits values of that form.
    Fail(String),
    /// This clause fits.
    Clause(usize),
    /// It depends on the constructor of a part.
    Switch {
        /// The part.
        path: Path,
        /// The data type.
        data: String,
        /// What to do for each constructor, by its tag. Constructors that no clause asks for share the last.
        cases: Vec<(usize, Tree)>,
        /// What to do for others, where there are others.
        others: Option<Box<Tree>>,
    },
}

/// Why there is no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// It is too large.
    #[error("needs more than {MOST_NODES} decisions; match on parts of the value one after another")]
    TooLarge,
    /// The constructor is unknown.
    #[error("has a pattern of the constructor @{0}::@{1}, which is not declared")]
    Unknown(String, String),
}

/// Larger trees are refused: their size may be exponential in that of the patterns.
pub const MOST_NODES: usize = 1 << 16;

/// The names of the constructors of a data type.
pub type Constructors<'a> = &'a dyn Fn(&str) -> Option<Vec<String>>;

/// A clause with what is still to be looked at.
#[derive(Clone)]
struct Row<'p> {
    clause: usize,
    tests: Vec<(Path, &'p str, &'p str, &'p [Pattern])>,
}

/// The tree of clauses.
pub fn tree(patterns: &[Pattern], constructors: Constructors) -> Result<Tree, TreeError> {
    let rows = patterns.iter().enumerate().map(|(clause, pattern)| {
        let mut row = Row { clause, tests: Vec::new() };
        row.ask(Vec::new(), pattern);
        row
    });
    let mut builder = Builder { constructors, nodes: 0 };
    builder.decide(rows.collect(), &mut Vec::new())
}

/// The parts that a pattern binds, in order.
pub fn bound_parts(pattern: &Pattern) -> Vec<Path> {
    let (mut found, mut open) = (Vec::new(), vec![(Vec::new(), pattern)]);
    while let Some((path, pattern)) = open.pop() {
        match pattern {
            Pattern::Wildcard => {}
            Pattern::Bind(_) => found.push(path),
            Pattern::Constructor { fields: parts, .. } | Pattern::Tuple(parts) => {
                open.extend(parts.iter().enumerate().rev().map(|(i, part)| (below(&path, i), part)));
            }
        }
    }
    found
}

fn below(path: &Path, index: usize) -> Path {
    path.iter().copied().chain([index as u32]).collect()
}

impl<'p> Row<'p> {
    /// Adds what a pattern asks of a part. Tuples ask nothing themselves.
    fn ask(&mut self, path: Path, pattern: &'p Pattern) {
        match pattern {
            Pattern::Wildcard | Pattern::Bind(_) => {}
            Pattern::Constructor { data, name, fields } => self.tests.push((path, data, name, fields)),
            Pattern::Tuple(parts) => {
                parts.iter().enumerate().for_each(|(i, part)| self.ask(below(&path, i), part));
            }
        }
    }

    fn asked(&self, path: &Path) -> Option<usize> {
        self.tests.iter().position(|(at, ..)| at == path)
    }

    /// The row where a part is of that constructor; none where it then does not fit.
    fn given(&self, path: &Path, constructor: &str) -> Option<Row<'p>> {
        let mut row = self.clone();
        if let Some(at) = self.asked(path) {
            let (path, _, name, fields) = row.tests.remove(at);
            if name != constructor {
                return None;
            }
            fields.iter().enumerate().for_each(|(i, field)| row.ask(below(&path, i), field));
        }
        Some(row)
    }
}

struct Builder<'a> {
    constructors: Constructors<'a>,
    nodes: usize,
}

impl Builder<'_> {
    /// `known` are the constructors on the way here.
    fn decide(&mut self, rows: Vec<Row>, known: &mut Vec<String>) -> Result<Tree, TreeError> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(TreeError::TooLarge);
        }
        let Some(first) = rows.first() else { return Ok(Tree::Fail(known.join(", "))) };
        let askers = |path: &Path| rows.iter().filter(|row| row.asked(path).is_some()).count();
        // Of several with as many, the first.
        let best = first.tests.iter().rev().max_by_key(|(path, ..)| askers(path));
        let Some((path, data, ..)) = best else { return Ok(Tree::Clause(first.clause)) };
        let (path, data) = (path.clone(), (*data).to_owned());
        let unknown = |name: &str| TreeError::Unknown(data.clone(), name.to_owned());
        let names = (self.constructors)(&data).ok_or_else(|| unknown(""))?;
        let asked: Vec<&str> =
            rows.iter().filter_map(|row| row.asked(&path).map(|at| row.tests[at].2)).collect();
        if let Some(name) = asked.iter().find(|name| !names.iter().any(|known| known == **name)) {
            return Err(unknown(name));
        }
        let mut cases = Vec::new();
        for (tag, name) in names.iter().enumerate().filter(|(_, name)| asked.contains(&name.as_str())) {
            let rows = rows.iter().filter_map(|row| row.given(&path, name)).collect();
            known.push(format!("@{data}::@{name}"));
            cases.push((tag, self.decide(rows, known)?));
            known.pop();
        }
        let mut others = None;
        if cases.len() < names.len() {
            let rows = rows.iter().filter(|row| row.asked(&path).is_none()).cloned().collect();
            let left: Vec<_> = names.iter().filter(|name| !asked.contains(&name.as_str())).collect();
            known.push(left.iter().map(|name| format!("@{data}::@{name}")).collect::<Vec<_>>().join(" or "));
            others = Some(Box::new(self.decide(rows, known)?));
            known.pop();
        }
        Ok(Tree::Switch { path, data, cases, others })
    }
}

impl Tree {
    /// How many leaves each of that many clauses has.
    pub fn leaves(&self, clauses: usize) -> Vec<usize> {
        let (mut leaves, mut open) = (vec![0; clauses], vec![self]);
        while let Some(tree) = open.pop() {
            match tree {
                Tree::Fail(_) => {}
                Tree::Clause(clause) => leaves[*clause] += 1,
                Tree::Switch { cases, others, .. } => {
                    open.extend(cases.iter().map(|(_, tree)| tree).chain(others.as_deref()));
                }
            }
        }
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(name: &str) -> Option<Vec<String>> {
        (name == "List").then(|| vec!["Nil".to_owned(), "Cons".to_owned()])
    }

    fn of(name: &str, fields: Vec<Pattern>) -> Pattern {
        Pattern::Constructor { data: "List".to_owned(), name: name.to_owned(), fields }
    }

    fn switch(path: Path, cases: Vec<(usize, Tree)>, others: Option<Tree>) -> Tree {
        Tree::Switch { path, data: "List".to_owned(), cases, others: others.map(Box::new) }
    }

    #[test]
    fn parts_are_looked_at_once() {
        let one = of("Cons", vec![Pattern::Wildcard, of("Nil", vec![])]);
        let found = tree(&[one, Pattern::Wildcard], &list).unwrap();
        let inner = switch(vec![1], vec![(0, Tree::Clause(0))], Some(Tree::Clause(1)));
        assert_eq!(found, switch(vec![], vec![(1, inner)], Some(Tree::Clause(1))));
        assert_eq!(found.leaves(2), [1, 2]);
    }

    #[test]
    fn clauses_keep_their_order() {
        let found = tree(&[Pattern::Bind("x".to_owned()), of("Nil", vec![])], &list).unwrap();
        assert_eq!(found, Tree::Clause(0));
    }

    #[test]
    fn what_no_clause_fits_is_named() {
        let found = tree(&[of("Nil", vec![])], &list).unwrap();
        assert_eq!(
            found,
            switch(vec![], vec![(0, Tree::Clause(0))], Some(Tree::Fail("@List::@Cons".to_owned())))
        );
    }

    #[test]
    fn the_part_that_most_clauses_ask_for_comes_first() {
        let (nil, any) = (|| of("Nil", vec![]), || Pattern::Wildcard);
        let rows = [
            Pattern::Tuple(vec![nil(), nil()]),
            Pattern::Tuple(vec![any(), nil()]),
            Pattern::Tuple(vec![any(), any()]),
        ];
        let found = tree(&rows, &list).unwrap();
        let inner = switch(vec![0], vec![(0, Tree::Clause(0))], Some(Tree::Clause(1)));
        assert_eq!(found, switch(vec![1], vec![(0, inner)], Some(Tree::Clause(2))));
    }

    #[test]
    fn names_are_bound_in_order() {
        let name = |text: &str| Pattern::Bind(text.to_owned());
        let pattern = of("Cons", vec![Pattern::Tuple(vec![name("a"), name("b")]), name("c")]);
        assert_eq!(bound_parts(&pattern), [vec![0, 0], vec![0, 1], vec![1]]);
    }

    #[test]
    fn trees_that_grow_too_large_are_refused() {
        let count = 40;
        let rows: Vec<_> = (0..count)
            .map(|row| {
                let field = |i| match i == row || i == (row + 1) % count {
                    true => of(
                        if i == row { "Nil" } else { "Cons" },
                        vec![Pattern::Wildcard; usize::from(i != row) * 2],
                    ),
                    false => Pattern::Wildcard,
                };
                Pattern::Tuple((0..count).map(field).collect())
            })
            .collect();
        assert!(matches!(tree(&rows, &list), Ok(_) | Err(TreeError::TooLarge)));
    }
}
