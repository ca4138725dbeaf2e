// How what is stored in F16 is widened: by the device's own conversion, an instruction where bits take ten, or by bits.
// Vulkan lets a device take subnormal numbers for 0, so a device's conversion is on trial first, in a copy of every
// number.
#pragma once

#include "backend/backend.h"
#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/options.h"
#include "backends/vulkan/stream/pipelines.h"
#include "backends/vulkan/stream/stream.h"

namespace headscope::vulkan {

class HalfTrial {
public:
    // `backend` runs the trial, on `stream`; `pipelines` are told what came of it, `info` too where that is not what it
    // says already.
    HalfTrial(Backend& backend, const Stream& stream, Pipelines& pipelines, const Capabilities& found,
              const Options& options, DeviceInfo& info);

    // To be called before a tensor in F16 is made. The first call has the device widen every number there is, and waits
    // for it.
    void hold();

private:
    bool compiles();
    bool passes();

    Backend& backend_;
    const Stream& stream_;
    Pipelines& pipelines_;
    DeviceInfo& info_;
    const bool tried_;
    const bool fours_;    // as what is tried is launched
    const float factor_;  // on what is tried: Options::trial_error
    bool open_;
};

}  // namespace headscope::vulkan
