// Models with the head of another task, of one stack, and of families that are not read.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "import/open_model.h"
#include "tests/import/broken_model.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

// Adds a tensor without values behind the others, under the name of a classifier's.
void add_head(const BrokenModel& model, const std::string& name) {
    model.change_header("model.safetensors", [&](json& header) {
        std::int64_t end = 0;
        for (const auto& [known, entry] : header.items()) {
            end = known == "__metadata__" ? end : std::max(end, entry["data_offsets"][1].get<std::int64_t>());
        }
        header[name] = {{"dtype", "F32"}, {"shape", {0}}, {"data_offsets", {end, end}}};
    });
}

// Gives the tensors of one stack other names.
void drop(const BrokenModel& model, const std::string& stack) {
    model.change_header("model.safetensors", [&](json& header) {
        json renamed = json::object();
        for (const auto& [name, entry] : header.items()) {
            const std::size_t at = name.find(stack);
            renamed[at == std::string::npos ? name : std::string(name).replace(at, stack.size(), "gone.")] = entry;
        }
        header = std::move(renamed);
    });
}

}  // namespace

TEST_CASE("a model with the head of another task opens, with a remark", "[import]") {
    for (const auto& [folder, head] : {std::pair{"hf-gpt2", "score.weight"},
                                       {"hf-bart", "classification_head.out_proj.weight"},
                                       {"hf-t5", "qa_outputs.weight"}}) {
        INFO(folder);
        const BrokenModel model(folder);
        add_head(model, head);
        CHECK(model.complaint().empty());
        const ModelDirectory opened = open_model(model.path());
        REQUIRE_FALSE(opened.remarks.empty());
        CHECK_THAT(opened.remarks.back(), Contains("has the head of another task"));
    }
}

TEST_CASE("a file with one stack of a translation model is one clear error", "[bad_input]") {
    for (const auto& [folder, dropped, lacks] :
         std::vector<std::tuple<const char*, const char*, const char*>>{{"hf-bart", "encoder.", "holds no encoder"},
                                                                        {"hf-t5", "decoder.", "holds no decoder"},
                                                                        {"hf-umt5", "decoder.", "holds no decoder"}}) {
        INFO(folder);
        const BrokenModel model(folder);
        drop(model, dropped);
        const std::string complaint = model.complaint();
        CHECK_THAT(complaint, Contains(model.path()) && Contains(lacks) && Contains("needs both stacks"));
        CHECK_THAT(complaint, !Contains("problems"));
    }
}

TEST_CASE("a family that is not read is refused with its reason", "[bad_input]") {
    const auto complaint = [](const json& config) {
        const BrokenModel model("hf-gpt2");
        model.write("config.json", config.dump());
        return model.complaint();
    };
    CHECK_THAT(complaint({{"model_type", "codegen"}}),
               Contains("\"codegen\", which needs queries, keys and values packed in four parts; supported are"));
    CHECK_THAT(complaint({{"model_type", "unheard-of"}, {"alibi", true}, {"num_local_experts", 8}}),
               Contains("which needs ALiBi, a mixture of experts; supported are"));
    CHECK_THAT(complaint({{"model_type", "unheard-of"}}), Contains("\"unheard-of\"; supported are"));
}

TEST_CASE("a RoBERTa whose feed-forward has another activation keeps the head's own", "[import]") {
    const BrokenModel model("hf-roberta-relu");
    CHECK(open_model(model.path()).config.output.transform == OutputTransform::Gelu);
    model.change_json("config.json", [](json& config) { config["hidden_act"] = "gelu"; });
    CHECK(open_model(model.path()).config.output.transform == OutputTransform::Activation);
}
