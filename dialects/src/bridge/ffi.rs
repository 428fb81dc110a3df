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

#[repr(C)]
pub struct FusionTarget {
    pub triple: MlirStringRef,
    pub cpu: MlirStringRef,
    pub features: MlirStringRef,
    pub optimization: u32,
    pub vector_width: u32,
    pub libraries: MlirStringRef,
}

#[repr(C)]
pub struct FusionSymbol {
    pub name: MlirStringRef,
    pub address: *mut c_void,
}

unsafe extern "C" {
    pub fn mlirGetDialectHandle__relay__() -> MlirDialectHandle;
    pub fn mlirGetDialectHandle__te__() -> MlirDialectHandle;
    pub fn mlirGetDialectHandle__loop__() -> MlirDialectHandle;
    pub fn fusionTracePasses(manager: MlirPassManager);
    pub fn fusionEmitWarning(location: MlirLocation, message: *const c_char);
    pub fn fusionRowOf(op: MlirOperation) -> *const c_void;
    pub fn fusionSymbolNamed(symbols: *mut c_void, near: MlirOperation, name: MlirStringRef)
    -> MlirOperation;
    pub fn fusionRelayDimNames(ty: MlirType) -> MlirAttribute;
    pub fn fusionRelayExtents(attribute: MlirAttribute) -> MlirAttribute;
    pub fn fusionRelayDim(text: MlirAttribute) -> MlirAttribute;
    pub fn fusionRelayDims(names: MlirAttribute) -> MlirAttribute;
    pub fn fusionRelaySort(ty: MlirType) -> u32;
    pub fn fusionRelayName(ty: MlirType) -> MlirStringRef;
    pub fn fusionRelayPartCount(ty: MlirType) -> isize;
    pub fn fusionRelayPart(ty: MlirType, index: isize) -> MlirType;
    pub fn fusionRelayRef(value: MlirType) -> MlirType;
    pub fn fusionRelayAdt(
        context: MlirContext,
        name: MlirStringRef,
        parts: *const MlirType,
        count: isize,
    ) -> MlirType;
    pub fn fusionRelayVar(context: MlirContext, name: MlirStringRef) -> MlirType;
    pub fn fusionRelayString(context: MlirContext) -> MlirType;
    pub fn fusionRelayHole(context: MlirContext) -> MlirType;
    pub fn fusionRelayIsConstructor(attribute: MlirAttribute) -> bool;
    pub fn fusionRelayConstructorName(attribute: MlirAttribute) -> MlirStringRef;
    pub fn fusionRelayFieldCount(attribute: MlirAttribute) -> isize;
    pub fn fusionRelayField(attribute: MlirAttribute, index: isize) -> MlirType;
    pub fn fusionRelayConstructor(
        context: MlirContext,
        name: MlirStringRef,
        fields: *const MlirType,
        count: isize,
    ) -> MlirAttribute;
    pub fn fusionTeStageType(context: MlirContext) -> MlirType;
    pub fn fusionTeAxisType(context: MlirContext) -> MlirType;
    pub fn fusionElementsRead(attribute: MlirAttribute, out: *mut c_char, size: usize) -> bool;
    pub fn fusionElementsShared(attribute: MlirAttribute, size: *mut usize) -> *const c_char;
    pub fn fusionElementsIsSplat(attribute: MlirAttribute) -> bool;
    pub fn fusionRegisterPass(pass: *const FusionPass);
    pub fn fusionRegisterPipeline(name: *const c_char, description: *const c_char, pipeline: *const c_char);
    pub fn fusionRegisterUpstreamPasses();
    pub fn fusionRegisterTranslations(registry: MlirDialectRegistry);
    pub fn fusionOptMain(argc: c_int, argv: *const *const c_char, registry: MlirDialectRegistry) -> c_int;
    pub fn fusionReportsStatistics() -> bool;
    pub fn fusionLspServerMain(
        argc: c_int,
        argv: *const *const c_char,
        registry: MlirDialectRegistry,
    ) -> c_int;
    pub fn fusionReduceMain(argc: c_int, argv: *const *const c_char, registry: MlirDialectRegistry) -> c_int;
    pub fn fusionResolve(target: *const FusionTarget, out: MlirStringCallback, user: *mut c_void);
    pub fn fusionFeatures(target: *const FusionTarget, out: MlirStringCallback, user: *mut c_void);
    pub fn fusionProcessors(triple: MlirStringRef, out: MlirStringCallback, user: *mut c_void);
    pub fn fusionEmit(
        module: MlirOperation,
        target: *const FusionTarget,
        emit: u32,
        out: MlirStringCallback,
        out_user: *mut c_void,
        error: MlirStringCallback,
        error_user: *mut c_void,
    ) -> bool;
    pub fn fusionJitCreate(
        objects: *const MlirStringRef,
        object_count: usize,
        symbols: *const FusionSymbol,
        count: usize,
        error: MlirStringCallback,
        error_user: *mut c_void,
    ) -> *mut c_void;
    pub fn fusionJitLookup(
        jit: *mut c_void,
        name: MlirStringRef,
        error: MlirStringCallback,
        error_user: *mut c_void,
    ) -> *mut c_void;
    pub fn fusionJitDestroy(jit: *mut c_void);
    pub fn fusionIsElementwise(op: MlirOperation) -> bool;
    pub fn fusionIsPure(op: MlirOperation) -> bool;
}
