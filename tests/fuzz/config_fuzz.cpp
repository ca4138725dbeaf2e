// Any bytes as config.json: refused with an Error, or a configuration that says the same when it is written and read
// again. The same bytes as decoding.json: refused, or a search that can be made.
#include <nlohmann/json.hpp>
#include <optional>

#include "infer/decoding_choices.h"
#include "model/config.h"
#include "tests/fuzz/fuzz.h"

using namespace headscope;

std::vector<std::string> headscope::fuzz_seeds() {
    ModelConfig tied;
    tied.source_vocabulary = 8000;
    tied.target_vocabulary = 8000;
    ModelConfig apart = tied;
    apart.target_vocabulary = 500;
    apart.embedding.tying = Tying::None;
    apart.positions.kind = Positions::Learned;
    apart.norm.placement = NormPlacement::Pre;
    return {to_json(tied).dump(), to_json(apart).dump(1),
            R"({"beam": 6, "length_penalty": 1.0, "length_penalty_form": "power", "max_extra": 9, "no_repeat_ngram": 4,
            "split_longer_than": 30})"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto json = nlohmann::json::parse(as_text(data, size), nullptr, false);
    if (json.is_discarded()) {
        return 0;
    }
    std::optional<DecodingChoices> choices;
    run_or_refuse([&] { choices = parse_decoding_choices(json, "fuzz"); });
    if (choices) {
        check_search_options(choices->over({}));  // an Error here is a find
    }
    try {
        const ModelConfig config = parse_model_config(json, "fuzz");
        check_model_config(config, "fuzz");
        HEADSCOPE_CHECK(count_parameters(config) > 0, "a model without parameters");
        HEADSCOPE_CHECK(parse_model_config(to_json(config), "again") == config,
                        "a configuration that changes when written");
    } catch (const Error&) {
    }
    return 0;
}
