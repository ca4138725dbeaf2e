#include "viewer/session/text_parts.h"

#include <algorithm>

#include "infer/prepared_line.h"

namespace headscope::viewer {

TextParts::TextParts(const LoadedModel& translator)
    : model_{.path = translator.model().path,
             .config = translator.model().config,
             .source_tokenizer = translator.model().source_tokenizer,
             .target_tokenizer = translator.model().target_tokenizer},
      options_{.search = translator.search_options({}),
               .split_longer_than = translator.decoding_choices().split_longer_than,
               .warn_unsplit = false},
      longest_(translator.longest()) {}

const PartsOfText& TextParts::of(const std::string& text, const std::string& source_language,
                                 const std::string& target_language) const {
    Languages languages = options_.search.languages;
    languages.source = source_language.empty() ? languages.source : source_language;
    languages.target = target_language.empty() ? languages.target : target_language;
    if (!last_.has_value() || last_->text != text || last_->languages != languages) {
        last_ = Last{text, languages, split(text, languages)};
    }
    return last_->parts;
}

PartsOfText TextParts::split(const std::string& text, const Languages& languages) const {
    DecodingOptions options = options_;
    options.search.languages = languages;
    const PreparedLine line = prepare_line(model_, {.text = text}, options, longest_);
    PartsOfText parts{.wanted = std::min(options.split_longer_than.value_or(longest_), longest_)};
    for (const LinePart& unit : line.units) {
        parts.pieces += std::ssize(unit.sentence.source_ids);
        const ByteSpan span = unit.sentence.span;
        parts.sentences.push_back(text.substr(span.begin, span.end - span.begin));
    }
    if (parts.sentences.size() == 1) {
        parts.sentences.front() = text;
    }
    return parts;
}

}  // namespace headscope::viewer
