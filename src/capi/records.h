// Records as the C library holds them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <headscope/headscope.h>
#include "capi/results.h"

// Immutable, so that threads share it.
struct hs_record {
    explicit hs_record(std::shared_ptr<const headscope::SeenRecord> of) : seen(std::move(of)) {}

    const headscope::AttentionRecord& record() const { return seen->record; }

    std::shared_ptr<const headscope::SeenRecord> seen;
};

namespace headscope {

// Failure if the array's size is not set. `type`: HS_FLOAT32, ..
void lend(const void* data, std::int32_t type, std::span<const std::int64_t> shape, hs_array& to);

}  // namespace headscope
