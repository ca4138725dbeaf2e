#include "engine/job.h"

#include <utility>

namespace headscope {

namespace {

std::int64_t source_tokens(const std::vector<TranslationUnit*>& units) {
    std::int64_t tokens = 0;
    for (const TranslationUnit* unit : units) {
        tokens += static_cast<std::int64_t>(unit->sentence.source_ids.size());
    }
    return tokens;
}

}  // namespace

Job::Job(const ModelDirectory& model, const std::vector<SourceLine>& lines, const TranslationOptions& wanted,
         std::int64_t longest)
    : options(wanted), work(model, lines, options, longest, TranslationWork::Order::SoonestFirst) {
    for (std::size_t batch = 0; batch < work.batches(); ++batch) {
        tokens.push_back(source_tokens(work.units_of(batch)));
    }
}

void Job::watch(const Tokenizer& tokenizer, std::function<void(const std::string& text)> on_text) {
    on_text_ = std::move(on_text);
    for (std::size_t batch = 0; batch < work.batches(); ++batch) {
        for (TranslationUnit* unit : work.units_of(batch)) {
            unit->task.on_step = [this, &tokenizer, unit](const auto& written) {
                return wrote(unit->sentence.span.begin,
                             on_text_ == nullptr ? "" : decode_after(tokenizer, unit->task.prompt, written));
            };
        }
    }
}

bool Job::wrote(std::size_t place, const std::string& text) {
    if (stopped_.load(std::memory_order_relaxed)) {
        return false;
    }
    if (on_text_ != nullptr) {
        const std::lock_guard lock(texts_mutex_);  // several devices may translate parts of one line
        texts_[place] = text;
        std::string line;
        for (const auto& [begin, part] : texts_) {
            line += (line.empty() ? "" : " ") + part;
        }
        on_text_(line);
    }
    return true;
}

}  // namespace headscope
