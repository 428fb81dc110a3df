//===- Rows.cpp - From an operation to the row that describes it -----------===//
#include "Bridge.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <shared_mutex>

/// The row of an operation, or null. One hash of its class's TypeID; the name is read once a class.
extern "C" const void *fusionRowOf(MlirOperation operation) {
  static std::shared_mutex mutex;
  static llvm::DenseMap<mlir::TypeID, const void *> rows;
  auto info = unwrap(operation)->getName();
  if (!info.isRegistered())
    return nullptr;
  mlir::TypeID id = info.getTypeID();
  {
    std::shared_lock<std::shared_mutex> lock(mutex);
    if (auto found = rows.find(id); found != rows.end())
      return found->second;
  }
  llvm::StringRef name = info.getStringRef();
  const void *row = fusionRustRow(name.data(), name.size());
  std::unique_lock<std::shared_mutex> lock(mutex);
  rows.try_emplace(id, row);
  return row;
}

extern "C" {
/// Copies the elements of a dense or resource constant, one byte a boolean, splats expanded. False when the
/// attribute holds no bytes or `size` is not theirs.
bool fusionElementsRead(MlirAttribute attribute, char *out, size_t size) {
  auto elements = llvm::dyn_cast<mlir::ElementsAttr>(unwrap(attribute));
  if (!elements || !elements.getElementType().isIntOrFloat())
    return false;
  unsigned bits = elements.getElementType().getIntOrFloatBitWidth();
  size_t count = elements.getNumElements(), width = bits == 1 ? 1 : bits / 8;
  if (count * width != size)
    return false;
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(elements)) {
    mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != size)
      return false;
    std::memcpy(out, blob->getData().data(), size);
    return true;
  }
  auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(elements);
  if (!dense)
    return false;
  if (bits == 1) {
    for (bool value : dense.getValues<bool>())
      *out++ = value;
    return true;
  }
  llvm::ArrayRef<char> raw = dense.getRawData();
  if (raw.size() == size)
    std::memcpy(out, raw.data(), size);
  else if (raw.size() == width)
    for (size_t i = 0; i < count; ++i)
      std::memcpy(out + i * width, raw.data(), width);
  else
    return false;
  return true;
}
/// The bytes of a resource where they lie, and how many they are; null for other constants.
const char *fusionElementsShared(MlirAttribute attribute, size_t *size) {
  auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(unwrap(attribute));
  mlir::AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return nullptr;
  *size = blob->getData().size();
  return blob->getData().data();
}
bool fusionElementsIsSplat(MlirAttribute attribute) {
  auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(unwrap(attribute));
  return dense && dense.isSplat();
}
}
