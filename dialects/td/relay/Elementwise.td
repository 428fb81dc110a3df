//===- Elementwise.td - y[i] = f(x0[i'], x1[i''], ...) ---------------------===//
// i' is i with broadcast axes at 0 (NumPy broadcasting).

def Relay_AbsOp : Relay_Unary<"abs", "Absolute value">;
def Relay_NegOp : Relay_Unary<"neg", "Negation">;
def Relay_SignOp : Relay_Unary<"sign", "-1, 0 or 1">;
def Relay_ReluOp : Relay_Unary<"relu", "max(x, 0)">;
def Relay_ExpOp : Relay_Unary<"exp", "Exponential">;
def Relay_LogOp : Relay_Unary<"log", "Natural logarithm">;
def Relay_SqrtOp : Relay_Unary<"sqrt", "Square root">;
def Relay_RsqrtOp : Relay_Unary<"rsqrt", "1 / sqrt(x)">;
def Relay_ReciprocalOp : Relay_Unary<"reciprocal", "1 / x">;
def Relay_SinOp : Relay_Unary<"sin", "Sine">;
def Relay_CosOp : Relay_Unary<"cos", "Cosine">;
def Relay_Log1pOp : Relay_Unary<"log1p", "Natural logarithm of 1 + x">;
def Relay_TanOp : Relay_Unary<"tan", "Tangent">;
def Relay_AsinOp : Relay_Unary<"asin", "Inverse sine">;
def Relay_AcosOp : Relay_Unary<"acos", "Inverse cosine">;
def Relay_AtanOp : Relay_Unary<"atan", "Inverse tangent">;
def Relay_SinhOp : Relay_Unary<"sinh", "Hyperbolic sine">;
def Relay_CoshOp : Relay_Unary<"cosh", "Hyperbolic cosine">;
def Relay_TanhOp : Relay_Unary<"tanh", "Hyperbolic tangent">;
def Relay_AsinhOp : Relay_Unary<"asinh", "Inverse hyperbolic sine">;
def Relay_AcoshOp : Relay_Unary<"acosh", "Inverse hyperbolic cosine">;
def Relay_AtanhOp : Relay_Unary<"atanh", "Inverse hyperbolic tangent">;
def Relay_ErfOp : Relay_Unary<"erf", "Error function">;
def Relay_SigmoidOp : Relay_Unary<"sigmoid", "1 / (1 + exp(-x))">;
def Relay_FloorOp : Relay_Unary<"floor", "Greatest integer not above">;
def Relay_CeilOp : Relay_Unary<"ceil", "Least integer not below">;
def Relay_RoundOp : Relay_Unary<"round", "Nearest integer, halves to even">;
def Relay_IsNanOp : Relay_Unary<"is_nan", "True where x is not a number">;
def Relay_IsInfOp : Relay_Unary<"is_inf", "True where x is infinite">;
def Relay_LogicalNotOp : Relay_Unary<"logical_not", "Boolean negation">;
def Relay_BitwiseNotOp : Relay_Unary<"bitwise_not", "Complement of each bit">;

def Relay_AddOp : Relay_Binary<"add", "Sum", [Commutative]>;
def Relay_SubOp : Relay_Binary<"sub", "Difference">;
def Relay_MulOp : Relay_Binary<"mul", "Product", [Commutative]>;
def Relay_DivOp : Relay_Binary<"div", "Quotient; of integers, truncated toward zero">;
def Relay_ModOp : Relay_Binary<"mod", "Remainder with the sign of the divisor">;
def Relay_FmodOp : Relay_Binary<"fmod", "Remainder with the sign of the dividend">;
def Relay_PowOp : Relay_Binary<"pow", "Power">;
def Relay_MinimumOp : Relay_Binary<"minimum", "The smaller; NaN when either is", [Commutative]>;
def Relay_MaximumOp : Relay_Binary<"maximum", "The greater; NaN when either is", [Commutative]>;
def Relay_EqualOp : Relay_Binary<"equal", "x0 == x1", [Commutative]>;
def Relay_NotEqualOp : Relay_Binary<"not_equal", "x0 != x1", [Commutative]>;
def Relay_LessOp : Relay_Binary<"less", "x0 < x1">;
def Relay_LessEqualOp : Relay_Binary<"less_equal", "x0 <= x1">;
def Relay_GreaterOp : Relay_Binary<"greater", "x0 > x1">;
def Relay_GreaterEqualOp : Relay_Binary<"greater_equal", "x0 >= x1">;
def Relay_LogicalAndOp : Relay_Binary<"logical_and", "Both", [Commutative]>;
def Relay_LogicalOrOp : Relay_Binary<"logical_or", "Either", [Commutative]>;
def Relay_LogicalXorOp : Relay_Binary<"logical_xor", "One, not both", [Commutative]>;
def Relay_BitwiseAndOp : Relay_Binary<"bitwise_and", "And of each bit", [Commutative]>;
def Relay_BitwiseOrOp : Relay_Binary<"bitwise_or", "Or of each bit", [Commutative]>;
def Relay_BitwiseXorOp : Relay_Binary<"bitwise_xor", "Exclusive or of each bit", [Commutative]>;
def Relay_ShiftLeftOp : Relay_Binary<"shift_left", "x0 * 2^x1; 0 when x1 is the width or more">;
def Relay_ShiftRightOp : Relay_Binary<"shift_right", "Logical for unsigned, arithmetic for signed integers">;

def Relay_WhereOp : Relay_Plain<"where", "condition ? x : y, with broadcasting",
    (ins Relay_Tensor:$condition, Relay_Tensor:$x, Relay_Tensor:$y)>;
def Relay_CastOp : Relay_Plain<"cast", "Conversion to another element type",
    (ins Relay_Tensor:$operand, TypeAttr:$dtype)>;
def Relay_ClipOp : Relay_Plain<"clip", "min(max(x, min), max); an absent bound is none",
    (ins Relay_Tensor:$operand, Relay_Float:$min, Relay_Float:$max)>;
