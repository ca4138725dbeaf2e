// Work on a device that goes on step by step, so that the device can alternate between requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

struct LinePart;

// For one thread at a time, that of the device. The model with which it was begun outlives it. If step() throws, the
// session can only be destroyed; what has no result by then is unchanged.
class WorkSession {
public:
    WorkSession() = default;
    WorkSession(const WorkSession&) = delete;
    WorkSession& operator=(const WorkSession&) = delete;
    virtual ~WorkSession() = default;

    // Does the next step, whose cost is bounded: a decoding step of all rows (a few greedy ones on a device that runs
    // ahead), a chunk of the prompts, an iteration of mask-predict, a batch of forced texts, a pass of filling. Returns
    // whether something is left to do. To end the work early, destroy the session between two steps.
    virtual bool step() = 0;
    // The work of all steps so far: the tokens that the device read or wrote, times the rows of a beam.
    virtual std::int64_t tokens() const = 0;
};

// Takes all steps that are left.
inline void finish(WorkSession& session) {
    while (session.step()) {
    }
}

// A token that could have been written.
struct TokenChance {
    std::int32_t token = 0;
    double log_probability = 0.0;
};

// A token of an output.
struct WrittenToken {
    std::int32_t token = 0;
    double log_probability = 0.0;
    std::vector<TokenChance> alternatives = {};  // SearchOptions::alternatives of the likeliest, best first
};

// What a step changed in the likeliest output of a part of a line. A reader that keeps the first `kept_bytes` of its
// text and appends `text`, and does the same with the tokens, has the text so far and, after the last event of a part,
// TextResult::text and target_ids. Greedy and sampled outputs only grow, unless a search begins anew.
struct TextEvent {
    LinePart* part = nullptr;
    std::size_t kept_bytes = 0;
    std::string text;  // whole characters, without what may be the beginning of a stop text
    std::size_t kept_tokens = 0;
    std::vector<WrittenToken> tokens;  // without given ones
};

// Searches for the outputs of parts of lines, which outlive it or leave().
class SearchSession : public WorkSession {
public:
    // Parts that have their results since the last call. A part with a problem is done, too.
    virtual std::vector<LinePart*> take_done() = 0;
    // Changes since the last call, in order, of parts with LinePart::reports.
    virtual std::vector<TextEvent> take_events() = 0;
    // Forgets a part: the session does no more for it than its present step, and gives it no result. No effect if it
    // has none of it.
    virtual void leave(const LinePart& part) = 0;
    // Whether parts may still join the session.
    virtual bool joins(const LinePart& part) const = 0;
    // Adds parts for which joins() is true; they begin with the next step.
    virtual void join(const std::vector<LinePart*>& parts) = 0;
};

}  // namespace headscope
