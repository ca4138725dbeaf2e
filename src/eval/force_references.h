// Scores human reference translations with a model (teacher forcing).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "eval/forced_statistics.h"
#include "infer/loaded_model.h"

namespace headscope {

// What a model gives to pairs, in order.
struct ForcedPairs {
    std::vector<std::vector<ForcedToken>> targets;  // of those that are not left out
    std::size_t left_out = 0;                       // as ForcedReferences::left_out
};

struct ForcedReferences {
    ForcedStatistics statistics;
    // Skipped pairs: a side is empty, too long for the model or not UTF-8.
    std::size_t left_out = 0;

    void add(const ForcedPairs& pairs);
};

// Scores every source with its reference.
ForcedPairs force_pairs(Context& ctx, const LoadedModel& translator, std::span<const std::string> sources,
                        std::span<const std::string> references, const Languages& languages,
                        const ForcedLimits& limits);

// Scores every source with each of its references, references[r][s], a few thousand pairs at a time.
ForcedReferences force_references(Backend& backend, const LoadedModel& translator,
                                  const std::vector<std::string>& sources,
                                  const std::vector<std::vector<std::string>>& references,
                                  const DecodingOptions& options);

}  // namespace headscope
