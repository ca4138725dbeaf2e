#include "support/diagnostics.h"

#include <mutex>
#include <set>
#include <utility>

namespace headscope {

struct Diagnostics::State {
    Sink sink;
    std::mutex mutex = {};
    std::set<std::string> reported = {};
};

Diagnostics::Diagnostics(Sink sink) : state_(new State{.sink = std::move(sink)}) {}

void Diagnostics::report(Severity severity, const std::string& text) const {
    if (state_ == nullptr) {
        return;
    }
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (state_->reported.insert(text).second) {
        state_->sink(severity, text);
    }
}

}  // namespace headscope
