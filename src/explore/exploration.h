// What one look at a sentence finds out: plain data on the host, for windows, files and tests alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infer/decoding_choices.h"
#include "infer/hypotheses.h"
#include "observe/attention_record.h"

namespace headscope {

// A change of one head's weights before they meet V.
enum class EditKind : std::uint8_t {
    Off,      // the head looks at nothing: its part of the output is 0
    Uniform,  // the same weight on every key that the mask allows
    Pin,      // all of the weight on one key
};
struct AttentionEdit {
    AttentionSite site;
    int head = 1;  // from 1
    EditKind kind = EditKind::Off;
    // Tokens from 0, as the record's. An edit of one that does not exist, or may not be looked at, changes nothing.
    int query = -1;  // the token whose row is changed; -1: every row
    int key = -1;    // Pin: the token that is looked at
    bool operator==(const AttentionEdit&) const = default;
};

struct ExploreRequest {
    std::string source;
    // Set: the model is told this translation (one teacher-forced pass) instead of searching for one.
    std::optional<std::string> target = {};
    // The same by its tokens, as output_of() tells them: what was found, however its text would be cut into pieces.
    std::vector<std::int32_t> target_tokens = {};
    DecodingChoices search = {};            // else what the model wants, see Translator::decoding_choices
    std::vector<AttentionEdit> edits = {};  // of two that change the same row the later holds
    std::int64_t source_pads = 0;           // with a target only
    int candidates = 10;                    // likeliest next tokens kept of every step, at most 64
    bool operator==(const ExploreRequest&) const = default;
};

bool has_target(const ExploreRequest& request);

struct NextCandidate {
    std::int32_t token = 0;
    std::string text;  // a piece as SentencePiece spells it, or "<EOS>"
    double log_probability = 0.0;
};

// One token of the output: what else could have stood there.
struct ExploredStep {
    std::int32_t token = 0;                      // that was written, or given
    double log_probability = 0.0;                // of that token
    std::int64_t rank = 0;                       // its place among all tokens, from 1
    std::vector<NextCandidate> candidates = {};  // best first; the model's, also what a search never writes
};

// The beam as a tree. Node 0 is the empty output.
struct BeamNode {
    enum class Fate : std::uint8_t {
        Open,      // went on (it has children), or still goes on
        Finished,  // ended by the end of sentence
        Fell,      // was continued by nothing that stayed in the beam
        Stopped,   // alive when nothing unfinished could win any more
        Cut,       // reached the longest output
    };
    int parent = -1;
    int step = 0;  // tokens from the root
    std::int32_t token = 0;
    std::string text;
    double log_probability = 0.0;  // sum along the path
    double score = 0.0;            // log_probability / lp(step), as it would count if it ended here
    Fate fate = Fate::Open;
    bool best = false;        // on the path of the hypothesis that won
    std::string reason = {};  // why the branch ended, for people; empty for Open
};

struct Exploration {
    AttentionRecord record;  // of all sites; after an error empty
    std::string source;
    std::string translation;
    bool forced = false;              // a given target was read
    std::vector<ExploredStep> steps;  // one for each token of record.target_out
    std::vector<BeamNode> beam;       // empty where a target was given
    double log_probability = 0.0;
    double score = 0.0;
    EndReason end = EndReason::EndOfSentence;
    bool finished = false;          // false for what is shown while it goes on, and where it was stopped
    double seconds_to_first = 0.0;  // until the first token was known
    double seconds = 0.0;
    // Of the request's edits those that changed nothing here, known once it has `finished`.
    std::vector<AttentionEdit> without_effect = {};
    std::string problem;  // why there is nothing to see; normally empty
};

// What leaving one head out does to the sentence: the translation is given, the head is off.
struct HeadImportance {
    AttentionSite site;
    int head = 1;                  // from 1
    double log_probability = 0.0;  // of the translation without the head
    double loss = 0.0;             // by how much that is less than with it: natural logarithm, whole sentence
};

struct Importance {
    std::vector<HeadImportance> heads;  // of every site in the order of the model: encoder, then layer by layer
    double log_probability = 0.0;       // of the translation with all heads
    std::int64_t total = 0;             // heads there will be
    bool finished = false;              // false while it goes on, and where it was stopped
    std::string problem;                // why there is nothing to see; normally empty
};

// Equation 1 for one head: its queries and keys, from which the weights come.
struct NeuronView {
    AttentionSite site;
    int head = 1;
    std::int64_t queries = 0, keys = 0, d_k = 0;
    float scale = 1.0F;         // 1 / sqrt(d_k)
    std::vector<float> q = {};  // [queries, d_k]
    std::vector<float> k = {};  // [keys, d_k]
    bool causal = false;        // the mask hides later keys from a query
    std::int64_t pads = 0;      // and so many keys at the end from all of them
    bool edited = false;        // the request changes weights of this head, which then are not the softmax
    std::string problem = {};   // why there is nothing to see; normally empty
};

}  // namespace headscope
