//! What is told of the rule applications that make `relay-optimize` go wrong.

use fusion_egraph::applications::Application;
use fusion_egraph::bisect::{Found, Smallest};

/// What is told.
pub struct Blame {
    /// Which applications, a line each.
    pub sentence: String,
    /// The option with which the pass makes just these.
    pub option: Option<String>,
}

impl Blame {
    /// For people.
    pub fn of(found: &Found) -> Blame {
        match found {
            Found::Right => {
                let sentence = "when the pass runs again, the result is right".to_owned();
                Blame { sentence, option: None }
            }
            Found::WithoutRules => {
                let sentence = "it goes wrong without any rule as well".to_owned();
                Blame { sentence, option: None }
            }
            Found::Smallest(smallest) => {
                let option = Some(format!("only={}", smallest.only()));
                Blame { sentence: sentence(smallest), option }
            }
        }
    }
}

fn sentence(smallest: &Smallest) -> String {
    let Smallest { applications, of, runs, all_needed, .. } = smallest;
    let needed = match (applications.len(), all_needed) {
        (1, _) => "1 breaks the result by itself".to_owned(),
        (count, true) => format!("{count} together break the result, and none of them can be left out"),
        (count, false) => format!("{count} break the result, of which perhaps not all are needed"),
    };
    let mut text = format!("of {of} applications of rules {needed} (found in {runs} runs):");
    for application in applications {
        text.push_str("\n  ");
        text.push_str(&line(application));
    }
    text.push('\n');
    text
}

/// `wrong-sum at n7 of @main: (add {} x0 x1) = (sub {} x0 x1)`
fn line(application: &Application) -> String {
    let Application { rule, function, source, left, right, .. } = application;
    let place =
        if source.is_empty() { format!("in @{function}") } else { format!("at {source} of @{function}") };
    format!("{rule} {place}: {left} = {right}")
}

/// A pass of a textual pipeline with one more option.
pub fn with_option(element: &str, option: Option<&str>) -> String {
    match (option, element.strip_suffix('}')) {
        (None, _) => element.to_owned(),
        (Some(option), Some(options)) => format!("{options} {option}}}"),
        (Some(option), None) => format!("{element}{{{option}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::with_option;

    #[test]
    fn an_option_is_added_to_none_or_others() {
        assert_eq!(with_option("a", None), "a");
        assert_eq!(with_option("a", Some("b=1")), "a{b=1}");
        assert_eq!(with_option("a{c=2}", Some("b=1")), "a{c=2 b=1}");
    }
}
