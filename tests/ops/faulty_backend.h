// A correct backend with one fault in Copy, for the harness to find.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "backend/forwarding_backend.h"

namespace headscope::conformance {

class FaultyBackend final : public ForwardingBackend {
public:
    // Called in place of the inner backend's Copy.
    using Fault = std::function<void(Backend& inner, const Copy& op)>;
    FaultyBackend(std::unique_ptr<Backend> inner, Fault fault)
        : ForwardingBackend(std::move(inner)), fault_(std::move(fault)) {}

    using ForwardingBackend::run;
    void run(const Copy& op) override { fault_(inner(), op); }

private:
    Fault fault_;
};

}  // namespace headscope::conformance
