// Any bytes as a training configuration: refused with an Error, or one that can be used.
#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz.h"
#include "train/train_config.h"

using namespace headscope;

std::vector<std::string> headscope::fuzz_seeds() {
    return {
        R"({"model":{"d_model":64,"heads":4,"encoder_layers":2},"data":{"train":{"tsv":"a.tsv"}},"tokenizer":{},"training":{"steps":100}})",
        R"({"model":{"tying":"none"},"data":{"train":{"source":["a.en"],"target":["a.de"]},"valid":{"source":"b.en","target":"b.de"}},)"
        R"("tokenizer":{"type":"unigram","vocabulary":500,"shared":false},)"
        R"("training":{"epochs":1.5,"source_tokens":2000,"target_tokens":2000,"warmup_steps":10,"label_smoothing":0.1}})",
    };
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto json = nlohmann::json::parse(as_text(data, size), nullptr, false);
    if (json.is_discarded()) {
        return 0;
    }
    try {
        const TrainConfig config = parse_train_config(json, "fuzz.json", "/data");
        check_train_config(config);
        HEADSCOPE_CHECK(!config.identity().empty(), "a run without identity");
        config.schedule(config.model_config(500, 500));
    } catch (const Error&) {
    }
    return 0;
}
