// Analyses one sentence: the attention of every head while a translation is generated or read, alternative tokens,
// and the effect of editing heads.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "explore/checked_request.h"
#include "explore/exploration.h"
#include "infer/translator.h"

namespace headscope {

// An invalid request is reported in the result's `problem`. Error is thrown for device failures.
class Explorer {
public:
    // Both must outlive the explorer. `compute`: see Arithmetic.
    Explorer(Backend& backend, const Translator& translator, Compute compute);

    const ModelDirectory& model() const { return translator_.model(); }

    // Called after each token. The snapshot is built on demand, since it copies all recorded weights; `finished` is
    // set only at the end. Return false to cancel.
    using Snapshot = std::function<Exploration()>;
    using Progress = std::function<bool(const Snapshot& so_far)>;
    // Without a target: beam search. With a target: a teacher-forced pass, where progress is called once, after the
    // encoder, with its heads only.
    Exploration explore(const ExploreRequest& request, const Progress& progress = {}) const;

    // Measures how much a translation depends on each head. Requires a target.
    using ImportanceProgress = std::function<bool(const Importance& so_far)>;
    Importance importance(const ExploreRequest& request, const ImportanceProgress& progress = {}) const;

    // Queries and keys of one head (from 1) while the target is read. Requires a target.
    NeuronView neuron(const ExploreRequest& request, const AttentionSite& site, int head) const;

private:
    Exploration search(const CheckedRequest& request, const Progress& progress) const;
    Exploration read(const CheckedRequest& request, const Progress& progress) const;

    Backend& backend_;
    const Translator& translator_;
    Compute compute_;
};

// The generated or given tokens, including the end of sentence if reached.
std::vector<std::int32_t> output_of(const Exploration& exploration);
// The request with the tokens of `found` as its target.
ExploreRequest with_target(ExploreRequest request, const Exploration& found);

}  // namespace headscope
