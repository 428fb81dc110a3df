//===- Bridge.h - What the shim asks of Rust -------------------------------===//
// The C++ classes that ODS generates are registered here and decide nothing: verifiers, folders and
// passes forward to Rust (dialects/src/bridge).
#ifndef FUSION_BRIDGE_H
#define FUSION_BRIDGE_H

#include "mlir-c/IR.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

extern "C" {
/// The row that describes the operation of that full name, or null. Rows live for ever.
const void *fusionRustRow(const char *name, size_t length);
/// Verifies with a row; false after it has emitted a diagnostic.
/// `symbols`, null for operations that name none, is what `fusionSymbolNamed` asks.
bool fusionRustVerify(const void *row, MlirOperation op, void *symbols);
/// Folds with a row. `operands` has a null attribute where an operand is no constant. Gives 0 (not folded),
/// 1 (changed in place) or 2 (results are in `values`, or in `attributes` where the value is null).
int fusionRustFold(const void *row, MlirOperation op, const MlirAttribute *operands, size_t count,
                   MlirValue *values, MlirAttribute *attributes);
}

namespace fusion {
/// The row of an operation's class, found by name once.
template <typename ConcreteOp> const void *rowOf() {
  static const void *row = [] {
    llvm::StringRef name = ConcreteOp::getOperationName();
    return fusionRustRow(name.data(), name.size());
  }();
  return row;
}

/// Operations whose verifier is in Rust.
template <typename ConcreteOp>
class VerifiedInRust : public mlir::OpTrait::TraitBase<ConcreteOp, VerifiedInRust> {
public:
  static llvm::LogicalResult verifyRegionTrait(mlir::Operation *op) {
    return llvm::success(fusionRustVerify(rowOf<ConcreteOp>(), wrap(op), nullptr));
  }
};

llvm::LogicalResult foldInRust(const void *row, mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands,
                               llvm::SmallVectorImpl<mlir::OpFoldResult> &results);

namespace relay {
/// Operators: verified by their type relation, folded by their reference semantics.
template <typename ConcreteOp>
class FromFacts : public mlir::OpTrait::TraitBase<ConcreteOp, FromFacts> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return llvm::success(fusionRustVerify(rowOf<ConcreteOp>(), wrap(op), nullptr));
  }
  static llvm::LogicalResult foldTrait(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands,
                                       llvm::SmallVectorImpl<mlir::OpFoldResult> &results) {
    return foldInRust(rowOf<ConcreteOp>(), op, operands, results);
  }
};
} // namespace relay
} // namespace fusion

#endif
