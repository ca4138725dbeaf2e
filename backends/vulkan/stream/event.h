// A mark in a backend's stream with the device's clock.
#pragma once

#include "backend/backend.h"
#include "backends/vulkan/stream/stream.h"

namespace headscope::vulkan {

class StreamEvent final : public Event {
public:
    explicit StreamEvent(Stream& stream) : stream_(stream), mark_(stream.mark()) {}
    ~StreamEvent() override { stream_.forget(mark_); }

    bool reached() override { return stream_.reached(mark_); }
    void wait() override { stream_.wait_for(mark_); }
    double seconds_since(const Event& earlier) const override;

private:
    Stream& stream_;
    const Stream::Mark mark_;
};

}  // namespace headscope::vulkan
