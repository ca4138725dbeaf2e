#include "infer/continuation.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace headscope {

std::string decode_after(const Tokenizer& tokenizer, const std::vector<std::int32_t>& prompt,
                         const std::vector<std::int32_t>& tokens) {
    std::vector<std::int32_t> all = prompt;
    all.insert(all.end(), tokens.begin(), tokens.end());
    const std::string before = tokenizer.decode(prompt, Sentinels::Shown);
    std::string text = tokenizer.decode(all, Sentinels::Shown);
    return text.starts_with(before) ? text.substr(before.size()) : tokenizer.decode(tokens, Sentinels::Shown);
}

GrowingContinuation::GrowingContinuation(const Tokenizer& tokenizer, std::vector<std::int32_t> prompt)
    : tokenizer_(tokenizer), prompt_(std::move(prompt)), before_(tokenizer.decode(prompt_, Sentinels::Shown)) {
    begin();
}

void GrowingContinuation::begin() {
    tokens_.clear();
    text_.clear();
    whole_.emplace(tokenizer_, Sentinels::Shown);
    for (const std::int32_t id : prompt_) {
        add(id);
    }
}

void GrowingContinuation::add(std::int32_t id) {
    whole_->add(id);
    ++decoded_;
}

// Nothing until the prompt's own text is settled: later bytes may change its last character.
void GrowingContinuation::take_settled() {
    const std::string_view whole = whole_->settled();
    const std::size_t known = before_.size() + text_.size();
    if (whole.size() > known && (!text_.empty() || whole.starts_with(before_))) {
        text_ += whole.substr(known);
    }
}

const std::string& GrowingContinuation::settled(std::span<const std::int32_t> tokens, std::size_t same) {
    const auto known = static_cast<std::ptrdiff_t>(std::min(same, tokens_.size()));
    if (tokens.size() < tokens_.size() || !std::equal(tokens_.begin() + known, tokens_.end(), tokens.begin() + known)) {
        begin();
    }
    for (std::size_t i = tokens_.size(); i < tokens.size(); ++i) {
        add(tokens[i]);
        tokens_.push_back(tokens[i]);
    }
    take_settled();
    return text_;
}

}  // namespace headscope
