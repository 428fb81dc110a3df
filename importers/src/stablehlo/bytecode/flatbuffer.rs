//! Files of `jax.export`: a FlatBuffers table, of which one field is a portable artifact.
//!
//! ```text
//!   u32 offset of the table -> i32 offset back to its vtable, fields...
//!   vtable: u16 size, u16 size of the table, u16 offset of each field
//! ```

use super::MAGIC;

/// The field `mlir_module_serialized` of the table `Exported`, as an offset in its vtable.
const MODULE_FIELD: usize = 30;

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(two.try_into().ok()?).into())
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_le_bytes(four.try_into().ok()?)).ok()
}

/// The artifact in such a file, where it is one.
pub fn module_of(bytes: &[u8]) -> Option<&[u8]> {
    let table = u32_at(bytes, 0)?;
    let back = u32_at(bytes, table)? as u32 as i32;
    let vtable = usize::try_from(i64::try_from(table).ok()? - i64::from(back)).ok()?;
    if u16_at(bytes, vtable)? <= MODULE_FIELD {
        return None;
    }
    let field = match u16_at(bytes, vtable + MODULE_FIELD)? {
        0 => return None,
        offset => table.checked_add(offset)?,
    };
    let vector = field.checked_add(u32_at(bytes, field)?)?;
    let length = u32_at(bytes, vector)?;
    let begin = vector.checked_add(4)?;
    let module = bytes.get(begin..begin.checked_add(length)?)?;
    module.starts_with(MAGIC).then_some(module)
}
