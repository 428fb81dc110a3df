//! What programs look like.

mod common;

#[test]
fn a_program_reads_line_by_line() {
    let expected = "\
data @List {Nil, Cons/2}
constant #0 = tensor<i32> 0
kernel @add(tensor<i32>, tensor<i32>) -> (tensor<i32>) 0 bytes of workspace
entry @main(l: List[tensor<i32>]) -> tensor<i32>

function @main(%0) 6 registers
   0: %1 = constant #0                         // list.relay:1:3
   1: %2 = copy %1                             // list.relay:2:3
   2: %3 = kernel @add(%1, %2)                 // list.relay:3:3
   3: %4 = operator concat(%1, %2) {axis = 0, pads = [1, 2], to = bf16} // list.relay:4:3
   4: check-types %1: tensor<i32>, %4: tensor<nx?xf32> // list.relay:5:3
   5: %5 = move %4!                            // list.relay:6:3
   6: %4 = tuple(%5!, %3!)                     // list.relay:7:3
   7: %3 = field %4.1                          // list.relay:8:3
   8: %4 = construct @List::Cons(%4!, %3!)     // list.relay:9:3
   9: %4 = new-cell %4!                        // list.relay:10:3
  10: %3 = read-cell %4                        // list.relay:11:3
  11: write-cell %4, %3!                       // list.relay:12:3
  12: %3 = closure @pair(%4!)                  // list.relay:13:3
  13: %3 = apply %3!(%1!)                      // list.relay:14:3
  14: %3 = call @pair(%2!, %3!)                // list.relay:15:3
  15: jump-unless %0, 17                       // list.relay:16:3
  16: switch %3 [17, 21]                       // list.relay:17:3
  17: drop %3!                                 // list.relay:18:3
  18: %1 = closure @main()                     // list.relay:19:3
  19: jump 20                                  // list.relay:20:3
  20: tail-apply %1!(%0!)                      // list.relay:21:3
  21: tail-call @pair(%0!, %3!)                // list.relay:22:3

function @pair(%0, %1) 2 registers
   0: %0 = tuple(%0!, %1!)
   1: jump-unless %0, 3
   2: return %0!
   3: fail \"no case \\\"fits\\\"\"
";
    let program = common::everything();
    assert_eq!(program.check(), Ok(()));
    assert_eq!(program.to_string(), expected);
}
