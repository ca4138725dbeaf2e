#include "viewer/session/text_notes.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "text/segmenter.h"

namespace headscope::viewer {

namespace {

constexpr std::size_t kListed = 5;

std::string text_of(const RecordedToken& token) {
    const std::string& piece = token.text;
    return piece.starts_with(kWordStart) ? piece.substr(kWordStart.size()) : piece;
}

}  // namespace

std::string note_on_length(const Scene& scene) {
    const Side& side = scene.main;
    if (side.answered.has_value() && side.answered->layer.has_value()) {
        return "The text is long: only the weights of the layer shown are kept. Each other one takes another pass.";
    }
    const PartsOfText* found = side.model.has_value() ? parts_of(scene.state, *side.model) : nullptr;
    if (found == nullptr) {
        return "";
    }
    const PartsOfText& parts = *found;
    if (parts.sentences.size() > 1) {
        return fmt::format(
            "Sentence {} of {}: the text has {} pieces, and this model translates sentences of up to {}.",
            shown_sentence(scene.state, parts) + 1, parts.sentences.size(), parts.pieces, parts.wanted);
    }
    return parts.wanted > 0 && parts.pieces > parts.wanted
               ? fmt::format(
                     "The text has {} pieces, but no end of a sentence to split it at: this model may leave out "
                     "parts of texts of more than {}.",
                     parts.pieces, parts.wanted)
               : "";
}

std::string note_on_unknown(const Scene& scene) {
    const Side& side = scene.main;
    if (side.shown == nullptr || !side.shown->problem.empty()) {
        return "";
    }
    const AttentionRecord& record = side.shown->record;
    std::vector<std::string> unknown;
    bool any = false;
    for (const RecordedToken& token : record.source.empty() ? record.target_in : record.source) {
        const std::string text = text_of(token);
        any = any || token.kind == TokenKind::Unknown;
        // Some texts are recorded without what an unknown piece was made of.
        const bool named = token.kind == TokenKind::Unknown && text != "<unk>" && text != "[UNK]";
        if (named && std::find(unknown.begin(), unknown.end(), text) == unknown.end()) {
            unknown.push_back(text);
        }
    }
    if (unknown.empty()) {
        return any ? "Some characters are not in the model's vocabulary, and are read as its unknown piece." : "";
    }
    std::string listed;
    for (std::size_t i = 0; i < std::min(unknown.size(), kListed); ++i) {
        listed += fmt::format("{}\u201C{}\u201D", i == 0 ? "" : ", ", unknown[i]);
    }
    const std::string more = unknown.size() > kListed ? fmt::format(" and {} more", unknown.size() - kListed) : "";
    return fmt::format("Not in the model's vocabulary, and read as its unknown piece: {}{}.", listed, more);
}

}  // namespace headscope::viewer
