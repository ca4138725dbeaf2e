// Examples that are blocks of documents, for language models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/batch.h"
#include "data/corruption.h"
#include "data/document_store.h"
#include "data/example_source.h"
#include "data/task.h"

namespace headscope {

struct TextOptions {
    Task task = Task::Causal;
    std::int64_t longest = 128;  // positions of a block on either side, with special ids
    // Blocks of several documents, which do not attend to each other (Example::starts). Else, and for spans, a block
    // has one document. A document longer than a block continues in the next one.
    bool packed = true;
    bool whole_words = false;  // see mask_pieces
    Frame frame = {};
};

// Documents of a corpus, one after the other in the store.
struct WeightedDocuments {
    std::size_t documents = 0;
    double weight = 1.0;  // see passes_over
};

// Every epoch shuffles the documents and corrupts them differently.
class TextSource final : public ExampleSource {
public:
    // Error if there are no documents, or if the vocabulary lacks the control pieces of the task.
    TextSource(DocumentStore documents, std::vector<WeightedDocuments> corpora, TextVocabulary vocabulary,
               const TextOptions& options, std::uint64_t seed);

    Epoch epoch(std::int64_t number) const override;
    Example example(const Epoch& epoch, std::uint32_t number) const override;
    SideCounts tokens(const Epoch& epoch) const override;
    SideCounts longest() const override;
    std::int64_t predicted_tokens() const override;
    std::uint64_t fingerprint() const override { return documents_.fingerprint(); }

private:
    const TaskTraits& task() const { return traits(options_.task); }
    bool begins(std::uint32_t part) const;
    std::int64_t positions(std::uint32_t part) const;
    std::vector<std::int32_t> with_special_ids(std::uint32_t part) const;
    void cut(Epoch& epoch, std::size_t first, std::size_t last) const;
    Example block(const Epoch& epoch, std::uint32_t number) const;

    DocumentStore documents_;
    std::vector<WeightedDocuments> corpora_;
    TextVocabulary vocabulary_;
    TextOptions options_;
    std::uint64_t seed_;
};

}  // namespace headscope
