//! `docs/reference/schedules.md` is what the files of the primitives say at their heads, `docs/reference/rules.md` what the rules are,
//! `docs/reference/schedule-kinds.md` what the kinds of schedules are. `make docs` writes them.

use fusion_schedule::auto_schedule::{About, about, about_gpu};
use std::fs;
use std::path::Path;

const HEAD: &str = "# Schedules

<!-- Made of the heads of transforms/schedule/src/schedule/primitives/*.rs by `make docs`; edit those. -->

A schedule is a list of primitives for a kernel, applied in order. Each edits a tree of loops; the loops are made once, when all
have been applied, and every prefix of a schedule computes the same. How each is written and what it takes is in
[dialects/te.md](dialects/te.md), how one is added in [how-to/add-a-primitive.md](../how-to/add-a-primitive.md), and whole schedules are
in [examples/schedules](../../examples/schedules).

Handles name what primitives work on: `te.stage \"name\"` a stage, `te.input n` an argument of the kernel, and `te.axes` the loops a
stage has at that place of the schedule, outermost first. The handle of a loop that was split or fused away is refused where it
is used.

";

/// The section of a primitive: its name, and the head of its file.
fn section(path: &Path) -> String {
    let name = path.file_stem().and_then(|n| n.to_str()).expect("a name");
    let source = fs::read_to_string(path).expect("a file");
    let head: Vec<&str> = source
        .lines()
        .take_while(|l| l.starts_with("//!"))
        .map(|l| l.strip_prefix("//! ").unwrap_or(""))
        .collect();
    let title = format!("`{name}`: ");
    let first = head.first().and_then(|l| l.strip_prefix(&title));
    let first = first.unwrap_or_else(|| panic!("{name}.rs does not begin with {title}"));
    let mut letters = first.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    assert!(head.iter().any(|l| l.starts_with("    ")), "{name}.rs has no picture");
    format!("## te.{name}\n\n{first}\n{}\n", head[1..].join("\n"))
}

#[test]
fn every_primitive_has_its_picture() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = here.join("schedule/src/schedule/primitives");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    files.retain(|f| f.file_name().is_some_and(|n| n != "mod.rs"));
    files.sort();
    let sections: Vec<String> = files.iter().map(|f| section(f)).collect();
    let wanted = format!("{HEAD}{}", sections.join("\n"));
    let page = here.join("../docs/reference/schedules.md");
    if std::env::var_os("FUSION_WRITE_DOCS").is_some() {
        fs::write(&page, &wanted).expect("docs can be written");
    }
    let found = fs::read_to_string(&page).unwrap_or_default();
    assert!(found == wanted, "docs/reference/schedules.md is not what the primitives say; run `make docs`");
}

const KINDS_HEAD: &str = "# Kinds of schedules

<!-- Made of the kinds in transforms/schedule/src/auto_schedule/{cpu,gpu}/kinds by `make docs`; edit those. -->

How `te-schedule` computes the nests of a kernel. A kind says what it matches, which knobs it has, and how long it takes. The kinds that hold all
nests of a kernel and take least together are taken; of two that take about as long, the first of its table. `fusion explain --why KERNEL` lists
those that match a kernel, with their estimates. The attribute `te.choices` of a kernel names others. Kinds that keep the order of sums are the ones
for `--fp-math=strict`. How the driver works is in `transforms/schedule/src/auto_schedule/cover.rs`, and what a kind is in `kind.rs` beside it.

## CPUs

Estimates are cycles of a core. To these comes what the nests read from memory and write, at the rate of the level that holds it, of which a quarter of the lesser is
not hidden.
";

const GPU_KINDS_HEAD: &str = "
## GPUs

Estimates are seconds. Each launch takes its own time, and the latency of memory. Of a core's peak kinds get the share that their threads keep
busy, and of the bandwidth what their threads ask for within a latency (`transforms/schedule/src/auto_schedule/gpu/launch.rs`). A kernel of several nests is
several launches, one for each match.
";

const KINDS_COLUMNS: &str = "
| Kind | Matches | Knobs | Estimate | Keeps order |
|---|---|---|---|---|
";

#[test]
fn every_kind_of_schedule_is_listed() {
    let row = |kind: About| {
        let knobs: Vec<String> = kind.knobs.iter().map(|(name, what)| format!("*{name}*: {what}")).collect();
        let order = if kind.keeps_order { "yes" } else { "no" };
        let (name, matches, formula) = (kind.name, kind.matches, kind.formula);
        format!("| `{name}` | {matches} | {} | {formula} | {order} |\n", knobs.join("; "))
    };
    let wanted = [
        KINDS_HEAD.to_owned() + KINDS_COLUMNS,
        about().map(row).collect(),
        GPU_KINDS_HEAD.to_owned() + KINDS_COLUMNS,
        about_gpu().map(row).collect(),
    ]
    .concat();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/schedule-kinds.md");
    if std::env::var_os("FUSION_WRITE_DOCS").is_some() {
        fs::write(&page, &wanted).expect("docs can be written");
    }
    let found = fs::read_to_string(&page).unwrap_or_default();
    assert!(found == wanted, "docs/reference/schedule-kinds.md is not what the kinds say; run `make docs`");
}

const RULES_HEAD: &str = "# Rules

<!-- Made of the rules in transforms/egraph/src/rules/*.rs by `make docs`; edit those. -->

The equations that `relay-optimize` knows, by family. They are read from left to right; each is applied where its conditions hold and
where types allow it. A family is left out with `--rules-off FAMILY`. Every rule is tested on random shapes and values
(`transforms/tests/rules.rs`).

*Numerics* says how the result of the right side differs from that of the left when both are computed in floating point. *exact* is bit for bit.
*reassociates* is rounded otherwise, and each element keeps an error bound of its own. *normwise* is bounded by the largest numbers that take part,
so that a small element beside large ones may lose its digits. *Error* is the largest difference that the form adds, where an ulp is a unit in the
last place of the result, or of the sum that is named. `--fp-math=strict` uses exact rules alone, `standard` those that reassociate too and
Winograd's convolutions within a bound, `fast` all ([numerics.md](../explanation/numerics.md)). *Sums in another
order* are as accurate as the sums of the source, and differ by what their rounding does. A number is *moderate* from 2^-24 to 2^24: values between may be
so many times larger or smaller than those of the source, no more; f16 has no room for that. What this rests on is in
[egraph.md](../explanation/egraph.md#numbers). How to add a rule is in [how-to/add-a-rule.md](../how-to/add-a-rule.md), how they work in
[egraph.md](../explanation/egraph.md).
";

#[test]
fn every_rule_is_listed() {
    use fusion_egraph::rule::Rounding;
    use fusion_egraph::rules::{Family, Rules};
    let mut wanted = RULES_HEAD.to_owned();
    for (family, name) in Family::ALL {
        wanted += &format!(
            "\n## {name}\n\n| Rule | Equation | Where | Numerics | Error |\n|---|---|---|---|---|\n"
        );
        for rule in Rules::of(&[*family]).expect("rules are right").iter() {
            let escaped = |text: &str| text.replace('|', "\\|");
            let (numerics, bound) = match rule.rounding() {
                Rounding::Exact => ("exact", ""),
                Rounding::Bounded(bound) => ("reassociates", bound),
                Rounding::Normwise(bound) => ("normwise", bound),
                Rounding::Unstated => {
                    panic!("rule {} does not say how it rounds: write .exact() or .within(..)", rule.name())
                }
            };
            let (equation, conditions) = (escaped(rule.equation()), escaped(&rule.conditions().join("; ")));
            let bound = escaped(bound);
            wanted += &format!("| `{}` | {equation} | {conditions} | {numerics} | {bound} |\n", rule.name());
        }
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/rules.md");
    if std::env::var_os("FUSION_WRITE_DOCS").is_some() {
        fs::write(&page, &wanted).expect("docs can be written");
    }
    let found = fs::read_to_string(&page).unwrap_or_default();
    assert!(found == wanted, "docs/reference/rules.md is not what the rules say; run `make docs`");
}
