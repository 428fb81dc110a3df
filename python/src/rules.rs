//! Rules of the e-graph that are written in Python.

use crate::raised;
use fusion::extend::{Family, Match, rule};
use fusion_operators::Dim;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// What a condition is told of a value: its element type, its shape, and the number that all of its elements are known to be.
type Value = (String, Vec<Option<u64>>, Option<f64>);

/// Adds a rule, for all models that this process compiles from now on.
///
/// Its terms and their types are checked here. A condition is called with what the variables of the left side stand for, by name;
/// attributes are left out.
#[pyfunction]
#[pyo3(signature = (name, left, right, *, equation, family, exact, condition))]
#[allow(clippy::too_many_arguments)]
pub fn add_rule(
    py: Python<'_>,
    name: &str,
    left: &str,
    right: &str,
    equation: &str,
    family: &str,
    exact: bool,
    condition: Option<Py<PyAny>>,
) -> PyResult<()> {
    let Some((family, _)) = Family::ALL.iter().find(|(_, known)| *known == family) else {
        let known: Vec<&str> = Family::ALL.iter().map(|(_, known)| *known).collect();
        return Err(PyValueError::new_err(format!(
            "family is {family:?}, and one of {} is expected",
            known.join(", ")
        )));
    };
    // A rule lives as long as the process.
    let [name, left, right, equation] = [name, left, right, equation].map(|text| &*text.to_owned().leak());
    let (condition, variables) = (condition.map(Arc::new), variables(left));
    let made = move || {
        let made = rule(name, equation, left, right);
        let made = if exact { made.exact() } else { made };
        let Some(condition) = condition.clone() else { return made };
        let variables = variables.clone();
        made.when("a function of Python says so", move |found| holds(&condition, &variables, found))
    };
    py.detach(|| {
        made().build().map_err(raised)?;
        fusion::extend::add_rule(*family, made);
        Ok(())
    })
}

/// The variables of a term, without their question marks.
fn variables(term: &'static str) -> Vec<&'static str> {
    let words = term.split(|c: char| c.is_whitespace() || "()".contains(c));
    let mut names: Vec<&str> = words.filter(|word| word.starts_with('?')).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Asks a condition. An exception in it is reported, and the rule does not apply.
fn holds(condition: &Py<PyAny>, variables: &[&str], found: &Match) -> Option<bool> {
    let known = variables.iter().filter_map(|name| Some((&name[1..], value(found, name)?)));
    let known: Vec<(&str, Value)> = known.collect();
    Python::attach(|py| {
        let named = PyDict::new(py);
        let asked = known.into_iter().try_for_each(|(name, value)| named.set_item(name, value));
        let answer = asked.and_then(|()| condition.bind(py).call((), Some(&named))?.is_truthy());
        answer.inspect_err(|error| error.clone_ref(py).write_unraisable(py, None)).ok()
    })
}

fn value(found: &Match, variable: &str) -> Option<Value> {
    let ty = found.ty(variable)?;
    Some((ty.dtype.to_string(), ty.dims.iter().map(Dim::known).collect(), found.splat(variable)))
}
