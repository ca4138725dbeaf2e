// Decodes ids that come one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "text/tokenizer.h"

namespace headscope {

// The work is linear in the number of ids.
class GrowingText {
public:
    // The tokenizer must outlive this.
    explicit GrowingText(const Tokenizer& tokenizer, Sentinels sentinels = Sentinels::Dropped)
        : tokenizer_(tokenizer), sentinels_(sentinels), joiner_(tokenizer.joiner()) {}

    void add(std::int32_t id);
    // The text that no further id changes: whole characters, with which Tokenizer::decode() of all ids begins.
    const std::string& settled() const { return joined_.text; }
    // What follows it in the text of the ids so far.
    std::string unsettled() const;

private:
    const Tokenizer& tokenizer_;
    Sentinels sentinels_;
    std::unique_ptr<Joiner> joiner_;
    JoinedText joined_;
};

}  // namespace headscope
