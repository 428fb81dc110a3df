//! Operations with regions: closures, branches, and matches of lists, options and tuples.
//!
//! What is made in a region leaves the scope at its end.

use super::Writer;
use super::types::Ty;

impl Writer {
    /// A region: its operations, then a yield of that type.
    fn region(&mut self, parameters: &[(String, Ty)], ty: &Ty, depth: usize) {
        let mark = self.scope.len();
        if !parameters.is_empty() {
            let texts: Vec<String> = parameters.iter().map(|(n, t)| format!("{n}: {}", t.text())).collect();
            self.line(&format!("^bb0({}):", texts.join(", ")));
            self.scope.extend(parameters.iter().cloned());
        }
        self.statement(depth);
        let value = self.expression(ty, depth);
        self.line(&format!("relay.yield {value} : {}", ty.text()));
        self.scope.truncate(mark);
    }

    pub(super) fn parameters(&mut self, types: &[Ty]) -> Vec<(String, Ty)> {
        types.iter().map(|ty| (self.name(), ty.clone())).collect()
    }

    pub(super) fn closure(&mut self, ty: &Ty, inputs: &[Ty], result: &Ty, depth: usize) -> String {
        let name = self.name();
        self.line(&format!("{name} = relay.fn {{"));
        let parameters = self.parameters(inputs);
        self.region(&parameters, result, depth);
        self.line(&format!("}} : {}", ty.text()));
        name
    }

    pub(super) fn branch(&mut self, ty: &Ty, depth: usize) -> String {
        let condition = self.expression(&Ty::Bool, depth);
        let name = self.name();
        self.line(&format!("{name} = relay.if {condition} {{"));
        self.region(&[], ty, depth);
        self.line("} else {");
        self.region(&[], ty, depth);
        self.line(&format!("}} : (tensor<i1>) -> ({})", ty.text()));
        name
    }

    fn clause(&mut self, pattern: &str, bound: &[Ty], ty: &Ty, depth: usize) {
        self.line(&format!("case {pattern} {{"));
        let parameters = self.parameters(bound);
        self.region(&parameters, ty, depth);
        self.line("}");
    }

    fn begin_match(&mut self, of: &Ty, ty: &Ty, depth: usize) -> String {
        let value = self.expression(of, depth);
        let name = self.name();
        self.line(&format!("{name} = relay.match {value} : ({}) -> ({})", of.text(), ty.text()));
        name
    }

    pub(super) fn match_list(&mut self, ty: &Ty, depth: usize) -> String {
        let element = self.ty(1);
        let list = Ty::List(Box::new(element.clone()));
        let name = self.begin_match(&list, ty, depth);
        match self.below(3) {
            0 => {
                let bound = [element, list];
                self.clause(r#"[@List::@Cons, "_", [@List::@Cons, "x", "rest"]]"#, &bound, ty, depth);
                self.clause(r#""whole""#, &bound[1..], ty, depth);
            }
            1 => {
                self.clause("[@List::@Nil]", &[], ty, depth);
                self.clause(r#"[@List::@Cons, "x", "_"]"#, &[element], ty, depth);
            }
            _ => {
                self.clause(
                    r#"[@List::@Cons, "x", [@List::@Nil]]"#,
                    std::slice::from_ref(&element),
                    ty,
                    depth,
                );
                self.clause(r#"[@List::@Cons, "x", "rest"]"#, &[element, list], ty, depth);
                self.clause(r#""_""#, &[], ty, depth);
            }
        }
        name
    }

    pub(super) fn match_option(&mut self, ty: &Ty, depth: usize) -> String {
        let of = self.ty(1);
        let name = self.begin_match(&Ty::Option(Box::new(of.clone())), ty, depth);
        self.clause(r#"[@Option::@Some, "x"]"#, &[of], ty, depth);
        self.clause("[@Option::@None]", &[], ty, depth);
        name
    }

    pub(super) fn match_tuple(&mut self, ty: &Ty, depth: usize) -> String {
        let (a, b) = (self.ty(1), self.ty(0));
        let option = Ty::Option(Box::new(a.clone()));
        let name = self.begin_match(&Ty::Tuple(vec![option.clone(), b.clone()]), ty, depth);
        self.clause(r#"[[@Option::@Some, "x"], "y"]"#, &[a, b.clone()], ty, depth);
        self.clause(r#"["o", "y"]"#, &[option, b], ty, depth);
        name
    }
}
