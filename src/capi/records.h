// Records as the C library holds them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <headscope/headscope.h>
#include "observe/attention_record.h"

// Immutable, so that threads share it.
struct hs_record {
    explicit hs_record(std::shared_ptr<const headscope::AttentionRecord> of) : record(std::move(of)) {}

    std::shared_ptr<const headscope::AttentionRecord> record;
};

namespace headscope {

// Failure if the array's size is not set. `type`: HS_FLOAT32, ..
void lend(const void* data, std::int32_t type, std::span<const std::int64_t> shape, hs_array& to);

}  // namespace headscope
