//! Random host programs as text.

use std::collections::BTreeMap;
use std::fmt::Write;

/// A small generator of numbers (xorshift), so that failures repeat.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Shapes and their numbers of elements; the first two are views of each other.
const SHAPES: [(&str, usize); 5] =
    [("16xf32", 16), ("4x4xf32", 16), ("64xf32", 64), ("100xf32", 100), ("2x50xf32", 100)];

type Named = (String, usize);

struct Generator<'r> {
    random: &'r mut Random,
    kernels: BTreeMap<String, String>,
    text: String,
    next: usize,
}

/// A program with two inputs.
pub fn program(random: &mut Random) -> String {
    let mut g = Generator { random, kernels: BTreeMap::new(), text: String::new(), next: 0 };
    let mut scope: Vec<Named> = vec![("%x".into(), 0), ("%y".into(), 3)];
    let length = 3 + g.random.below(12);
    g.block(&mut scope, length, 0);
    let returned: Vec<Named> = (0..1 + g.random.below(4)).map(|_| g.pick(&scope)).collect();
    let names: Vec<&str> = returned.iter().map(|r| r.0.as_str()).collect();
    let types = types(returned.iter().map(|r| r.1));
    let mut module = String::new();
    for (name, parameters) in &g.kernels {
        let scratch = name.rsplit('_').next().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
        let mut attr =
            if scratch > 0 { format!(", loop.workspace = {scratch} : i64") } else { String::new() };
        if let Some(updated) = name.strip_prefix('u').and_then(|rest| rest.split('_').next()) {
            let _ = write!(attr, ", loop.updates = {updated} : i64");
        }
        let _ = writeln!(module, "func.func private @{name}({parameters}) attributes {{loop.kernel{attr}}}");
    }
    let _ = write!(
        module,
        "func.func @main(%x: tensor<16xf32>, %y: tensor<100xf32>) -> ({types}) {{\n{}return {} : {types}\n}}\n",
        g.text,
        names.join(", ")
    );
    module
}

fn types(shapes: impl Iterator<Item = usize>) -> String {
    shapes.map(|s| format!("tensor<{}>", SHAPES[s].0)).collect::<Vec<_>>().join(", ")
}

