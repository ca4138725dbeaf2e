// docs/model-directory.md lists the keys and the parameters that the program has.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/atomic_file.h"
#include "io/whole_file.h"
#include "model/description.h"
#include "model/mixer.h"
#include "small_model.h"
#include "tests/house/files.h"

using namespace headscope;
using nlohmann::json;

namespace {

const std::string kPage = checkout_file("docs/model-directory.md");

// "always", "`tying` is `"all"`", "`tying` is not `"all"`", or several of these with "and".
bool holds(const std::string& condition, const json& keys) {
    const std::string one = "`([^`]*)` is (not )?`([^`]*)`";
    REQUIRE(std::regex_match(condition, std::regex("always|" + one + "( and " + one + ")*")));
    const std::regex part(one);
    return std::all_of(std::sregex_iterator(condition.begin(), condition.end(), part), std::sregex_iterator(),
                       [&](const std::smatch& found) {
                           return (keys.at(found[1].str()) == json::parse(found[3].str())) != found[2].matched;
                       });
}

// "attention.heads * attention.d_k, d_model - positions.columns": products, of which one may be subtracted
std::string shape_of(std::string text, const json& keys) {
    std::vector<std::int64_t> dims{1};
    const std::regex word(R"(- [\w.]+|[\w.]+|,)");
    for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) {
        if (at->str() == ",") {
            dims.push_back(1);
        } else if (at->str()[0] == '-') {
            dims.back() -= keys.at(at->str().substr(2)).get<std::int64_t>();
        } else {
            const bool number = std::isdigit(static_cast<unsigned char>(at->str()[0])) != 0;
            dims.back() *= number ? std::stoll(at->str()) : keys.at(at->str()).get<std::int64_t>();
        }
    }
    return fmt::format("[{}]", fmt::join(dims, ", "));
}

// Whether a layer ends with its recurrent part.
bool ends_early(const ModelConfig& config, const std::string& stack, int layer) {
    return stack == "encoder" && !config.attention.cross && layer + 1 == config.encoder_layers;
}

// What the table's *lstm*, *bidirectional gru* and so on stand for in a layer.
bool is_recurrent(const std::string& word, const ModelConfig& config, const std::string& stack, int layer) {
    const MixerKind kind = stack == "encoder" ? config.mixer.encoder : config.mixer.decoder;
    if (word == "recurrent") {
        return (kind == MixerKind::Lstm || kind == MixerKind::Gru) &&
               (!ends_early(config, stack, layer) || config.norm.placement == NormPlacement::Pre);
    }
    return word.ends_with(kind == MixerKind::Lstm  ? "lstm"
                          : kind == MixerKind::Gru ? "gru"
                                                   : "-") &&
           (!word.starts_with("bidirectional") || (config.mixer.bidirectional && stack == "encoder"));
}

// What the table's *stack*, *layer*, *attention* and the others stand for.
std::vector<std::string> prefixes(const std::string& word, const ModelConfig& config) {
    std::vector<std::string> all;
    for (std::size_t i = 0; word == "cluster" && i < config.output.adaptive.cutoffs.size(); ++i) {
        all.push_back("output.clusters." + std::to_string(i));
    }
    if (word == "cluster") {
        return all;
    }
    for (const std::string stack : {"encoder", "decoder"}) {
        const int layers = stack == "encoder" ? config.encoder_layers : config.decoder_layers;
        if (layers > 0 && (word == "stack" || (word == "end" && !ends_early(config, stack, layers - 1)))) {
            all.push_back(stack);
        }
        for (int i = 0; i < layers; ++i) {
            const std::string layer = stack + ".layers." + std::to_string(i);
            if (word == "layer" && !ends_early(config, stack, i)) {
                all.push_back(layer);
            }
            for (int e = 0; word == "expert" && e < config.feed_forward.experts.count && !ends_early(config, stack, i);
                 ++e) {
                all.push_back(layer + ".feed_forward.experts." + std::to_string(e));
            }
            const std::string mixer = mixer_part(stack == "encoder" ? config.mixer.encoder : config.mixer.decoder);
            if (word == "convolution" && mixer == word) {
                all.push_back(layer + ".convolution");
            }
            const AttentionKind self = stack == "encoder" ? AttentionKind::EncoderSelf : AttentionKind::DecoderSelf;
            const std::string cross = ".cross_attention";
            const bool has_cross = stack == "decoder" && attends(config, AttentionKind::Cross);
            for (const std::string& part : {"." + mixer, has_cross ? cross : "", std::string(".feed_forward")}) {
                if (word == "sublayer" && !part.empty() && !ends_early(config, stack, i)) {
                    all.push_back(layer + part);
                }
            }
            if ((word == "attention" || word == "self") && attends(config, self)) {
                all.push_back(layer + ".self_attention");
            }
            if (word == "attention" && has_cross) {
                all.push_back(layer + cross);
            }
            if (is_recurrent(word, config, stack, i)) {
                all.push_back(layer + ".recurrent");
            }
        }
    }
    return all;
}

