// Parameters that tests and the programs in tests/golden make by the same formula, since files of them would be large.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "model/parameters.h"

namespace headscope {

// Numbers in [-1, 1) from FNV-1a of the name, and the place.
inline std::vector<double> hashed(const std::string& name, std::int64_t count) {
    std::uint32_t seed = 2166136261U;
    for (const char letter : name) {
        seed = (seed ^ static_cast<std::uint8_t>(letter)) * 16777619U;
    }
    std::vector<double> numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::uint32_t bits = static_cast<std::uint32_t>(i) * 2654435761U + seed;
        bits ^= bits >> 15U;
        bits *= 2246822519U;
        bits ^= bits >> 13U;
        numbers[i] = static_cast<double>(bits) / 2147483648.0 - 1.0;
    }
    return numbers;
}

// Those that begin at 0 as a whole, a scalar output's, stay there.
inline void set_hashed_parameters(const Parameters& parameters) {
    for (const ParameterSpec& spec : parameters.table()) {
        if (spec.name.starts_with("output.scalar.")) {
            continue;
        }
        const double size = spec.shape.rank() == 2 ? std::sqrt(3.0 / static_cast<double>(spec.shape[-1])) : 0.1;
        std::vector<float> values;
        for (const double number : hashed(spec.name, spec.shape.elements())) {
            values.push_back(static_cast<float>(size * number + (spec.name.ends_with(".gain") ? 1.0 : 0.0)));
        }
        parameters.store(spec.name, values);
    }
    parameters.refresh_working();
}

}  // namespace headscope
