// Text in, text out: tokenizer, beam search, tokenizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "infer/hypotheses.h"
#include "model/model_directory.h"
#include "model/transformer.h"

namespace headscope {

struct TranslationOptions {
    SearchOptions search;
    // Padded source tokens that are translated at a time, so that memory stays bounded. One sentence always fits.
    std::int64_t batch_tokens = 1024;
    Compute compute = Compute::F32;  // of products, see Matmul::compute
};

struct TranslatedSentence {
    std::vector<std::int32_t> source_ids;  // with eos; empty for an empty line
    std::vector<std::int32_t> target_ids;  // with eos, unless it was cut
    std::string text;
    double log_probability = 0.0;
    double score = 0.0;  // log_probability / lp(length)
    EndReason end = EndReason::EndOfSentence;
    std::string problem;  // why there is no translation, such as a line too long for the model; normally empty
};

// Takes the next results in order, possibly none, and how many are finished by now, in order or not.
using TranslatedSink = std::function<void(std::vector<TranslatedSentence> next, std::size_t finished)>;

class Translator {
public:
    // Error names what is wrong with the directory. `storage` is what the weights that are multiplied, and with them
    // the activations, are kept in (Parameters). The backend outlives the translator.
    Translator(Backend& backend, const std::string& directory, DType storage = DType::F32);
    // The same of a model in memory, as while it is being trained.
    Translator(Backend& backend, ModelDirectory model, std::shared_ptr<const Parameters> parameters);

    const ModelDirectory& model() const { return model_; }
    const Parameters& parameters() const { return *parameters_; }
    const Transformer& transformer() const { return *transformer_; }

    // One result a line, in order. Lines of similar length go together; a translation does not depend on the others,
    // but where two hypotheses' scores differ by less than the rounding of float sums, which depends on shapes. A line
    // that cannot be translated (too long, not UTF-8) says so in `problem`, and the others are translated.
    std::vector<TranslatedSentence> translate(const std::vector<std::string>& lines,
                                              const TranslationOptions& options) const;
    // The same for those who wait: after each batch `sink` gets the results before which none is missing any more.
    void translate_in_order(const std::vector<std::string>& lines, const TranslationOptions& options,
                            const TranslatedSink& sink) const;
    // Error for a line that cannot be translated.
    TranslatedSentence translate_line(const std::string& line, const TranslationOptions& options) const;

private:
    struct Work {
        std::vector<TranslatedSentence> sentences;      // of each line; not translated yet
        std::vector<std::vector<std::size_t>> batches;  // of those that hold text
    };
    Work prepare(const std::vector<std::string>& lines, const TranslationOptions& options) const;
    TranslatedSentence prepare_line(const std::string& line) const;
    void translate_batch(Work& work, const std::vector<std::size_t>& batch, const TranslationOptions& options) const;

    Backend& backend_;
    ModelDirectory model_;
    std::shared_ptr<const Parameters> parameters_;
    std::shared_ptr<const Transformer> transformer_;
};

// Which of these lengths go together: indices in batches of similar length whose rows * longest, padded, stays within
// `budget` (a longer one goes alone). Entries of length 0 are left out.
std::vector<std::vector<std::size_t>> batches_by_length(const std::vector<std::int64_t>& lengths, std::int64_t budget);

}  // namespace headscope
