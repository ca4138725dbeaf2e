// What heads are worth over a test set: each left out, each layer left out or made uniform, and pruning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "infer/loaded_model.h"

namespace headscope {

struct CorpusText {
    std::vector<std::string> sources;  // empty texts for a language model
    std::vector<std::string> targets;  // references, or a language model's texts
};

struct CorpusImportanceOptions {
    DecodingOptions translation = {};  // search and arithmetic
    std::size_t bleu = 0;              // translate this many sentences for BLEU; 0: none
    int points = 12;                   // of a pruning curve, after the whole model
    int orders = 3;                    // random orders to compare with
    std::uint64_t seed = 1;
    std::function<void()> each_batch = {};  // called before each; what it throws ends the work
};

// With some heads changed.
struct CorpusScore {
    double nll = 0.0;  // of the targets, nats per token
    std::optional<double> bleu = {};
};

struct AblatedHeads {
    AttentionSite site;
    int head = 0;  // from 1; 0: all of the layer
    CorpusScore score;
};

struct PruningPoint {
    int left = 0;  // heads
    CorpusScore score;
};

// The pairs at even places choose the order of pruning by the nll of single heads; those at odd places measure layers,
// pruning and BLEU, which is of the first of them.
struct CorpusImportance {
    Architecture family{};
    std::int64_t choosing = 0, measuring = 0;       // pairs
    std::int64_t left_out = 0;                      // pairs that the model cannot score
    std::size_t translated = 0;                     // sentences of BLEU
    CorpusScore choosing_whole = {};                // all heads, on the pairs that choose
    CorpusScore whole = {};                         // all heads, on the pairs that measure
    std::vector<AblatedHeads> heads = {};           // each off, in model order; nll on the pairs that choose
    std::vector<AblatedHeads> layers_off = {};      // on the pairs that measure
    std::vector<AblatedHeads> layers_uniform = {};  // equal weights on all keys, on the pairs that measure
    std::vector<PruningPoint> pruned = {};          // the least important heads first
    std::vector<std::vector<PruningPoint>> pruned_at_random = {};
};

// Reports what has been measured, of how much.
using CorpusProgress = std::function<void(std::size_t done, std::size_t total)>;

// Error for fewer than four pairs that the model can score, and for BLEU of a model that does not translate.
CorpusImportance measure_corpus_importance(Backend& backend, const LoadedModel& translator, const CorpusText& text,
                                           const CorpusImportanceOptions& options, const CorpusProgress& progress);

// The effect of each head, as the drawing of a single text's importance shows it: nats lost per 1,000 tokens.
Importance per_thousand_tokens(const CorpusImportance& importance);

}  // namespace headscope
