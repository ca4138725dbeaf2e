// Conformance runs for tests: plans, and cases that double their input.
#pragma once
#include "tests/house/open_options.h"

#include <string>
#include <utility>
#include <vector>

#include "backend/ops/elementwise.h"
#include "conformance/run.h"

namespace headscope::conformance {

inline Plan plan(std::vector<std::string> ops, std::vector<std::string> dtypes = {}) {
    return {.devices = {"cpu"},
            .ops = std::move(ops),
            .dtypes = std::move(dtypes),
            .full = false,
            .timed = false,
            .open = [](const std::string& path, const std::string& device) {
                return open_device_by(path, device, environment_options());
            }};
}

// Doubles the input; devices other than the oracle get another factor.
inline std::vector<Case> doublings() {
    Case stated = make_case("[3, 33]", {Operand("a", {3, 33}), Operand("out", {3, 33})},
                            [](const Operands& t) { return AddScaled{.a = t["a"], .out = t["out"], .alpha = 2.0F}; });
    stated.run = [](Backend& backend, const Operands& t) {
        const float alpha = backend.full_dtype() == DType::F64 ? 2.0F : 2.001F;
        backend.run(AddScaled{.a = t["a"], .out = t["out"], .alpha = alpha});
    };
    return {stated};
}

// Doubles the input; on any device but the oracle `then` runs afterwards.
template <class Then>
Case doubling(Then then) {
    Case stated = doublings()[0];
    stated.run = [then](Backend& backend, const Operands& t) {
        backend.run(AddScaled{.a = t["a"], .out = t["out"], .alpha = 2.0F});
        if (backend.full_dtype() != DType::F64) {
            then();
        }
    };
    return stated;
}

}  // namespace headscope::conformance
