#include "eval/text_evaluation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "eval/white_space.h"

namespace headscope {

EncodedDocuments::EncodedDocuments(const std::string& path, DocumentForm form,
                                   std::shared_ptr<const Tokenizer> tokenizer, bool first_given)
    : reader_(path, form), tokenizer_(std::move(tokenizer)), first_given_(first_given), more_(reader_.next(part_)) {}

std::vector<EncodedDocument> EncodedDocuments::next() {
    constexpr std::size_t kPieces = 16384;
    std::vector<EncodedDocument> documents;
    std::size_t pieces = 0;
    for (; more_ && !(reader_.begins() && pieces >= kPieces); more_ = reader_.next(part_)) {
        if (reader_.begins()) {
            documents.emplace_back();
        }
        const std::size_t before = documents.back().pieces.size();
        add(documents.back());
        pieces += documents.back().pieces.size() - before;
    }
    return documents;
}

void EncodedDocuments::add(EncodedDocument& document) const {
    const std::vector<std::int32_t> pieces = tokenizer_->encode(part_);
    const JoinedText text = tokenizer_->normalised(part_);
    document.bytes += std::ssize(text.text) + (document.pieces.empty() ? 0 : 1);
    document.words += std::ssize(split_words(text.text));
    if (first_given_ && document.pieces.empty() && !pieces.empty()) {
        const std::string first = text.text.substr(0, text.spans.front().end);
        document.bytes -= std::ssize(first);
        document.words -= std::ssize(split_words(first));
    }
    document.pieces.insert(document.pieces.end(), pieces.begin(), pieces.end());
}

void TextEvaluation::add(const std::vector<EncodedDocument>& more, const std::vector<std::vector<ForcedToken>>& tokens,
                         std::int32_t unk_id) {
    for (const EncodedDocument& document : more) {
        ++documents;
        pieces += std::ssize(document.pieces);
        unknown += std::count(document.pieces.begin(), document.pieces.end(), unk_id);
        words += document.words;
        bytes += document.bytes;
    }
    for (const std::vector<ForcedToken>& of_document : tokens) {
        for (const ForcedToken& token : of_document) {
            statistics.add(token);
        }
    }
}

double TextEvaluation::perplexity_per_word() const {
    return std::exp(nats() / static_cast<double>(words));
}

double TextEvaluation::bits_per_byte() const {
    return nats() / std::numbers::ln2 / static_cast<double>(bytes);
}

}  // namespace headscope
