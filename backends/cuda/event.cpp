#include "backends/cuda/event.h"

#include "backends/cuda/errors.h"
#include "support/check.h"

namespace headscope::cuda {

StreamEvent::StreamEvent(Stream& stream) : stream_(stream) {
    stream_.enqueued("event", cudaEventRecord(event_.handle(), stream_.handle()));
}

bool StreamEvent::reached() {
    stream_.use_device();
    const cudaError_t error = cudaEventQuery(event_.handle());
    if (error == cudaErrorNotReady) {
        cudaGetLastError();  // clears an answer that is not an error
        return false;
    }
    stream_.enqueued("event", error);
    return true;
}

void StreamEvent::wait() {
    stream_.use_device();
    stream_.enqueued("event", cudaEventSynchronize(event_.handle()));
}

double StreamEvent::seconds_since(const Event& earlier) const {
    constexpr double kMilli = 1e-3;
    const auto* other = dynamic_cast<const StreamEvent*>(&earlier);
    HEADSCOPE_CHECK(other != nullptr && &other->stream_ == &stream_,
                    "two events of different backends have no time between them");
    float milliseconds = 0.0F;
    stream_.use_device();
    require(cudaEventElapsedTime(&milliseconds, other->event_.handle(), event_.handle()),
            "tell the time between two events");
    return static_cast<double>(milliseconds) * kMilli;
}

}  // namespace headscope::cuda
