//! The kinds of schedules that match a kernel, with their estimates.
//!
//! ```text
//!   fused_dense_relu_0 can be scheduled by
//!     * contraction  dense     12.3 us   vector 1, row 0, vectors 4, rows 6
//!       tiling       dense     30.1 us   rows 8, vectors 2
//! ```

use fusion_schedule::auto_schedule::KindRemark;
use std::fmt::Display;

/// The kinds of a kernel, those that were chosen first and then by their estimates.
pub fn text(kernel: &impl Display, kinds: &[KindRemark]) -> String {
    let mut sorted: Vec<&KindRemark> = kinds.iter().collect();
    sorted.sort_by(|a, b| b.chosen.cmp(&a.chosen).then(a.seconds.total_cmp(&b.seconds)));
    let stages = |kind: &KindRemark| kind.stages.join(", ");
    let width = |of: &dyn Fn(&KindRemark) -> usize| kinds.iter().map(of).max().unwrap_or(0);
    let (names, named) = (width(&|k| k.kind.len()), width(&|k| stages(k).len()));
    let mut text = format!("{kernel} can be scheduled by");
    for kind in sorted {
        let mark = if kind.chosen { "*" } else { " " };
        let config: Vec<String> = kind.config.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let line = format!(
            "  {mark} {:names$}  {:named$}  {:>10.3} us  {}",
            kind.kind,
            stages(kind),
            kind.seconds * 1e6,
            config.join(", ")
        );
        text += &format!("\n{}", line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_chosen_comes_first() {
        let kind = |kind: &str, seconds, chosen, config| KindRemark {
            kind: kind.to_owned(),
            stages: vec!["dense".to_owned()],
            config,
            seconds,
            chosen,
        };
        let kinds = [
            kind("tiling", 3e-5, false, vec![]),
            kind("contraction", 1.25e-5, true, vec![("rows".to_owned(), 6)]),
        ];
        let text = text(&"#1 fused_dense_0", &kinds);
        assert_eq!(
            text,
            "#1 fused_dense_0 can be scheduled by\n  * contraction  dense      12.500 us  rows 6\n    tiling       dense      30.000 us"
        );
    }
}
