// Everything that can be seen of one sentence: what every head looks at while a translation is found or read, what else
// could have been written, what changes when heads are changed.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "explore/checked_request.h"
#include "explore/exploration.h"
#include "infer/translator.h"

namespace headscope {

// What a person can get wrong is told in the result's `problem`; Error is thrown for what the device does.
class Explorer {
public:
    // Both outlive the explorer. `compute`: see Arithmetic.
    Explorer(Backend& backend, const Translator& translator, Compute compute);

    const ModelDirectory& model() const { return translator_.model(); }

    // Called after each token, from within. The exploration so far is made when it is asked for, since that copies all
    // weights seen; it has `finished` only at the very end. False stops at once.
    using Snapshot = std::function<Exploration()>;
    using Progress = std::function<bool(const Snapshot& so_far)>;
    // Without a target: beam search. With one: a teacher-forced pass, where progress is called once, between encoder
    // and decoder, with the encoder's heads alone.
    Exploration explore(const ExploreRequest& request, const Progress& progress = {}) const;

    // Which heads a translation needs; the request has a target.
    using ImportanceProgress = std::function<bool(const Importance& so_far)>;
    Importance importance(const ExploreRequest& request, const ImportanceProgress& progress = {}) const;

    // Queries and keys of one head (from 1) while the target is read; the request has one.
    NeuronView neuron(const ExploreRequest& request, const AttentionSite& site, int head) const;

private:
    Exploration search(const CheckedRequest& request, const Progress& progress) const;
    Exploration read(const CheckedRequest& request, const Progress& progress) const;

    Backend& backend_;
    const Translator& translator_;
    Compute compute_;
};

// The tokens that were written or given, with the end of sentence where it ended by it.
std::vector<std::int32_t> output_of(const Exploration& exploration);
// The request that has what was found for its target.
ExploreRequest with_target(ExploreRequest request, const Exploration& found);

}  // namespace headscope
