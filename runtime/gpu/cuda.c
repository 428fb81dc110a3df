/* The driver of NVIDIA's GPUs. */

#include "driver.h"

static const struct vendor facts = {
    .who = "NVIDIA",
    .libraries = {"libcuda.so.1"},
    .variable = "FUSION_CUDA_LIBRARY",
    .symbols =
        {
            [INITIALIZE] = "cuInit",
            [COUNT_DEVICES] = "cuDeviceGetCount",
            [GET_DEVICE] = "cuDeviceGet",
            [NAME_OF_DEVICE] = "cuDeviceGetName",
            [RETAIN_CONTEXT] = "cuDevicePrimaryCtxRetain",
            [RELEASE_CONTEXT] = "cuDevicePrimaryCtxRelease_v2",
            [PUSH_CONTEXT] = "cuCtxPushCurrent_v2",
            [POP_CONTEXT] = "cuCtxPopCurrent_v2",
            [ATTRIBUTE] = "cuDeviceGetAttribute",
            [ALLOCATE] = "cuMemAlloc_v2",
            [FREE] = "cuMemFree_v2",
            [UPLOAD] = "cuMemcpyHtoDAsync_v2",
            [DOWNLOAD] = "cuMemcpyDtoHAsync_v2",
            [COPY] = "cuMemcpyDtoDAsync_v2",
            [CREATE_STREAM] = "cuStreamCreate",
            [DESTROY_STREAM] = "cuStreamDestroy_v2",
            [WAIT_FOR_STREAM] = "cuStreamSynchronize",
            [LOAD_WITH_LOG] = "cuModuleLoadDataEx",
            [UNLOAD] = "cuModuleUnload",
            [FIND_FUNCTION] = "cuModuleGetFunction",
            [SET_FUNCTION] = "cuFuncSetAttribute",
            [LAUNCH] = "cuLaunchKernel",
            [ERROR_NAME] = "cuGetErrorName",
            [ERROR_TEXT] = "cuGetErrorString",
            [BEGIN_CAPTURE] = "cuStreamBeginCapture_v2",
            [END_CAPTURE] = "cuStreamEndCapture",
            [MAKE_GRAPH] = "cuGraphInstantiateWithFlags",
            [LAUNCH_GRAPH] = "cuGraphLaunch",
            [DESTROY_GRAPH] = "cuGraphExecDestroy",
            [DESTROY_RECORDING] = "cuGraphDestroy",
            [CREATE_EVENT] = "cuEventCreate",
            [RECORD_EVENT] = "cuEventRecord",
            [TIME_BETWEEN] = "cuEventElapsedTime",
            [DESTROY_EVENT] = "cuEventDestroy_v2",
            [ENCODE_MAP] = "cuTensorMapEncodeTiled",
        },
    .major = 75,
    .minor = 76,
    .most_dynamic = 8,
};

const struct device_kind fusion_cuda = KIND_OF_DRIVER(facts);
