//! Constants and the tensors they are made of.

use fusion_dialects::{load_context, read_tensor, write_tensor};
use fusion_operators::Tensor;

fn weight() -> Tensor {
    let elements: Vec<f32> = (0..1024).map(|i| i as f32).collect();
    Tensor::from_slice(&[32, 32], &elements).unwrap()
}

#[test]
fn large_constants_share_their_elements() {
    let context = load_context();
    let tensor = weight();
    let place = tensor.bytes().as_ptr();
    let constant = write_tensor(&context, &tensor, "w");
    drop(tensor);
    let read = read_tensor(constant).unwrap();
    assert_eq!(read.bytes().as_ptr(), place);
    drop(context);
    assert_eq!(read, weight());
}

#[test]
fn what_is_written_to_is_a_copy() {
    let context = load_context();
    let constant = write_tensor(&context, &weight(), "w");
    let mut read = read_tensor(constant).unwrap();
    read.bytes_mut().fill(0);
    assert_eq!(read_tensor(constant).unwrap(), weight());
}

#[test]
fn the_same_elements_may_have_two_shapes() {
    let context = load_context();
    let rows = weight();
    let flat = rows.clone().reshaped(&[1024]).unwrap();
    let constants = [write_tensor(&context, &rows, "rows"), write_tensor(&context, &flat, "flat")];
    assert_eq!(read_tensor(constants[0]).unwrap(), rows);
    assert_eq!(read_tensor(constants[1]).unwrap(), flat);
}
