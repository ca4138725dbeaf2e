// The tables of positions on a device, which grow with use. The stacks of a model share them.
#pragma once

#include <cstdint>

#include "backend/repeated_sequence.h"
#include "model/rotary.h"
#include "model/sinusoids.h"

namespace headscope {

struct PositionTables {
    explicit PositionTables(const ModelConfig& config) : added(config), turned(config) {}

    // For sequences of up to `length`.
    void grow(Backend& backend, std::int64_t length) {
        if (added.fixed()) {
            added.table(backend, length);
        }
        turned.grow(backend, length);
    }
    // All that the ops of a step depend on.
    void add_to(Dependencies& dependencies) const {
        dependencies.add(added.table());
        turned.add_to(dependencies);
    }

    Sinusoids added;      // to the embeddings
    RotaryTables turned;  // of queries and keys
};

}  // namespace headscope
