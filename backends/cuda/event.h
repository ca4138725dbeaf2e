// A mark in a backend's stream with the device's clock.
#pragma once

#include "backend/backend.h"
#include "backends/cuda/stream.h"

namespace headscope::cuda {

class StreamEvent final : public Event {
public:
    explicit StreamEvent(Stream& stream);

    bool reached() override;
    void wait() override;
    double seconds_since(const Event& earlier) const override;

private:
    Stream& stream_;
    RawEvent event_{cudaEventDefault};
};

}  // namespace headscope::cuda
