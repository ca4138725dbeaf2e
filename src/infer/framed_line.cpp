#include "infer/framed_line.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "text/target_mark.h"

namespace headscope {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool lines_choose_target(const ModelDirectory& model) {
    const std::vector<std::int32_t>& begin = model.config.frame.source_begin;
    if (std::ranges::find(begin, kTargetLanguage) == begin.end()) {
        return false;
    }
    const auto& [name, id] = *model.config.frame.languages.begin();
    return model.source_tokenizer->piece(id) == target_mark(name);
}

// The frame with the pieces of the task's prefix before those of a source.
Frame framed(const ModelDirectory& model, const Languages& chosen) {
    Frame frame = frame_of(model.config, chosen);
    if (!chosen.task_prefix.empty()) {
        const std::vector<std::int32_t> ids = model.source_tokenizer->encode(chosen.task_prefix);
        frame.source_begin.insert(frame.source_begin.end(), ids.begin(), ids.end());
    }
    return frame;
}

}  // namespace

FramedLine frame_line(const ModelDirectory& model, const Languages& languages, std::string_view line) {
    Languages chosen = languages;
    const std::string_view text = line.substr(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (text.starts_with(">>") && lines_choose_target(model)) {
        const std::size_t end = std::min(text.find_first_of(kBlanks), text.find("<<"));
        if (end != std::string_view::npos && text.substr(end).starts_with("<<")) {
            chosen.target = text.substr(2, end - 2);
            line = text.substr(end + 2);
        }
    }
    return {framed(model, chosen), line};
}

Frame any_frame(const ModelDirectory& model, const Languages& languages) {
    Languages chosen = languages;
    if (chosen.target.empty() && lines_choose_target(model)) {
        chosen.target = model.config.frame.languages.begin()->first;
    }
    return framed(model, chosen);
}

}  // namespace headscope
