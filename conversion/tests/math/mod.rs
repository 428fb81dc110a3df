//! Functions that become straight code, on all the numbers that matter, in vectors and one after another.

mod double;
mod fast;
mod single;
mod unfused;

use fusion_conversion::runner::Runner;
use fusion_dialects::{
    Emit, Jit, Module, Target, emit, load_context, parse_module, register_upstream_passes,
};

/// Numbers that a kernel computes.
pub const COUNT: usize = 1 << 16;

/// What is computed of each number, or of several.
struct Kernel<'a> {
    /// The type of the numbers, as MLIR writes it.
    ty: &'a str,
    /// Numbers of a vector; `kind` tells whether they are one.
    lanes: usize,
    kind: &'a str,
    operation: &'a str,
    operands: usize,
    attributes: &'a str,
}

impl Kernel<'_> {
    /// `@f`, of a buffer for each operand and one for the results, lowered as `lower` does.
    fn compile(&self, lower: impl FnOnce(&mut Runner, &Module) -> Result<(), Vec<String>>) -> Jit {
        register_upstream_passes();
        fusion_transforms::register();
        fusion_conversion::register();
        let context = load_context();
        let module =
            parse_module(&context, &self.source()).unwrap_or_else(|why| panic!("{}", why.join("\n")));
        lower(&mut Runner::default(), &module).unwrap_or_else(|why| panic!("{}", why.join("\n")));
        let object = emit(&module, &Target::default(), Emit::Object).unwrap_or_else(|why| panic!("{why}"));
        Jit::new(&[object], &[]).unwrap_or_else(|why| panic!("{why}"))
    }

    fn source(&self) -> String {
        let Kernel { ty, lanes, kind, operation, attributes, .. } = self;
        let (buffers, loads): (Vec<_>, Vec<_>) = (0..self.operands)
            .map(|i| {
                let load = format!("%a{i} = loop.load %x{i}[%i] : memref<{COUNT}x{ty}> -> {ty}");
                (format!("%x{i}: memref<{COUNT}x{ty}>"), load)
            })
            .unzip();
        let names: Vec<_> = (0..self.operands).map(|i| format!("%a{i}")).collect();
        format!(
            "func.func @f({}, %y: memref<{COUNT}x{ty}>) {{
               loop.for {} serial {{
               ^bb0(%o: index):
                 loop.for {lanes} {kind} {{
                 ^bb0(%l: index):
                   %i = affine.apply affine_map<(d0, d1) -> (d0 * {lanes} + d1)>(%o, %l)
                   {}
                   %r = {operation} {} {attributes} : {ty}
                   loop.store %r, %y[%i] : {ty}, memref<{COUNT}x{ty}>
                   loop.yield
                 }}
                 loop.yield
               }}
               return
             }}",
            buffers.join(", "),
            COUNT / lanes,
            loads.join("\n"),
            names.join(", "),
        )
    }
}

/// Runs a kernel on columns of `COUNT` numbers each.
fn run<N: bytemuck::Pod>(jit: &Jit, columns: &[Vec<N>]) -> Vec<N> {
    let mut buffers: Vec<Vec<N>> = columns.to_vec();
    buffers.push(vec![N::zeroed(); COUNT]);
    let mut views: Vec<&mut [u8]> = buffers.iter_mut().map(|b| bytemuck::cast_slice_mut(b)).collect();
    jit.call("f", &mut views).unwrap();
    buffers.pop().unwrap()
}

/// Every pair of these numbers, with either sign.
fn signed_pairs<N: Copy + std::ops::Neg<Output = N>>(special: &[N]) -> impl Iterator<Item = (N, N)> {
    let signed: Vec<N> = special.iter().flat_map(|&v| [v, -v]).collect();
    let others = signed.clone();
    signed.into_iter().flat_map(move |a| others.clone().into_iter().map(move |b| (a, b)))
}
