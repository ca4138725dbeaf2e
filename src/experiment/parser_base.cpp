// The base of studies that train parsers.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiment/studies.h"
#include "support/check.h"
#include "train/run_config.h"
#include "train/run_tokenizers.h"
#include "train/train_config.h"
#include "trees/tree_vocabulary.h"

namespace headscope {

void prepare_parser(nlohmann::json& base, const char* option) {
    base = with_flat_model(std::move(base));
    if (base["tokenizer"].value("shared", true)) {
        base["tokenizer"]["shared"] = false;
        base["tokenizer"]["target"] = {{"type", "words"}};
        base["model"]["embedding.tying"] = "target_output";
    }
    const TrainConfig config = RunConfig(base, option).parsed();
    std::vector<std::string> sequences;
    std::vector<std::string> files;
    for (const CorpusFiles& corpus : config.data.valid) {
        std::ranges::copy(corpus.all(), std::back_inserter(files));
        for_each_reader(corpus, [&](PairReader& reader) {
            for (std::string source, target; reader.next(source, target);) {
                sequences.push_back(std::move(target));
            }
        });
    }
    const bool has_words = config.tokenizer.target.type == TokenizerType::Words;
    if (!has_words || !terminals_of_sequences(sequences)) {
        throw Error(fmt::format("{}: {}", option,
                                has_words
                                    ? fmt::format("the targets of {} are not trees: make them with headscope trees "
                                                  "linearise (docs/parsing.md)",
                                                  fmt::join(files, ", "))
                                    : "the configuration's target must be {\"type\": \"words\"}"));
    }
}

}  // namespace headscope
