// Analyses one sentence or text: the attention of every head while an output is generated or read, alternative tokens,
// and the effect of editing heads. For all families: a translation, the continuation of a prompt, or filled-in masks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "explore/checked_request.h"
#include "explore/exploration.h"
#include "infer/loaded_model.h"

namespace headscope {

// An invalid request is reported in the result's `problem`. Error is thrown for device failures.
class Explorer {
public:
    // Both must outlive the explorer. `compute`: see Arithmetic.
    Explorer(Backend& backend, const LoadedModel& translator, Compute compute);

    const ModelDirectory& model() const { return translator_.model(); }

    // Called after each token. The snapshot is built on demand, since it copies all recorded weights; `finished` is
    // set only at the end. Return false to cancel.
    using Snapshot = std::function<Exploration()>;
    using Progress = std::function<bool(const Snapshot& so_far)>;
    // Without a target: beam search, or the likeliest token at each mask of a masked language model. With a target: a
    // teacher-forced pass; that of a translation model calls progress once, after the encoder, with its heads only.
    Exploration explore(const ExploreRequest& request, const Progress& progress = {}) const;

    // Measures how much a target depends on each head. Requires one.
    using ImportanceProgress = std::function<bool(const Importance& so_far)>;
    Importance importance(const ExploreRequest& request, const ImportanceProgress& progress = {}) const;

    // Queries and keys of one head (from 1) while the target is read. Requires one, except of a masked language model.
    NeuronView neuron(const ExploreRequest& request, const AttentionSite& site, int head) const;
    // The same of heads `first` to `last` in one pass. After an error a single view, which has the problem.
    std::vector<NeuronView> neurons(const ExploreRequest& request, const AttentionSite& site, int first,
                                    int last) const;

private:
    Exploration search(const CheckedRequest& request, const Progress& progress) const;
    Exploration read(const CheckedRequest& request, const Progress& progress) const;
    Exploration read_found(CheckedRequest request, const std::vector<std::int32_t>& tokens,
                           const Exploration& found) const;
    std::string written(const CheckedRequest& request, const std::vector<ExploredStep>& steps) const;

    Backend& backend_;
    const LoadedModel& translator_;
    Compute compute_;
};

// The generated or given tokens after a prompt, including the end of sentence if reached; or what fills the masks.
std::vector<std::int32_t> output_of(const Exploration& exploration);
// The request with the tokens of `found`, if there are any, as its target.
ExploreRequest with_target(ExploreRequest request, const Exploration& found);

}  // namespace headscope