impl Generator<'_> {
    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn pick(&mut self, scope: &[Named]) -> Named {
        // Late values are wanted more often, early ones now and then.
        let late = scope.len().min(4);
        let i = if self.random.below(3) == 0 {
            self.random.below(scope.len())
        } else {
            scope.len() - 1 - self.random.below(late)
        };
        scope[i].clone()
    }

    /// A value of that shape: one in scope, or a new one.
    fn pick_shape(&mut self, scope: &mut Vec<Named>, shape: usize) -> String {
        let fitting: Vec<String> = scope.iter().filter(|v| v.1 == shape).map(|v| v.0.clone()).collect();
        if fitting.is_empty() || self.random.below(2) == 0 {
            self.call(scope, &[shape]);
            return scope[scope.len() - 1].0.clone();
        }
        fitting[self.random.below(fitting.len())].clone()
    }

    fn block(&mut self, scope: &mut Vec<Named>, length: usize, depth: usize) {
        for _ in 0..length {
            match self.random.below(if depth < 3 { 12 } else { 9 }) {
                0 => self.constant(scope),
                1 | 2 => self.view(scope),
                3..=8 => {
                    let results: Vec<usize> =
                        (0..1 + self.random.below(2)).map(|_| self.random.below(5)).collect();
                    self.call(scope, &results);
                }
                9 | 10 => self.branch(scope, depth),
                _ => self.repeat(scope, depth),
            }
        }
    }

    fn constant(&mut self, scope: &mut Vec<Named>) {
        let (name, value) = (self.fresh(), self.random.below(3));
        let _ =
            writeln!(self.text, "{name} = te.constant dense<{value}.0> : tensor<64xf32> : tensor<64xf32>");
        scope.push((name, 2));
    }

    fn view(&mut self, scope: &mut Vec<Named>) {
        let (source, shape) = self.pick(scope);
        let other = [1, 0, 2, 4, 3][shape];
        let name = self.fresh();
        let (from, to) = (SHAPES[shape].0, SHAPES[other].0);
        let _ = writeln!(self.text, "{name} = te.view {source} : tensor<{from}> -> tensor<{to}>");
        scope.push((name, other));
    }

    fn call(&mut self, scope: &mut Vec<Named>, results: &[usize]) {
        let inputs: Vec<Named> = (0..1 + self.random.below(3)).map(|_| self.pick(scope)).collect();
        let names: Vec<String> = results.iter().map(|_| self.fresh()).collect();
        let scratch = [0, 0, 64, 640][self.random.below(4)];
        let shapes: Vec<usize> = inputs.iter().map(|i| i.1).chain(results.iter().copied()).collect();
        // A kernel with a result like one of its operands may update that.
        let updated = inputs.iter().position(|i| results == [i.1]).filter(|_| self.random.below(3) > 0);
        let kernel = self.kernel(updated, inputs.len(), results.len(), &shapes, scratch, "");
        let operands: Vec<&str> = inputs.iter().map(|i| i.0.as_str()).collect();
        let _ = writeln!(
            self.text,
            "{} = te.call @{kernel}({}) : ({}) -> ({})",
            names.join(", "),
            operands.join(", "),
            types(inputs.iter().map(|i| i.1)),
            types(results.iter().copied())
        );
        scope.extend(names.into_iter().zip(results.iter().copied()));
    }

    fn kernel(
        &mut self,
        updated: Option<usize>,
        inputs: usize,
        outputs: usize,
        shapes: &[usize],
        scratch: usize,
        extra: &str,
    ) -> String {
        let sizes: Vec<usize> = shapes.iter().map(|s| SHAPES[*s].1).collect();
        let sizes_text: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let kind = updated.map_or_else(|| "k".to_owned(), |operand| format!("u{operand}"));
        let name = format!("{kind}_{inputs}_{outputs}_{}_{scratch}", sizes_text.join("x"));
        let mut parameters: Vec<String> = sizes.iter().map(|n| format!("memref<{n}xf32>")).collect();
        parameters.extend((!extra.is_empty()).then(|| extra.to_owned()));
        parameters.extend((scratch > 0).then(|| format!("memref<{scratch}xi8>")));
        self.kernels.insert(name.clone(), parameters.join(", "));
        name
    }

    fn condition(&mut self, scope: &[Named]) -> String {
        let (source, shape) = self.pick(scope);
        let (test, bit) = (self.fresh(), self.fresh());
        // Its only output is a boolean, which no other kernel has.
        let kernel = self.kernel(None, 1, 1, &[shape], 0, "memref<1xi8>");
        let ty = SHAPES[shape].0;
        let _ = writeln!(self.text, "{test} = te.call @{kernel}({source}) : (tensor<{ty}>) -> tensor<i1>");
        let _ = writeln!(self.text, "{bit} = tensor.extract {test}[] : tensor<i1>");
        bit
    }

    fn branch(&mut self, scope: &mut Vec<Named>, depth: usize) {
        let bit = self.condition(scope);
        let shapes: Vec<usize> = (0..1 + self.random.below(3)).map(|_| self.random.below(5)).collect();
        let name = self.fresh();
        let _ = writeln!(
            self.text,
            "{name}:{} = scf.if {bit} -> ({}) {{",
            shapes.len(),
            types(shapes.iter().copied())
        );
        for close in ["} else {", "}"] {
            let mut inner = scope.clone();
            let length = self.random.below(4);
            self.block(&mut inner, length, depth + 1);
            let yielded: Vec<String> = shapes.iter().map(|s| self.pick_shape(&mut inner, *s)).collect();
            let _ = writeln!(
                self.text,
                "scf.yield {} : {}\n{close}",
                yielded.join(", "),
                types(shapes.iter().copied())
            );
        }
        scope.extend(shapes.iter().enumerate().map(|(i, s)| (format!("{name}#{i}"), *s)));
    }

    fn repeat(&mut self, scope: &mut Vec<Named>, depth: usize) {
        let same = self.random.below(5);
        let shape = |r: &mut Random| if r.below(3) > 0 { same } else { r.below(5) };
        let state: Vec<usize> = (0..1 + self.random.below(4)).map(|_| shape(self.random)).collect();
        let passed: Vec<usize> = (0..1 + self.random.below(3)).map(|_| shape(self.random)).collect();
        let inits: Vec<String> = state.iter().map(|s| self.pick_shape(scope, *s)).collect();
        let (name, carried): (String, Vec<String>) =
            (self.fresh(), state.iter().map(|_| self.fresh()).collect());
        let pairs: Vec<String> = carried.iter().zip(&inits).map(|(a, i)| format!("{a} = {i}")).collect();
        let (from, to) = (types(state.iter().copied()), types(passed.iter().copied()));
        let _ = writeln!(
            self.text,
            "{name}:{} = scf.while ({}) : ({from}) -> ({to}) {{",
            passed.len(),
            pairs.join(", ")
        );
        let mut inner = scope.clone();
        inner.extend(carried.into_iter().zip(state.iter().copied()));
        let length = self.random.below(3);
        self.block(&mut inner, length, depth + 1);
        let handed: Vec<String> = passed.iter().map(|s| self.pick_shape(&mut inner, *s)).collect();
        let bit = self.condition(&inner);
        let _ = writeln!(self.text, "scf.condition({bit}) {} : {to}\n}} do {{", handed.join(", "));
        let given: Vec<String> = passed.iter().map(|_| self.fresh()).collect();
        let list: Vec<String> =
            given.iter().zip(&passed).map(|(a, s)| format!("{a}: tensor<{}>", SHAPES[*s].0)).collect();
        let _ = writeln!(self.text, "^bb0({}):", list.join(", "));
        let mut inner = scope.clone();
        inner.extend(given.into_iter().zip(passed.iter().copied()));
        let length = self.random.below(3);
        self.block(&mut inner, length, depth + 1);
        let next: Vec<String> = state.iter().map(|s| self.pick_shape(&mut inner, *s)).collect();
        let _ = writeln!(self.text, "scf.yield {} : {from}\n}}", next.join(", "));
        scope.extend(passed.iter().enumerate().map(|(i, s)| (format!("{name}#{i}"), *s)));
    }
}
