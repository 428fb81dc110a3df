//! Compiles a model and runs it on ones: `example-library MODEL`.

use fusion::{Compiler, Error, Tensor};

fn main() -> Result<(), Error> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "../offline/mlp.mlir".to_owned());
    let module = Compiler::new().compile(&model)?;
    let ones = |input: &fusion::ArgumentDescription| {
        let elements = input.shape.iter().product();
        Tensor::from_f64s(input.dtype, &input.shape, &vec![1.0; elements])
    };
    let inputs: Vec<Tensor> = module.inputs().iter().map(ones).collect::<Result<_, _>>()?;
    for (output, tensor) in module.outputs().iter().zip(module.run(&inputs)?) {
        println!("{}: {tensor:?}", output.name);
    }
    Ok(())
}
