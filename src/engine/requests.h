// What an engine can be asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/work.h"
#include "explore/activation_patching.h"
#include "explore/exploration.h"
#include "explore/lens.h"
#include "explore/saliency.h"
#include "explore/text_vectors.h"
#include "infer/filler.h"
#include "infer/gap_filler.h"
#include "infer/scored_pair.h"
#include "infer/session.h"
#include "infer/translation.h"

namespace headscope {

// About how many pieces a text has.
std::int64_t pieces_of(const std::string& text);

// The event of a request that reports nothing before its result.
struct NoEvent {
    void add(const NoEvent&) {}
};

// A line to translate, or a prompt to complete. `compute` is the device's own. A request with an observer is searched
// alone, so that the observer sees no other; observer and rule run on a device's thread, must not call the engine, and
// live until Ticket::settle(). If they throw, the request ends with that exception.
struct TextRequest {
    using Result = TextResult;
    // What was written since the last event. Greedy and sampled text only grows; a beam search may take back what it
    // wrote, and a search that is repeated begins again.
    struct Event {
        std::size_t kept_bytes = 0;
        std::string text;  // after the first `kept_bytes` so far; without what may be the beginning of a stop text
        std::size_t kept_tokens = 0;
        std::vector<WrittenToken> tokens;  // after the first `kept_tokens`; empty for a line that is split

        void add(Event newer);
    };
    SourceLine line;
    DecodingOptions options;
    bool streams = false;  // whether it tells events
};

// The lines of a text. A line that fails on a working device has a `problem`; if the first ones all fail, so does the
// request. Its batches give way to those of requests that come later. It may always be submitted, unless it `counts`.
struct LinesRequest {
    using Result = std::size_t;  // lines
    struct Event {
        std::vector<TextResult> next;  // in order
        std::size_t finished = 0;      // in order or not
        void add(Event newer);
    };
    std::vector<SourceLine> lines;
    DecodingOptions options;
    bool counts = false;  // not of a caller that waits before it submits more
};

// What may stand at the masks of a text: pieces of a masked language model, words of a span model.
struct FillAnswer {
    std::string text;                             // the likeliest pieces or words stand at the masks
    std::vector<std::int32_t> ids;                // only a masked language model gives these
    std::vector<MaskedPosition> masks;            // only a masked language model gives these
    std::vector<std::vector<GapCandidate>> gaps;  // only a span model gives these
};
struct FillRequest {
    using Result = FillAnswer;
    using Event = NoEvent;
    std::string text;
    std::string mark = kMaskText;
    int count = 5;
    bool one_by_one = false;                // only a masked language model can
    std::vector<AttentionEdit> edits = {};  // likewise
};

// Pairs, or texts as targets of empty sources. See ScoreSession.
struct ScoreRequest {
    using Result = std::vector<ScoredPair>;
    using Event = NoEvent;
    std::vector<std::string> sources, targets;
    std::int64_t batch_tokens = 1024;
    Languages languages = {};
    std::vector<AttentionEdit> edits = {};  // with some, pairs are scored one after the other
};

// The pieces of a text as the model's encoder reads it, or a language model. No device has to work for it.
struct TokeniseRequest {
    struct Result {
        std::vector<std::int32_t> ids;
        std::vector<std::string> pieces;
    };
    using Event = NoEvent;
    std::string text;
};

// Attention, candidates and beams of a sentence, with edits (explore/explorer.h).
struct LookRequest {
    using Result = Exploration;
    struct Event {
        Exploration so_far;
        void add(Event newer) { *this = std::move(newer); }
    };
    ExploreRequest explore;
};

// How much a target depends on each head. Needs one, or masks, which the model then fills itself.
struct ImportanceRequest {
    using Result = Importance;
    struct Event {
        Importance so_far;
        void add(Event newer) { *this = std::move(newer); }
    };
    ExploreRequest explore;
};

// The gradients of an output's probabilities with respect to what the model reads. Needs a target or masks, as that.
struct SaliencyRequest {
    using Result = Saliency;
    using Event = NoEvent;
    ExploreRequest explore;
    int steps = 1;  // see measure_saliency()
};

// What the model would write after each of its layers. Needs a target, unless the model fills in masks.
struct LensRequest {
    using Result = Lens;
    using Event = NoEvent;
    ExploreRequest explore;
};

// What an output owes to values in the middle of a pass.
struct PatchRequest {
    using Result = PatchEffects;
    using Event = NoEvent;
    Patching patching;
};

// Texts, their words or their pieces as vectors, by default the means of the last hidden states.
struct EmbedRequest {
    using Result = std::vector<TextVectors>;  // one for each text
    using Event = NoEvent;
    std::vector<std::string> texts;
    VectorOptions options = {};
    std::int64_t batch_tokens = 1024;
};

// Anything else that a device can do with a model, in one step. It may be called again if the device is lost.
template <class Value>
struct RunRequest {
    using Result = Value;
    using Event = NoEvent;
    std::function<Value(const Place& place)> run;
    std::int64_t tokens = 1;  // what it costs, in tokens that the model reads
};

}  // namespace headscope
