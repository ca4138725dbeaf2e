// Requests to the explorer and their results: plain data on the host, used by the viewer, exports and tests.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "infer/decoding_choices.h"
#include "infer/hypotheses.h"
#include "io/picture.h"
#include "observe/attention_record.h"
#include "text/chat_template.h"

namespace headscope {

// A change of one head's weights before they are multiplied by V.
enum class EditKind : std::uint8_t {
    Off,      // all weights 0, so the head's output is 0
    Uniform,  // equal weight on every unmasked key
    Pin,      // all of the weight on one key
    Unmasked  // of a decoder's self-attention: the softmax without the causal mask, so that later keys get weight
              // where several tokens are read at once
};
inline constexpr std::array<std::pair<const char*, EditKind>, 4> kEditNames{
    {{"off", EditKind::Off}, {"uniform", EditKind::Uniform}, {"pin", EditKind::Pin}, {"unmasked", EditKind::Unmasked}}};
struct AttentionEdit {
    AttentionSite site;
    int head = 1;  // from 1
    EditKind kind = EditKind::Off;
    // Token indices from 0, as in the record. An edit with a missing or masked token has no effect.
    int query = -1;  // the row to change; -1: every row
    int key = -1;    // Pin: the token attended to
    bool operator==(const AttentionEdit&) const = default;
};

// A language model's `source` is its text: the prompt of a causal one, or the text of a masked one with "[MASK]" for
// each token to fill in. Its target is the continuation, or the tokens that fill the masks. The source of a model that
// reads pictures is the name of a file.
struct ExploreRequest {
    std::string source;
    bool chat = false;  // the source is a message in the model's chat template, and its continuation a reply
    std::vector<ChatMessage> earlier = {};  // what was said before that message
    // If set, the model reads this target (one teacher-forced pass) instead of searching for one. An empty continuation
    // reads the prompt alone. A masked model and a classifier take only `target_tokens`; a class is its number.
    std::optional<std::string> target = {};
    // The same as tokens, from output_of(), with those that the model's frame gives: keeps the exact pieces, which
    // encoding the text again might not.
    std::vector<std::int32_t> target_tokens = {};
    DecodingChoices search = {};            // defaults: the model's, see LoadedModel::decoding_choices
    std::vector<AttentionEdit> edits = {};  // a later edit of the same row wins
    std::int64_t source_pads = 0;           // requires a target
    int candidates = 10;                    // most likely next tokens kept per step, at most 64
    // The layer whose weights alone are recorded; empty: those of all. For texts that give more than `most_weights`.
    std::optional<AttentionSite> layer = {};
    std::int64_t most_weights = kMostWeights;
    bool operator==(const ExploreRequest&) const = default;
};

bool has_target(const ExploreRequest& request);

struct NextCandidate {
    std::int32_t token = 0;
    std::string text;  // the SentencePiece piece, or "<EOS>"
    double log_probability = 0.0;
};

// One output token and its alternatives.
struct ExploredStep {
    std::int32_t token = 0;                      // generated or given
    double log_probability = 0.0;                // of that token
    std::int64_t rank = 0;                       // its rank among all tokens, from 1
    std::vector<NextCandidate> candidates = {};  // best first; includes tokens that the search may not generate
    std::int64_t position = 0;                   // in record.target_out; of a mask, in record.source
};

// The beam as a tree. Node 0 is the empty output.
struct BeamNode {
    enum class Fate : std::uint8_t {
        Open,      // has children, or is still live
        Finished,  // reached the end of sentence
        Fell,      // none of its continuations stayed in the beam
        Stopped,   // live when the search ended because no unfinished hypothesis could win
        Cut,       // reached the maximum length
    };
    int parent = -1;
    int step = 0;  // tokens from the root
    std::int32_t token = 0;
    std::string text;
    double log_probability = 0.0;  // sum along the path
    double score = 0.0;            // log_probability / lp(step): its score if it ended here
    Fate fate = Fate::Open;
    bool best = false;        // on the path of the winning hypothesis
    std::string reason = {};  // why the branch ended, to display; empty for Open
};

struct Exploration {
    AttentionRecord record;  // all sites, or that of the request's layer; empty after an error
    std::string source;
    std::shared_ptr<const PixelPicture> picture = {};  // to show, of a model that reads pictures (text/shown_picture.h)
    std::string translation;          // or the continuation, the text with filled masks, or the class of a picture
    std::size_t prompt = 0;           // of `steps`: the first ones, which a causal language model's prompt gives
    bool forced = false;              // the target was given
    std::vector<ExploredStep> steps;  // one for each token of record.target_out; of a classifier one, with its classes
    std::vector<BeamNode> beam;       // empty if the target was given
    // For each gap of a span model's text, from left to right, what may stand in it by the best outputs of the search,
    // or by the given one: texts of several tokens, which `token` counts from 0. The first one is written. `position`
    // is that of the gap's sentinel among `steps`. Of a gap that was not written, `token` and `position` are -1.
    std::vector<ExploredStep> gaps = {};
    double log_probability = 0.0;  // of the steps after the prompt; of a prompt alone, of all steps
    double score = 0.0;
    EndReason end = EndReason::EndOfSentence;
    bool finished = false;          // false for a partial result, also when cancelled
    double seconds_to_first = 0.0;  // time to the first token
    double seconds = 0.0;
    // The request's edits that had no effect; set once `finished`.
    std::vector<AttentionEdit> without_effect = {};
    std::string problem;         // the error, if any
    bool only_by_layer = false;  // the error is that the weights of all layers are too many; those of any one are not
};

// The effect of ablating one head on a given output, which Exploration::log_probability measures.
struct HeadImportance {
    AttentionSite site;
    int head = 1;                  // from 1
    double log_probability = 0.0;  // of the output without the head
    double loss = 0.0;             // drop in log-probability (natural logarithm) over all of it
};

struct Importance {
    Architecture family{};
    std::vector<HeadImportance> heads;  // in model order: encoder layers, then decoder layers
    double log_probability = 0.0;       // of the output with all heads
    std::int64_t total = 0;             // number of heads to measure
    bool finished = false;              // false for a partial result, also when cancelled
    std::string problem;                // the error, if any
};

// Equation 1 for one head: the queries and keys that give its weights.
struct NeuronView {
    AttentionSite site;
    int head = 1;
    std::int64_t queries = 0, keys = 0, d_k = 0;
    float scale = 1.0F;         // 1 / sqrt(d_k), or 1
    std::vector<float> q = {};  // [queries, d_k]
    std::vector<float> k = {};  // [keys, d_k]
    bool causal = false;        // later keys are masked
    std::int64_t pads = 0;      // masked keys at the end
    bool edited = false;        // the request edits this head, so its weights are not the softmax
    std::string problem = {};   // the error, if any
    // What relative positions add to a score: of 2 D + 1 distances, key - query; empty if nothing.
    std::vector<float> by_distance = {};
};

}  // namespace headscope
