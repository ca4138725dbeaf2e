#include "train/encode_documents.h"

#include <utility>

#include <fmt/format.h>

#include "data/document_reader.h"
#include "data/text_source.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/parallel.h"
#include "train/run_tokenizers.h"

namespace headscope {
namespace {

// Encodes parts of documents on several threads and stores them in order.
class DocumentEncoder {
public:
    DocumentEncoder(const Tokenizer& tokenizer, DocumentStore& store) : tokenizer_(tokenizer), store_(store) {}

    void add(const std::string& file, DocumentForm form) {
        constexpr std::size_t kAtOnce = 16384;
        DocumentReader reader(file, form);
        for (std::string text; reader.next(text);) {
            parts_.push_back({std::move(text), reader.begins(), {}});
            if (parts_.size() == kAtOnce) {
                encode();
            }
        }
        encode();
    }

private:
    struct Part {
        std::string text;
        bool begins = false;
        std::vector<std::int32_t> pieces;
    };

    void encode() {
        constexpr std::size_t kLeast = 256;  // fewer are not worth a thread
        in_parallel(parts_.size(), kLeast, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                parts_[i].pieces = tokenizer_.encode(parts_[i].text);
            }
        });
        for (const Part& part : std::exchange(parts_, {})) {
            if (part.begins) {
                store_.begin();
            }
            store_.add(part.pieces);
        }
    }

    const Tokenizer& tokenizer_;
    DocumentStore& store_;
    std::vector<Part> parts_;
};

}  // namespace

std::shared_ptr<const ExampleSource> encode_documents(const TrainConfig& config, const TrainingData& data,
                                                      const std::vector<CorpusFiles>& corpora, Part which,
                                                      const std::string& folder, const Log& say) {
    const bool train = which == Part::Train;
    const Tokenizer& tokenizer = *data.target_tokenizer;
    DocumentStore store(folder);
    std::vector<WeightedDocuments> weighted;
    for (std::size_t i = 0; i < corpora.size(); ++i) {
        const std::size_t documents = store.documents();
        const std::int64_t pieces = store.pieces();
        DocumentEncoder encoder(tokenizer, store);
        for (const std::string& file : corpora[i].text) {
            encoder.add(file, config.data.documents);
        }
        weighted.push_back({store.documents() - documents, corpora[i].weight});
        if (weighted.back().documents == 0) {
            throw_no_examples(config, corpus_key(which, corpora, i), corpora[i], 0);
        }
        say(fmt::format("{}: {}, {} tokens", corpus_title(which, corpora, i),
                        counted(weighted.back().documents, "document"), store.pieces() - pieces));
    }
    const TextOptions options{.task = config.task,
                              .longest = config.training.max_length,
                              .packed = train,
                              .whole_words = config.data.whole_words,
                              .frame = data.frame};
    // The masks of validation do not depend on the seed, so that runs can be compared.
    const auto seed = train ? static_cast<std::uint64_t>(config.training.seed) : 0;
    try {
        return std::make_shared<const TextSource>(std::move(store), std::move(weighted), text_vocabulary(tokenizer),
                                                  options, seed);
    } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", config.file, error.what()));
    }
}

}  // namespace headscope
