#include "infer/stop_finder.h"

#include <algorithm>
#include <utility>

#include "infer/continuation.h"

namespace headscope {

std::size_t find_first(std::string_view text, const std::vector<std::string>& stops) {
    std::size_t first = text.size();
    for (const std::string& stop : stops) {
        first = std::min(first, text.find(stop));
    }
    return first;
}

StopFinder::StopFinder(const Tokenizer& tokenizer, std::vector<std::int32_t> prompt, std::vector<std::string> stops)
    : tokenizer_(tokenizer),
      prompt_(std::move(prompt)),
      stops_(std::move(stops)),
      before_(tokenizer.decode(prompt_, Sentinels::Shown)),
      whole_(tokenizer, Sentinels::Shown) {
    for (const std::int32_t id : prompt_) {
        whole_.add(id);
    }
    for (const std::string& stop : stops_) {
        longest_ = std::max(longest_, stop.size());
    }
}

bool StopFinder::finds(std::span<const std::int32_t> tokens) {
    for (; tokens_ < tokens.size(); ++tokens_) {
        whole_.add(tokens[tokens_]);
        ++work_;
    }
    const std::string& settled = whole_.settled();
    if (searched_ == 0 && !settled.starts_with(before_)) {
        const std::string text = decode_after(tokenizer_, prompt_, {tokens.begin(), tokens.end()});
        work_ += std::ssize(text);
        return find_first(text, stops_) < text.size();
    }
    // A stop text that was not found yet ends behind what was settled in the last call.
    const std::size_t overlap = std::min(searched_, longest_);
    const std::string text = settled.substr(std::max(before_.size(), searched_ - overlap)) + whole_.unsettled();
    searched_ = settled.size();
    work_ += std::ssize(text);
    return find_first(text, stops_) < text.size();
}

}  // namespace headscope
