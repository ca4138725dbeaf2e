// All steps of scoring in one call, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infer/scored_pair.h"

namespace headscope {

inline std::vector<ScoredPair> score_pairs(Context& ctx, const LoadedModel& model,
                                           const std::vector<std::string>& sources,
                                           const std::vector<std::string>& targets, std::int64_t batch_tokens,
                                           const Languages& languages = {}) {
    ScoreSession session(ctx, model, sources, targets, batch_tokens, languages);
    finish(session);
    return session.take();
}

}  // namespace headscope
