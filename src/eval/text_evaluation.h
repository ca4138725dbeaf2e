// How well a language model predicts the documents of a text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/document_reader.h"
#include "eval/forced_statistics.h"
#include "text/tokenizer.h"

namespace headscope {

struct EncodedDocument {
    std::vector<std::int32_t> pieces = {};
    // Of the text as the tokenizer normalises it, with a space between its lines; without the first piece and its word
    // if it is given.
    std::int64_t bytes = 0;  // UTF-8
    std::int64_t words = 0;  // separated by white space
};

// Encodes the documents of a file of any size.
class EncodedDocuments {
public:
    // `first_given`: the model predicts each document but its first piece.
    EncodedDocuments(const std::string& path, DocumentForm form, std::shared_ptr<const Tokenizer> tokenizer,
                     bool first_given = false);

    // The next documents, of some thousand pieces in all; empty at the end. Errors of DocumentReader::next().
    std::vector<EncodedDocument> next();
    const std::string& name() const { return reader_.lines().name(); }  // of the file, for messages

private:
    void add(EncodedDocument& document) const;

    DocumentReader reader_;
    std::shared_ptr<const Tokenizer> tokenizer_;
    bool first_given_;
    std::string part_;  // the next part, if there are more
    bool more_;
};

struct TextEvaluation {
    ForcedStatistics statistics;
    std::int64_t documents = 0, pieces = 0, unknown = 0, words = 0, bytes = 0;  // without the ends of documents

    // `tokens` are those of force_texts().
    void add(const std::vector<EncodedDocument>& more, const std::vector<std::vector<ForcedToken>>& tokens,
             std::int32_t unk_id);
    // Of all tokens together, including the ends of documents.
    double nats() const { return statistics.nll() * static_cast<double>(statistics.tokens()); }
    // Infinite if there is none.
    double perplexity_per_word() const;
    double bits_per_byte() const;
};

}  // namespace headscope