// The keys, and what the page derives from them, for parameters whose names begin so.
json sizes_of(const ModelConfig& config, const std::string& prefix) {
    const ModelConfig own = prefix.starts_with("decoder") ? of_stack(config, AttentionKind::DecoderSelf) : config;
    json keys = flat_model_keys(own);
    keys["groups"] = own.attention.groups();
    keys["classes"] = own.output.labels.size();
    std::vector<std::int32_t> ends = config.output.adaptive.cutoffs;
    if (ends.empty()) {
        return keys;
    }
    keys["head_classes"] = ends.front() + std::ssize(ends);
    ends.push_back(static_cast<std::int32_t>(config.target_vocabulary));
    std::int64_t width = config.d_model;
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
        width /= config.output.adaptive.factor;
        if (prefix.ends_with("." + std::to_string(i))) {
            keys["cluster_width"] = width;
            keys["cluster_ids"] = ends[i + 1] - ends[i];
        }
    }
    return keys;
}

}  // namespace

// HEADSCOPE_UPDATE_GOLDENS=1 test_model "[docs]" writes the table into the page.
TEST_CASE("the page of the model directory has the program's table of keys", "[docs]") {
    std::string page = read_whole_file(kPage, kPage);
    const std::string begin = "<!-- keys -->\n";
    const std::size_t from = page.find(begin) + begin.size();
    const std::size_t length = page.find("<!-- /keys -->") - from;
    if (std::getenv("HEADSCOPE_UPDATE_GOLDENS") != nullptr) {
        page.replace(from, length, table_of_model_fields());
        atomic_write_file(kPage, page);
    } else {
        CHECK(page.substr(from, length) == table_of_model_fields());
    }
}

TEST_CASE("the page of the model directory lists every parameter with its shape", "[docs]") {
    const std::regex row(R"(\| (?:\*(.*)\*)?`(.*)` \| \[(.*)\] \| (.*) \|)");
    std::vector<NamedConfig> all = all_configs();
    for (const auto& more : {score_configs(), picture_configs()}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    for (const NamedConfig& varied : all) {
        INFO(varied.name);
        const json keys = flat_model_keys(varied.config);
        std::map<std::string, std::string> listed;
        std::istringstream page(read_whole_file(kPage, kPage));
        std::smatch found;
        for (std::string line; std::getline(page, line);) {
            if (!std::regex_match(line, found, row) || !holds(found[4], keys)) {
                continue;
            }
            for (const std::string& prefix :
                 found[1].matched ? prefixes(found[1], varied.config) : std::vector<std::string>{""}) {
                json sizes = sizes_of(varied.config, prefix);
                sizes["d"] = varied.config.d_model /
                             (varied.config.mixer.bidirectional && prefix.starts_with("encoder") ? 2 : 1);
                listed[prefix + found[2].str()] = shape_of(found[3], sizes);
            }
        }
        std::map<std::string, std::string> expected;
        for (const ParameterSpec& spec : describe(varied.config).parameters) {
            expected[spec.name] = spec.shape.to_string();
        }
        CHECK(listed == expected);
    }
}

TEST_CASE("a configuration of version 2 is read by the names that the page lists", "[docs]") {
    const std::string text = read_whole_file(kPage, kPage);
    const std::regex row(R"(\| `(\w+)` \| `([\w.]+)` \|\n)");
    for (const NamedConfig& varied : all_configs()) {
        INFO(varied.name);
        const ModelConfig& config = varied.config;
        json flat = flat_model_keys(config);
        json old = {{"format_version", 2}};
        for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
            old[at->str(1)] = flat.at(at->str(2));
            flat.erase(at->str(2));
        }
        for (const char* joined : {"attention.score", "embedding.norm", "positions.columns", "output.adaptive.cutoffs",
                                   "output.transform"}) {
            flat.erase(joined);
        }
        old.update(flat);  // later keys have no other name
        old["attention_score"] = config.attention.score == AttentionScore::Additive ? "additive" : "dot_product";
        old["scale_attention"] = config.attention.score != AttentionScore::DotProduct;
        old["embedding_norm"] = config.embedding.norm != EmbeddingNorm::None;
        old["embedding_norm_first"] = config.embedding.norm == EmbeddingNorm::First;
        old["position_combination"] = config.positions.columns > 0 ? "concatenate" : "add";
        old["position_columns"] = config.positions.columns;
        old["output_layer"] = config.adaptive() ? "adaptive" : "full";
        old["adaptive_cutoffs"] = config.output.adaptive.cutoffs;
        old["output_transform"] = config.output.transform != OutputTransform::None;
        old["gelu_transform"] = config.output.transform == OutputTransform::Gelu;
        CHECK(parse_model_config(old, "x") == config);
    }
}
