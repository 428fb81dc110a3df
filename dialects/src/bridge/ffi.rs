//! The shim's C functions.

use mlir_sys::*;
use std::ffi::{c_char, c_int, c_void};

#[repr(C)]
pub struct FusionOption {
    pub name: *const c_char,
    pub description: *const c_char,
    pub initial: *const c_char,
    pub kind: u32,
}

#[repr(C)]
pub struct FusionStatistic {
    pub name: *const c_char,
    pub description: *const c_char,
}

#[repr(C)]
pub struct FusionPass {
    pub rust: *const c_void,
    pub name: *const c_char,
    pub description: *const c_char,
    pub anchor: *const c_char,
    pub options: *const FusionOption,
    pub option_count: usize,
    pub statistics: *const FusionStatistic,
    pub statistic_count: usize,
}

unsafe extern "C" {
    pub fn mlirGetDialectHandle__relay__() -> MlirDialectHandle;
    pub fn mlirGetDialectHandle__te__() -> MlirDialectHandle;
    pub fn mlirGetDialectHandle__loop__() -> MlirDialectHandle;
    pub fn fusionRowOf(op: MlirOperation) -> *const c_void;
    pub fn fusionRelayDimNames(ty: MlirType) -> MlirAttribute;
    pub fn fusionRelayDims(names: MlirAttribute) -> MlirAttribute;
    pub fn fusionTeStageType(context: MlirContext) -> MlirType;
    pub fn fusionTeAxisType(context: MlirContext) -> MlirType;
    pub fn fusionElementsRead(attribute: MlirAttribute, out: *mut c_char, size: usize) -> bool;
    pub fn fusionElementsIsSplat(attribute: MlirAttribute) -> bool;
    pub fn fusionRegisterPass(pass: *const FusionPass);
    pub fn fusionRegisterPipeline(name: *const c_char, description: *const c_char, pipeline: *const c_char);
    pub fn fusionRegisterUpstreamPasses();
    pub fn fusionRegisterTranslations(registry: MlirDialectRegistry);
    pub fn fusionOptMain(argc: c_int, argv: *const *const c_char, registry: MlirDialectRegistry) -> c_int;
    pub fn fusionLspServerMain(
        argc: c_int,
        argv: *const *const c_char,
        registry: MlirDialectRegistry,
    ) -> c_int;
    pub fn fusionReduceMain(argc: c_int, argv: *const *const c_char, registry: MlirDialectRegistry) -> c_int;
}
