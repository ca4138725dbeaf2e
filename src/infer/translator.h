// Text in, text out: tokenizer, beam search, tokenizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "infer/prepared_line.h"
#include "infer/translation.h"
#include "model/model_directory.h"
#include "model/transformer.h"

namespace headscope {

// Takes the next results in order, possibly none, and how many are finished by now, in order or not.
using TranslatedSink = std::function<void(std::vector<TranslatedSentence> next, std::size_t finished)>;

class Translator {
public:
    // Error names what is wrong with the directory. `storage` is what the weights that are multiplied, and with them
    // the activations, are kept in (Parameters). The backend outlives the translator.
    Translator(Backend& backend, const std::string& directory, DType storage = DType::F32);
    // Several models that translate together: the next token's probability is the mean of theirs. Error where their
    // vocabularies are not alike. The first is the one that model(), parameters() and transformer() speak of.
    Translator(Backend& backend, const std::vector<std::string>& directories, DType storage = DType::F32);
    // The same of a model in memory, as while it is being trained.
    Translator(Backend& backend, ModelDirectory model, std::shared_ptr<const Parameters> parameters);

    const ModelDirectory& model() const { return model_; }
    const Parameters& parameters() const { return *parameters_; }
    const Transformer& transformer() const { return *transformer_; }
    std::vector<const Transformer*> transformers() const;  // of all models
    std::int64_t longest() const { return longest_; }      // source or target that all models take, end included

    // One result a line, in order. Lines of similar length go together; a translation does not depend on the others,
    // but where two hypotheses' scores differ by less than the rounding of float sums, which depends on shapes. A line
    // that cannot be translated (too long, not UTF-8) says so in `problem`, and the others are translated.
    std::vector<TranslatedSentence> translate(const std::vector<std::string>& lines,
                                              const TranslationOptions& options) const;
    std::vector<TranslatedSentence> translate_sources(const std::vector<SourceLine>& lines,
                                                      const TranslationOptions& options) const;
    // The same for those who wait: after each batch `sink` gets the results before which none is missing any more.
    void translate_in_order(const std::vector<SourceLine>& lines, const TranslationOptions& options,
                            const TranslatedSink& sink) const;
    void translate_in_order(const std::vector<std::string>& lines, const TranslationOptions& options,
                            const TranslatedSink& sink) const;
    // Error for a line that cannot be translated.
    TranslatedSentence translate_line(const std::string& line, const TranslationOptions& options) const;

private:
    struct Work {
        std::vector<TranslationUnit> units;  // of all lines, side by side; not translated yet
        std::vector<std::size_t> line_of;    // of each unit
        struct Line {
            std::size_t first_unit = 0;
            std::size_t units = 0;
            std::size_t waiting = 0;  // units that are not translated yet
            std::string remark = {};
        };
        std::vector<Line> lines;
        std::vector<std::vector<std::size_t>> batches;  // of the units that have pieces
    };
    Work prepare(const std::vector<SourceLine>& lines, const TranslationOptions& options) const;
    void translate_batch(Work& work, const std::vector<std::size_t>& batch, const TranslationOptions& options) const;
    static TranslatedSentence finished_line(Work& work, std::size_t line, const TranslationOptions& options);

    Backend& backend_;
    ModelDirectory model_;
    std::shared_ptr<const Parameters> parameters_;
    std::shared_ptr<const Transformer> transformer_;
    struct Member {
        std::shared_ptr<const Parameters> parameters;
        std::shared_ptr<const Transformer> transformer;
    };
    std::vector<Member> others_;  // of an ensemble, beside the first
    std::int64_t longest_;
};

// Which of these lengths go together: indices in batches of similar length whose rows * longest, padded, stays within
// `budget` (a longer one goes alone). Entries of length 0 are left out.
std::vector<std::vector<std::size_t>> batches_by_length(const std::vector<std::int64_t>& lengths, std::int64_t budget);

}  // namespace headscope
