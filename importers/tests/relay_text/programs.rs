//! Random programs: well-typed, with every form of the language.

use fusion_operators::random::Random;

/// Types of what is generated.
#[derive(Clone, PartialEq, Debug)]
enum Ty {
    Float,
    Int,
    Bool,
    Matrix,
    Pair(Box<Ty>, Box<Ty>),
    List(Box<Ty>),
    Function(Box<Ty>, Box<Ty>),
}

impl Ty {
    fn text(&self) -> String {
        match self {
            Ty::Float => "float32".into(),
            Ty::Int => "int32".into(),
            Ty::Bool => "bool".into(),
            Ty::Matrix => "Tensor[(2, 3), float32]".into(),
            Ty::Pair(a, b) => format!("({}, {})", a.text(), b.text()),
            Ty::List(a) => format!("List[{}]", a.text()),
            Ty::Function(a, b) => format!("fn ({}) -> {}", a.text(), b.text()),
        }
    }
}

/// Writes programs.
pub struct Generator {
    random: Random,
    variables: Vec<(String, Ty)>,
    next: usize,
    /// Whether types of bindings, parameters and results are written.
    annotate: bool,
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(1));
        let annotate = random.next_u64().is_multiple_of(2);
        Generator { random, variables: Vec::new(), next: 0, annotate }
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.random.next_u64() % bound as u64) as usize
    }

    /// Some names come again, so that they hide each other.
    fn name(&mut self) -> String {
        let fresh = self.fresh();
        if self.below(4) == 0 { "%x".into() } else { fresh }
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%n{}", self.next)
    }

    fn ty(&mut self, depth: usize) -> Ty {
        match self.below(if depth == 0 { 4 } else { 7 }) {
            0 => Ty::Float,
            1 => Ty::Int,
            2 => Ty::Bool,
            3 => Ty::Matrix,
            4 => Ty::Pair(Box::new(self.ty(depth - 1)), Box::new(self.ty(depth - 1))),
            5 => Ty::List(Box::new(self.ty(depth - 1))),
            _ => Ty::Function(Box::new(self.ty(depth - 1)), Box::new(self.ty(depth - 1))),
        }
    }

    pub fn program(&mut self) -> String {
        let mut text = String::from("type List[A] { Nil, Cons(A, List[A]), }\n");
        text.push_str("def @id[A](%a: A) -> A { %a }\n");
        text.push_str("def @count[A](%l: List[A], %n: int32) { match (%l) { Cons(_, %r) => @count(%r, %n + 1), Nil => %n } }\n");
        let result = self.ty(2);
        let parameter = self.ty(1);
        self.variables = vec![("%p".into(), parameter.clone())];
        let body = self.block(&result, 4);
        let arrow = if self.annotate { format!(" -> {}", result.text()) } else { String::new() };
        text.push_str(&format!("def @main(%p: {}){arrow} {{\n{body}\n}}\n", parameter.text()));
        text
    }

    /// Bindings, then a value of the type.
    fn block(&mut self, ty: &Ty, depth: usize) -> String {
        let before = self.variables.len();
        let mut text = String::new();
        for _ in 0..self.below(4) {
            let bound = self.ty(2.min(depth));
            let value = self.expr(&bound, depth.saturating_sub(1));
            match self.below(4) {
                0 => {
                    let name = format!("%{}", self.next);
                    self.next += 1;
                    text.push_str(&format!("{name} = {value};\n"));
                    self.variables.push((name, bound));
                }
                1 => text.push_str(&format!("{value};\n")),
                _ => {
                    // A function would be the one its own body calls by that name.
                    let is_function = matches!(bound, Ty::Function(..));
                    let name = if is_function { self.fresh() } else { self.name() };
                    let written = if self.annotate && self.below(2) == 0 {
                        format!(": {}", bound.text())
                    } else {
                        String::new()
                    };
                    text.push_str(&format!("let {name}{written} = {value};\n"));
                    self.variables.push((name, bound));
                }
            }
        }
        text.push_str(&self.expr(ty, depth));
        self.variables.truncate(before);
        text
    }

    /// A variable of the type that no later one hides.
    fn variable(&mut self, ty: &Ty) -> Option<String> {
        let visible = self.variables.iter().enumerate().filter(|(i, (name, found))| {
            found == ty && self.variables[i + 1..].iter().all(|(other, _)| other != name)
        });
        let visible: Vec<String> = visible.map(|(_, (name, _))| name.clone()).collect();
        if visible.is_empty() {
            return None;
        }
        let at = self.below(visible.len());
        Some(visible[at].clone())
    }

    fn expr(&mut self, ty: &Ty, depth: usize) -> String {
        if self.below(3) == 0
            && let Some(name) = self.variable(ty)
        {
            return name;
        }
        if depth == 0 {
            return self.simple(ty);
        }
        let d = depth - 1;
        match self.below(9) {
            0 => {
                let condition = self.block(&Ty::Bool, d);
                format!("if ({condition}) {{ {} }} else {{ {} }}", self.block(ty, d), self.block(ty, d))
            }
            1 => {
                let element = self.ty(0);
                let list = self.expr(&Ty::List(Box::new(element.clone())), d);
                let (head, tail) = (self.name(), self.name());
                let (head, tail) = if head == tail { (head, "_".to_owned()) } else { (head, tail) };
                let before = self.variables.len();
                self.variables.push((head.clone(), element.clone()));
                if tail != "_" {
                    self.variables.push((tail.clone(), Ty::List(Box::new(element))));
                }
                let cons = self.block(ty, d);
                self.variables.truncate(before);
                let nil = self.block(ty, d);
                format!("match ({list}) {{ Cons({head}, {tail}) => {{ {cons} }}, Nil => {{ {nil} }} }}")
            }
            2 => format!("@id({})", self.expr(ty, d)),
            3 => {
                let other = self.ty(0);
                format!("({}, {}).1", self.expr(&other, d), self.expr(ty, d))
            }
            4 => {
                let argument = self.ty(0);
                let function = self.expr(&Ty::Function(Box::new(argument.clone()), Box::new(ty.clone())), d);
                // A call takes what stands right before it, so the function gets parentheses.
                format!("({function})({})", self.expr(&argument, d))
            }
            5 => format!("ref_read(ref({}))", self.expr(ty, d)),
            6 => format!("{{ {} }}", self.block(ty, d)),
            _ => self.formed(ty, d),
        }
    }

    /// A value made as values of its type are.
    fn formed(&mut self, ty: &Ty, d: usize) -> String {
        match ty {
            Ty::Float => match self.below(4) {
                0 => format!("add({}, {})", self.expr(ty, d), self.expr(ty, d)),
                1 => format!("({}) * ({})", self.expr(ty, d), self.expr(ty, d)),
                2 => format!("max({}, axis=[0, 1])", self.expr(&Ty::Matrix, d)),
                _ => format!("clip({}, a_min=-1f, a_max=0.25f)", self.expr(ty, d)),
            },
            Ty::Int => match self.below(3) {
                0 => format!("subtract({}, {})", self.expr(ty, d), self.expr(ty, d)),
                1 => {
                    let element = self.ty(0);
                    format!("@count({}, {})", self.expr(&Ty::List(Box::new(element)), d), self.expr(ty, d))
                }
                _ => format!("cast({}, dtype=\"int32\")", self.expr(&Ty::Float, d)),
            },
            Ty::Bool => match self.below(2) {
                0 => format!("({}) < ({})", self.expr(&Ty::Int, d), self.expr(&Ty::Int, d)),
                _ => format!("logical_not({})", self.expr(ty, d)),
            },
            Ty::Matrix => match self.below(5) {
                0 => format!("nn.softmax({}, axis=-1)", self.expr(ty, d)),
                1 => format!("transpose(transpose({}, axes=[1, 0]), axes=[1, 0])", self.expr(ty, d)),
                2 => format!("multiply({}, {})", self.expr(ty, d), self.expr(&Ty::Float, d)),
                3 => format!("tanh({})", self.expr(ty, d)),
                _ => format!(
                    "concatenate((zeros(shape=[1, 3], dtype=\"float32\"), ones(shape=[1, 3], dtype=\"float32\")), axis=0) + {}",
                    self.simple(ty)
                ),
            },
            Ty::Pair(a, b) => format!("({}, {})", self.expr(a, d), self.expr(b, d)),
            Ty::List(a) => format!("Cons({}, {})", self.expr(a, d), self.expr(ty, d)),
            Ty::Function(a, b) => self.function(a, b, d),
        }
    }

    fn function(&mut self, a: &Ty, b: &Ty, d: usize) -> String {
        let name = self.name();
        self.variables.push((name.clone(), a.clone()));
        let body = self.block(b, d);
        self.variables.pop();
        let arrow = if self.annotate { format!(" -> {}", b.text()) } else { String::new() };
        format!("fn ({name}: {}){arrow} {{ {body} }}", a.text())
    }

    fn simple(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Float => format!("{}.5f", self.below(10)),
            Ty::Int => format!("{}", self.below(10)),
            Ty::Bool => {
                if self.below(2) == 0 {
                    "True".into()
                } else {
                    "False".into()
                }
            }
            Ty::Matrix => "full(2f, shape=[2, 3], dtype=\"float32\")".into(),
            Ty::Pair(a, b) => format!("({}, {})", self.simple(a), self.simple(b)),
            Ty::List(a) => match self.below(2) {
                0 => "Nil".into(),
                _ => format!("Cons({}, Nil)", self.simple(a)),
            },
            Ty::Function(a, b) => self.function(a, b, 0),
        }
    }
}
