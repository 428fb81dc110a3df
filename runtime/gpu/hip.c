/* The driver of AMD's GPUs. Its library has a name without a version only where ROCm is installed for developers. */

#include "driver.h"

static const struct vendor facts = {
    .who = "AMD",
    .libraries = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"},
    .variable = "FUSION_HIP_LIBRARY",
    .symbols =
        {
            [INITIALIZE] = "hipInit",
            [COUNT_DEVICES] = "hipGetDeviceCount",
            [GET_DEVICE] = "hipDeviceGet",
            [NAME_OF_DEVICE] = "hipDeviceGetName",
            [CURRENT_DEVICE] = "hipGetDevice",
            [SET_DEVICE] = "hipSetDevice",
            [ALLOCATE] = "hipMalloc",
            [FREE] = "hipFree",
            [UPLOAD] = "hipMemcpyHtoDAsync",
            [DOWNLOAD] = "hipMemcpyDtoHAsync",
            [COPY] = "hipMemcpyDtoDAsync",
            [CREATE_STREAM] = "hipStreamCreateWithFlags",
            [DESTROY_STREAM] = "hipStreamDestroy",
            [WAIT_FOR_STREAM] = "hipStreamSynchronize",
            [LOAD] = "hipModuleLoadData",
            [UNLOAD] = "hipModuleUnload",
            [FIND_FUNCTION] = "hipModuleGetFunction",
            [LAUNCH] = "hipModuleLaunchKernel",
            [ERROR_NAME] = "hipGetErrorName",
            [ERROR_TEXT] = "hipGetErrorString",
            [BEGIN_CAPTURE] = "hipStreamBeginCapture",
            [END_CAPTURE] = "hipStreamEndCapture",
            [MAKE_GRAPH] = "hipGraphInstantiateWithFlags",
            [LAUNCH_GRAPH] = "hipGraphLaunch",
            [DESTROY_GRAPH] = "hipGraphExecDestroy",
            [DESTROY_RECORDING] = "hipGraphDestroy",
            [CREATE_EVENT] = "hipEventCreateWithFlags",
            [RECORD_EVENT] = "hipEventRecord",
            [TIME_BETWEEN] = "hipEventElapsedTime",
            [DESTROY_EVENT] = "hipEventDestroy",
        },
    .gives_texts = 1,
};

const struct device_kind fusion_hip = KIND_OF_DRIVER(facts);
