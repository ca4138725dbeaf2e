#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "model/config.h"
#include "model/model_keys.h"
#include "small_model.h"
#include "support/check.h"
#include "support/fields.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::string parse_error(const json& object) {
    try {
        parse_model_config(object, "config.json");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::string check_error(const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = small_config();
    change(config);
    try {
        check_model_config(config, "config.json");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// Counts a section's fields, with those of the sections in it.
template <class Section>
std::size_t count_fields(const Section& section) {
    std::size_t count = 0;
    for_each_field(section, [&](const auto& field) {
        if constexpr (std::is_aggregate_v<std::decay_t<decltype(field)>>) {
            count += count_fields(field);
        } else {
            ++count;
        }
    });
    return count;
}

}  // namespace

TEST_CASE("a configuration is unchanged after writing and reading") {
    for (NamedConfig& varied : all_configs()) {
        INFO(varied.name);
        varied.config.norm.epsilon = 1e-5F;
        varied.config.frame.pad_id = 3;
        varied.config.frame.unk_id = 0;
        varied.config.frame.suppressed_ids = {3, 5};
        if (varied.config.architecture == Architecture::EncoderDecoder) {
            varied.config.frame.source_begin = {kTargetLanguage, 4};
            varied.config.frame.source_end = {};
            varied.config.frame.target_begin = {kSourceLanguage};
            varied.config.frame.languages = {{"deu", 7}, {"\u00e9", 8}};
        }
        CHECK(parse_model_config(to_json(varied.config), "x") == varied.config);
        CHECK(parse_model_config(json::parse(to_json(varied.config).dump()), "x") == varied.config);
    }
    CHECK(to_json(ModelConfig{})["norm"]["epsilon"].dump() == "1e-06");
    CHECK(parse_model_config(json::object(), "x").d_model == 512);  // the paper's base model
}

TEST_CASE("each field has a row in the table of keys") {
    CHECK(flat_model_keys(ModelConfig{}).size() == count_fields(ModelConfig{}));
}

TEST_CASE("each choice and flag is varied by some configuration of the tests") {
    auto varied = all_configs();
    for (const auto& more : {score_configs(), picture_configs()}) {
        varied.insert(varied.end(), more.begin(), more.end());
    }
    const json usual = flat_model_keys(small_config());
    for (const auto& [key, value] : usual.items()) {
        if (value.is_boolean() || value.is_string()) {
            INFO(key);
            CHECK(std::any_of(varied.begin(), varied.end(),
                              [&](const NamedConfig& one) { return flat_model_keys(one.config)[key] != value; }));
        }
    }
}

TEST_CASE("absent sizes are derived from the present ones") {
    const ModelConfig config =
        parse_model_config({{"d_model", 96}, {"heads", 4}, {"source_vocabulary", 70}}, "config.json");
    CHECK(config.attention.d_k == 24);
    CHECK(config.attention.d_v == 24);
    CHECK(config.target_vocabulary == 70);
    CHECK(parse_model_config({{"d_model", 96}, {"heads", 4}, {"d_v", 5}}, "x").attention.d_v == 5);
    CHECK_THAT(parse_error({{"d_model", 100}, {"heads", 8}}), Contains("config.json") && Contains("d_model 100") &&
                                                                  Contains("heads 8") && Contains("\"attention.d_k\""));
    CHECK(parse_error({{"d_model", 100}, {"heads", 8}, {"d_k", 12}, {"d_v", 12}}).empty());
}

TEST_CASE("a source ends with the end of sentence unless the configuration names other ids") {
    CHECK(ModelConfig{}.frame.source_end == std::vector<std::int32_t>{2});
    CHECK(parse_model_config({{"eos_id", 5}}, "x").frame.source_end == std::vector<std::int32_t>{5});
    CHECK(parse_model_config({{"source_end", json::array()}}, "x").frame.source_end.empty());
    CHECK(parse_model_config({{"source_end", {6, "source_language"}}}, "x").frame.source_end ==
          std::vector<std::int32_t>{6, kSourceLanguage});
}

TEST_CASE("ids around texts are rejected by key") {
    CHECK_THAT(parse_error({{"source_begin", 3}}), Contains("\"frame.source_begin\" must be a list"));
    CHECK_THAT(parse_error({{"source_begin", {"target"}}}),
               Contains("\"frame.source_begin\"") && Contains("`\"target_language\"`; found \"target\""));
    CHECK_THAT(parse_error({{"target_begin", {-2}}}), Contains("\"frame.target_begin\"") && Contains("found -2"));
    CHECK_THAT(parse_error({{"suppressed_ids", {"source_language"}}}), Contains("\"frame.suppressed_ids\""));
    CHECK_THAT(parse_error({{"suppressed_ids", {1.5}}}), Contains("\"frame.suppressed_ids\"") && Contains("found 1.5"));
    CHECK_THAT(parse_error({{"target_begin", {"target_language"}}, {"languages", {3}}}),
               Contains("\"frame.languages\"") && Contains("found [3]"));
    CHECK_THAT(parse_error({{"target_begin", {"target_language"}}, {"languages", {{"deu", "x"}}}}),
               Contains("\"frame.languages\"") && Contains("found \"x\""));
    CHECK_THAT(check_error([](ModelConfig& c) { c.frame.source_end = {11}; }),
               Contains("\"frame.source_end\" must be below 11"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.frame.suppressed_ids = {11}; }),
               Contains("\"frame.suppressed_ids\""));
    CHECK_THAT(check_error([](ModelConfig& c) { c.frame.suppressed_ids = {2}; }),
               Contains("must not contain eos_id 2"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.frame.target_begin = {kTargetLanguage}; }),
               Contains("\"frame.languages\" must name"));
    CHECK_THAT(check_error([](ModelConfig& c) {
                   c.frame.languages = {{"deu", 4}};
               }),
               Contains("\"frame.languages\" must be left out unless"));
    CHECK_THAT(check_error([](ModelConfig& c) {
                   c.frame.target_begin = {kTargetLanguage};
                   c.frame.languages = {{"deu", 11}};
               }),
               Contains("\"frame.languages\" must be below 11"));
    CHECK(check_error([](ModelConfig& c) {  // ids of vocabularies of different sizes
              c.embedding.tying = Tying::None;
              c.target_vocabulary = 20;
              c.frame.pad_id = 19;
              c.frame.bos_id = c.frame.eos_id = 15;
              c.frame.unk_id = 16;
          })
              .empty());
    CHECK(check_error([](ModelConfig& c) { c.frame.pad_id = c.frame.bos_id = c.frame.unk_id = -1; }).empty());
    CHECK_THAT(check_error([](ModelConfig& c) {
                   c.positions.first = 2;
                   c.positions.kind = Positions::Learned;
               }),
               Contains("\"positions.first\" must be left out unless \"positions.kind\" is \"sinusoid\", found 2"));
    CHECK(parse_model_config({{"position_combination", "concatenate"}}, "x").positions.columns == 256);
    CHECK(parse_model_config(json::object(), "x").positions.columns == 0);
    const auto language_model = [](const std::function<void(ModelConfig&)>& change) {
        return check_error([&](ModelConfig& c) {
            c.architecture = Architecture::MaskedLm;
            c.decoder_layers = 0;
            c.frame.mask_id = 4;
            change(c);
        });
    };
    CHECK_THAT(language_model([](ModelConfig& c) { c.frame.bos_id = -1; }),
               Contains("\"frame.bos_id\"") && Contains("found -1"));
    CHECK_THAT(language_model([](ModelConfig& c) { c.frame.source_begin = {3}; }),
               Contains("\"frame.source_begin\" must be left out unless \"architecture\" is \"encoder-decoder\""));
    CHECK_THAT(language_model([](ModelConfig& c) {
                   c.positions.kind = Positions::Normalised;
                   c.embedding.token_types = 2;
               }),
               Contains("\"embedding.token_types\" must be left out unless \"positions.kind\" is not \"normalised\""));
}

TEST_CASE("errors of reading name file, key, the expected and the found value") {
    CHECK_THAT(parse_error(json::array()), Contains("config.json") && Contains("object") && Contains("found array"));
    CHECK_THAT(parse_error({{"d_modle", 512}}),
               Contains("\"d_modle\" is unknown; did you mean \"d_model\"? Known here: architecture, "));
    CHECK_THAT(parse_error({{"d_model", "512"}}),
               Contains("\"d_model\"") && Contains("whole number") && Contains("found \"512\""));
    CHECK_THAT(parse_error({{"d_model", 512.5}}), Contains("\"d_model\"") && Contains("512.5"));
    CHECK_THAT(parse_error({{"heads", 18446744073709551615U}}),
               Contains("\"attention.heads\"") && Contains("18446744073709551615"));
    CHECK_THAT(parse_error({{"encoder_layers", 4294967296}}), Contains("\"encoder_layers\""));
    CHECK_THAT(parse_error({{"pad_id", -2147483649}}), Contains("\"frame.pad_id\""));
    CHECK_THAT(parse_error({{"norm", "between"}}), Contains("\"norm.placement\"") &&
                                                       Contains("\"post\", \"pre\", \"sandwich\", \"inside\"") &&
                                                       Contains("\"between\""));
    CHECK_THAT(parse_error({{"activation", "none"}}),
               Contains("\"relu\", \"gelu\", \"gelu_tanh\", \"gelu_sigmoid\", \"swish\""));
    CHECK_THAT(parse_error({{"output_bias", 1}}), Contains("\"output.bias\"") && Contains("true or false"));
    CHECK_THAT(parse_error({{"layer_norm_epsilon", "small"}}), Contains("\"norm.epsilon\"") && Contains("a number"));
    CHECK_THAT(parse_error({{"format_version", 4}}),
               Contains("\"format_version\"") && Contains("must be 1 to 3, found 4"));
    CHECK_THAT(parse_error({{"format_version", 1}, {"architecture", "causal-lm"}}),
               Contains("\"format_version\"") && Contains("must be 2 or more for this architecture, found 1"));
    CHECK_THAT(parse_error({{"architecture", "decoder"}}), Contains("\"architecture\"") && Contains("encoder-decoder"));
}

TEST_CASE("impossible configurations are rejected by key") {
    CHECK(check_error([](ModelConfig&) {}).empty());
    CHECK_THAT(check_error([](ModelConfig& c) { c.attention.heads = 0; }),
               Contains("\"attention.heads\"") && Contains("found 0"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.attention.d_k = -1; }),
               Contains("\"attention.d_k\"") && Contains("found -1"));
    CHECK_THAT(check_error([](ModelConfig& c) {  // the encoder's has 33792 rows
                   c.d_model = 1 << 15;
                   c.attention.d_k = c.attention.d_v = 512;
                   c.attention.heads = 64;
                   c.attention.kv_heads = c.attention.decoder_heads = 1;
               }),
               Contains("the q, k and v matrix would have 98304 x 32768 entries"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.encoder_layers = 0; }), Contains("\"encoder_layers\""));
    CHECK_THAT(check_error([](ModelConfig& c) { c.decoder_layers = 0; }), Contains("\"decoder_layers\""));
    CHECK_THAT(check_error([](ModelConfig& c) { c.mixer.encoder = MixerKind::Restricted; }),
               Contains("\"mixer.window\" must be a whole number from 1") && Contains("found 0"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.mixer.window = 3; }),
               Contains("\"mixer.window\" must be left out unless \"mixer.encoder\" or") && Contains("found 3"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.mixer.window = -1; }), Contains("\"mixer.window\""));
    CHECK_THAT(check_error([](ModelConfig& c) {
                   c.architecture = Architecture::CausalLm;
                   c.encoder_layers = 0;
                   c.mixer.encoder = MixerKind::Restricted;
                   c.mixer.window = 3;
               }),
               Contains("\"mixer.encoder\" must be left out unless \"architecture\" has an encoder"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.d_model = 7; }), Contains("even") && Contains("found 7"));
    CHECK(check_error([](ModelConfig& c) {
              c.d_model = 7;
              c.positions.kind = Positions::Learned;
          }).empty());
    CHECK_THAT(check_error([](ModelConfig& c) {
                   c.d_model = 2;
                   c.positions.layout = SinusoidLayout::HalvesMinusOne;
               }),
               Contains("at least 4"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.source_vocabulary = 0; }), Contains("\"source_vocabulary\""));
    CHECK_THAT(check_error([](ModelConfig& c) { c.target_vocabulary = 12; }),
               Contains("\"embedding.tying\"") && Contains("11") && Contains("12"));
    CHECK_THAT(check_error([](ModelConfig& c) {
                   c.embedding.tying = Tying::Embeddings;
                   c.target_vocabulary = 12;
               }),
               Contains("\"embedding.tying\" is \"embeddings\"") && Contains("11") && Contains("12"));
    CHECK_THAT(check_error([](ModelConfig& c) {
                   c.norm.type = NormType::Batch;
                   c.output.transform = OutputTransform::Activation;
               }),
               Contains("\"output.transform\" must be left out unless \"norm.type\" is not \"batch\""));
    const auto convolution = [](std::int64_t kernel, std::int64_t dilation, bool encodes) {
        return check_error([&](ModelConfig& c) {
            (encodes ? c.mixer.encoder : c.mixer.decoder) = MixerKind::Convolution;
            c.mixer.convolution.kernel = kernel;
            c.mixer.convolution.dilation = dilation;
        });
    };
    CHECK_THAT(convolution(0, 1, true), Contains("\"mixer.convolution.kernel\"") && Contains("found 0"));
    CHECK_THAT(convolution(4, 1, true), Contains("\"mixer.convolution.kernel\" must be odd in an encoder"));
    CHECK(convolution(4, 1, false).empty());
    CHECK(convolution(16, 1, false).empty());
    CHECK_THAT(convolution(17, 1, false),
               Contains("\"mixer.convolution.kernel\" 17") && Contains("fewer than max_length, 16"));
    CHECK(convolution(31, 1, true).empty());
    CHECK_THAT(convolution(33, 1, true), Contains("reads 16 positions away"));
    CHECK(convolution(5, 7, true).empty());
    CHECK_THAT(convolution(5, 8, true), Contains("\"mixer.convolution.dilation\" 8") && Contains("in layer 2"));
    CHECK_THAT(check_error([](ModelConfig& c) {
                   c.mixer.encoder = MixerKind::Convolution;
                   c.positions.relative.kind = RelativePositions::Buckets;
               }),
               Contains("\"positions.relative.kind\" must be left out unless all mixers"));
    const auto concatenated = [](std::int64_t columns, auto change) {
        return check_error([&](ModelConfig& c) {
            c.positions.columns = columns;
            c.embedding.tying = Tying::Embeddings;
            change(c);
        });
    };
    CHECK(concatenated(4, [](ModelConfig&) {}).empty());
    CHECK_THAT(concatenated(8, [](ModelConfig&) {}), Contains("\"positions.columns\" must be fewer than d_model, 8"));
    CHECK_THAT(concatenated(3, [](ModelConfig&) {}), Contains("\"positions.columns\" must be even"));
    CHECK(concatenated(3, [](ModelConfig& c) { c.positions.kind = Positions::Index; }).empty());
    CHECK_THAT(
        concatenated(4, [](ModelConfig& c) { c.embedding.tying = Tying::All; }),
        Contains("\"embedding.tying\" must be \"embeddings\" or \"none\"") && Contains("4 columns, the output 8"));
    CHECK_THAT(concatenated(4, [](ModelConfig& c) { c.positions.kind = Positions::None; }),
               Contains("\"positions.columns\" must be left out unless \"positions.kind\" is not \"none\""));
    CHECK_THAT(check_error([](ModelConfig& c) { c.positions.columns = 4; }),
               Contains("\"embedding.tying\" must be \"embeddings\" or \"none\" with \"positions.columns\""));
    CHECK_THAT(check_error([](ModelConfig& c) {
                   c.positions.kind = Positions::Normalised;
                   c.positions.first = 2;
               }),
               Contains("\"positions.first\" must be left out unless \"positions.kind\" is \"sinusoid\", found 2"));
    const auto relative = [](std::int64_t distance) {
        return check_error([&](ModelConfig& c) {
            c.positions.kind = Positions::None;
            c.positions.relative.kind = RelativePositions::Buckets;
            c.positions.relative.buckets = 10;
            c.positions.relative.distance = distance;
        });
    };
    CHECK(relative(6).empty());
    CHECK_THAT(relative(5), Contains("\"positions.relative.distance\" must be above 5") && Contains("found 5"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.positions.relative.buckets = 3; }),
               Contains("\"positions.relative.buckets\" must be left out unless \"positions.relative.kind\""));
    CHECK_THAT(check_error([](ModelConfig& c) { c.positions.kind = Positions::None; }),
               Contains("\"positions.kind\" must not be \"none\"") && Contains("\"positions.relative\""));
    const auto causal = [](auto change) {
        return check_error([&](ModelConfig& c) {
            c.architecture = Architecture::CausalLm;
            c.encoder_layers = 0;
            change(c);
        });
    };
    CHECK(causal([](ModelConfig& c) { c.positions.kind = Positions::None; }).empty());
    CHECK_THAT(causal([](ModelConfig& c) { c.embedding.tying = Tying::Embeddings; }),
               Contains("\"embedding.tying\" must be \"all\" or \"none\"") && Contains("found \"embeddings\""));
    CHECK_THAT(check_error([](ModelConfig& c) { c.frame.eos_id = 11; }),
               Contains("\"frame.eos_id\"") && Contains("found 11"));
    const auto masked = [](std::int32_t mask) {
        return check_error([&](ModelConfig& c) {
            c.architecture = Architecture::MaskedLm;
            c.decoder_layers = 0;
            c.frame.mask_id = mask;
        });
    };
    CHECK(masked(4).empty());
    CHECK_THAT(masked(-1), Contains("\"frame.mask_id\"") && Contains("\"masked-lm\", found -1"));
    CHECK_THAT(masked(1 << 20), Contains("\"frame.mask_id\" must be below"));
    CHECK_THAT(
        check_error([](ModelConfig& c) { c.embedding.token_types = 2; }),
        Contains("\"embedding.token_types\" must be left out unless \"architecture\" is \"masked-lm\", found 2"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.frame.eos_id = c.frame.pad_id; }),
               Contains("\"frame.eos_id\"") && Contains("differ"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.norm.epsilon = 0.0F; }), Contains("\"norm.epsilon\""));
    CHECK_THAT(check_error([](ModelConfig& c) { c.max_length = (1 << 20) + 1; }), Contains("\"max_length\""));
    CHECK_THAT(check_error([](ModelConfig& c) {
                   c.d_model = 1 << 18;
                   c.feed_forward.d_ff = 1 << 18;
               }),
               Contains("feed-forward") && Contains("262144"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.feed_forward.activation = Activation::None; }),
               Contains("activation"));
}

TEST_CASE("what recurrent layers cannot do is refused by key") {
    const auto recurrent = [](auto change) {
        return check_error([&](ModelConfig& c) {
            c.mixer.encoder = c.mixer.decoder = MixerKind::Lstm;
            c.encoder_layers = c.decoder_layers = 2;
            c.mixer.bidirectional = true;
            c.attention.cross = false;
            c.positions.kind = Positions::None;
            change(c);
        });
    };
    CHECK(recurrent([](ModelConfig&) {}).empty());
    CHECK_THAT(recurrent([](ModelConfig& c) { c.mixer.encoder = MixerKind::SelfAttention; }),
               Contains("\"mixer.bidirectional\" must be left out unless \"mixer.encoder\" is \"lstm\" or \"gru\""));
    CHECK_THAT(check_error([](ModelConfig& c) {
                   c.architecture = Architecture::CausalLm;
                   c.encoder_layers = 0;
                   c.mixer.decoder = MixerKind::Lstm;
                   c.mixer.bidirectional = true;
               }),
               Contains("\"mixer.bidirectional\" must be left out unless \"mixer.encoder\""));
    CHECK_THAT(recurrent([](ModelConfig& c) { c.d_model = 9; }), Contains("\"d_model\" must be even"));
    CHECK_THAT(recurrent([](ModelConfig& c) { c.mixer.decoder = MixerKind::Gru; }),
               Contains("\"attention.cross\" must be left out unless"));
    CHECK_THAT(recurrent([](ModelConfig& c) { c.decoder_layers = 1; }),
               Contains("\"attention.cross\" must be left out unless"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.attention.cross = false; }),
               Contains("\"attention.cross\" must be left out unless"));
    CHECK_THAT(recurrent([](ModelConfig& c) { c.positions.relative.kind = RelativePositions::Buckets; }),
               Contains("\"positions.relative.kind\" must be left out unless all mixers"));
}

TEST_CASE("what filling in masks excludes is rejected by key") {
    const auto error = [](auto change) {
        return check_error([&](ModelConfig& c) {
            c.generation = Generation::MaskPredict;
            c.frame.mask_id = 3;
            change(c);
        });
    };
    CHECK(error([](ModelConfig&) {}).empty());
    CHECK(error([](ModelConfig& c) { c.mixer.encoder = MixerKind::Gru; }).empty());
    CHECK_THAT(parse_error({{"generation", "insertion"}}), Contains("\"generation\"") && Contains("\"mask_predict\""));
    CHECK_THAT(error([](ModelConfig& c) { c.frame.mask_id = -1; }),
               Contains("\"frame.mask_id\" must be the id of a piece"));
    CHECK_THAT(error([](ModelConfig& c) { c.frame.target_begin = {4}; }),
               Contains("\"frame.target_begin\" must be []"));
    CHECK_THAT(error([](ModelConfig& c) { c.frame.source_end = {}; }),
               Contains("\"frame.source_end\" must be one token or more"));
    CHECK_THAT(error([](ModelConfig& c) { c.max_length = 1; }), Contains("\"max_length\" must be at least 2"));
    CHECK_THAT(error([](ModelConfig& c) { c.mixer.decoder = MixerKind::Lstm; }),
               Contains("\"mixer.decoder\" must be \"self_attention\" or \"restricted\""));
    CHECK_THAT(error([](ModelConfig& c) { c.mixer.decoder = MixerKind::Convolution; }), Contains("\"mixer.decoder\""));
    CHECK_THAT(error([](ModelConfig& c) {
                   c.architecture = Architecture::MaskedLm;
                   c.decoder_layers = 0;
               }),
               Contains("\"generation\" must be left out unless \"architecture\" is \"encoder-decoder\""));
}

TEST_CASE("what rotary positions cannot be is rejected by key") {
    const auto error = [](auto change) {
        return check_error([&](ModelConfig& c) {
            c.positions.rotary.kind = Rotary::Plain;
            change(c);
        });
    };
    CHECK(error([](ModelConfig& c) { c.positions.kind = Positions::None; }).empty());
    CHECK_THAT(check_error([](ModelConfig& c) { c.positions.rotary.base = 500.0; }),
               Contains("\"positions.rotary.base\" must be left out unless \"positions.rotary.kind\" is not \"none\""));
    CHECK_THAT(error([](ModelConfig& c) { c.mixer.encoder = MixerKind::Convolution; }),
               Contains("\"positions.rotary.kind\" must be left out unless all mixers"));
    CHECK_THAT(error([](ModelConfig& c) { c.positions.rotary.columns = 6; }),
               Contains("\"positions.rotary.columns\" must be at most d_k, 4, found 6"));
    CHECK_THAT(error([](ModelConfig& c) { c.positions.rotary.columns = 3; }),
               Contains("\"positions.rotary.columns\" must be even"));
    CHECK_THAT(error([](ModelConfig& c) { c.attention.d_k = 5; }), Contains("\"attention.d_k\" must be even"));
    CHECK_THAT(error([](ModelConfig& c) { c.attention.decoder_heads = 1; }),
               Contains("\"positions.rotary.columns\" must not be 0 with \"attention.decoder_heads\""));
    CHECK_THAT(error([](ModelConfig& c) {
                   c.attention.decoder_heads = 4;
                   c.positions.rotary.columns = 4;
               }),
               Contains("\"positions.rotary.columns\" must be at most d_k, 2, found 4"));
    CHECK_THAT(error([](ModelConfig& c) { c.positions.rotary.factor = 2.0; }),
               Contains("\"positions.rotary.factor\" must be left out unless"));
    CHECK_THAT(error([](ModelConfig& c) { c.positions.rotary.kind = Rotary::Factors; }),
               Contains("\"positions.rotary.factors\" must hold a number for each of 2 pairs of columns, found 0"));
    CHECK_THAT(error([](ModelConfig& c) {
                   c.positions.rotary.kind = Rotary::Llama3;
                   c.positions.rotary.low = c.positions.rotary.high = 4.0;
               }),
               Contains("\"positions.rotary.high\" must be above \"positions.rotary.low\", 4, found 4"));
    CHECK_THAT(error([](ModelConfig& c) {
                   c.positions.rotary.kind = Rotary::Yarn;
                   c.positions.rotary.base = 1.0;
               }),
               Contains("\"positions.rotary.base\" must be above 1"));
    CHECK_THAT(error([](ModelConfig& c) {
                   c.positions.rotary.kind = Rotary::Ntk;
                   c.positions.rotary.columns = 2;
               }),
               Contains("\"positions.rotary.kind\" must not be \"ntk\" with one pair"));
    CHECK_THAT(error([](ModelConfig& c) {
                   c.positions.rotary.pattern = {0, 0};
               }),
               Contains("\"positions.rotary.pattern\" must be [] or have a 1, found [0, 0]"));
    CHECK_THAT(error([](ModelConfig& c) { c.positions.rotary.pattern = {2}; }),
               Contains("\"positions.rotary.pattern\" must be of the form: list of integers, 0 to 1; found 2"));
    CHECK_THAT(error([](ModelConfig& c) { c.positions.rotary.window_base = 10.0; }),
               Contains("\"positions.rotary.window_base\" must be left out unless \"mixer.encoder\""));
    CHECK_THAT(error([](ModelConfig& c) { c.mixer.window_pattern = {1}; }),
               Contains("\"mixer.window_pattern\" must be left out unless"));
    CHECK_THAT(error([](ModelConfig& c) { c.attention.output_bias = false; }),
               Contains("\"attention.output_bias\" must be left out unless \"attention.bias\" is true"));
    // What a kind says if the file does not.
    const auto of_kind = [](const char* kind) {
        return parse_model_config({{"positions.rotary.kind", kind}, {"positions.rotary.factor", 4.0}}, "x")
            .positions.rotary;
    };
    CHECK(of_kind("llama3").high == 4.0);
    CHECK(of_kind("llama3").magnitude == 1.0);
    CHECK(of_kind("yarn").high == 32.0);
    CHECK(of_kind("yarn").magnitude == Approx(1.1386294));
}

TEST_CASE("experts are at least two, and as many as a token chooses") {
    CHECK(check_error([](ModelConfig& c) { c.feed_forward.experts.count = 4; }).empty());
    CHECK_THAT(check_error([](ModelConfig& c) { c.feed_forward.experts.count = 1; }),
               Contains("\"feed_forward.experts.count\" must be at least 2"));
    CHECK_THAT(
        check_error([](ModelConfig& c) {
            c.feed_forward.experts.count = 4;
            c.feed_forward.experts.per_token = 5;
        }),
        Contains(
            "\"feed_forward.experts.per_token\" must be between 1 and \"feed_forward.experts.count\", 4, found 5"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.feed_forward.experts.per_token = 5; }),
               Contains("\"feed_forward.experts.per_token\" must be left out unless \"feed_forward.experts.count\" is "
                        "not 0, found 5"));
    CHECK_THAT(check_error([](ModelConfig& c) { c.feed_forward.experts.capacity = 1.5F; }),
               Contains("\"feed_forward.experts.capacity\" must be left out unless"));
    CHECK_THAT(parse_error({{"experts", 2}, {"expert_capacity", -1}}),
               Contains("\"feed_forward.experts.capacity\"") && Contains("from 0 to 1024"));
}

TEST_CASE("keys may be written in sections, with dots and by their old names") {
    const ModelConfig in_sections = parse_model_config(
        {{"attention", {{"heads", 4}, {"score", "dot_product"}}}, {"norm", {{"placement", "pre"}}}}, "x");
    CHECK(in_sections.attention.heads == 4);
    CHECK(in_sections.attention.d_k == 128);
    CHECK(in_sections.norm.placement == NormPlacement::Pre);
    CHECK(parse_model_config({{"attention.heads", 4}, {"attention.score", "dot_product"}, {"norm.placement", "pre"}},
                             "x") == in_sections);
    CHECK(parse_model_config({{"heads", 4}, {"scale_attention", false}, {"norm", "pre"}}, "x") == in_sections);
    CHECK_THAT(parse_error({{"attention", {{"heads", 4}}}, {"heads", 4}}),
               Contains("\"attention.heads\" is given twice"));
    CHECK_THAT(parse_error({{"atention", {{"heads", 4}}}}),
               Contains("\"atention.heads\" is unknown; did you mean \"attention.heads\"?"));
    CHECK_THAT(parse_error({{"epsilon", 1e-5}}), Contains("\"epsilon\" is unknown; did you mean \"norm.epsilon\"?"));
    CHECK_THAT(parse_error({{"norm", {{"epsilon", 0}}}}), Contains("\"norm.epsilon\" must be a number from 1e-15"));
    CHECK_THAT(parse_error({{"attention", 4}}), Contains("\"attention\" must be an object {...}, found 4"));
}

TEST_CASE("old names that were parts of a key have the meaning that they had") {
    const auto read = [](const char* text) { return parse_model_config(json::parse(text), "x"); };
    CHECK(read(R"({"attention_score": "dot_product"})").attention.score == AttentionScore::ScaledDotProduct);
    CHECK(read(R"({"scale_attention": false})").attention.score == AttentionScore::DotProduct);
    CHECK(read(R"({"attention_score": "additive"})").attention.score == AttentionScore::Additive);
    CHECK(read(R"({"embedding_norm": true})").embedding.norm == EmbeddingNorm::Last);
    CHECK(read(R"({"embedding_norm": true, "embedding_norm_first": true})").embedding.norm == EmbeddingNorm::First);
    CHECK(read(R"({"embedding_norm": false, "embedding_norm_first": false})").embedding.norm == EmbeddingNorm::None);
    CHECK(read(R"({"output_transform": true})").output.transform == OutputTransform::Activation);
    CHECK(read(R"({"output_transform": true, "gelu_transform": true})").output.transform == OutputTransform::Gelu);
    CHECK(read(R"({"output_layer": "adaptive", "adaptive_cutoffs": [9]})").output.adaptive.cutoffs.size() == 1);
    CHECK_THAT(parse_error({{"output_layer", "adaptive"}}), Contains("\"adaptive_cutoffs\" must not be []"));
    CHECK_THAT(parse_error({{"adaptive_cutoffs", {9}}}), Contains("\"adaptive_cutoffs\" must be [] unless"));
    CHECK_THAT(parse_error({{"gelu_transform", 1}}), Contains("\"gelu_transform\" must be true or false"));
    // Version 2 wrote all keys, also those without a meaning.
    CHECK(read(R"({"convolution_kernel": 5, "relative_buckets": 8, "positions": "learned",
                   "sinusoid_layout": "halves"})") == read(R"({"positions": {"kind": "learned"}})"));
    CHECK_THAT(parse_error({{"mixer", {{"convolution", {{"kernel", 5}}}}}}),
               Contains("\"mixer.convolution.kernel\" must be left out unless"));
    CHECK(read(R"({"positions": "none", "first_position": 2, "relative_positions": "buckets"})").positions.first == 0);
    CHECK(read(R"({"position_combination": "add", "position_columns": 0})").positions.columns == 0);
}

TEST_CASE("old names that did not go together still do not") {
    const auto refusal = [](const char* text) { return parse_error(json::parse(text)); };
    CHECK_THAT(refusal(R"({"position_columns": 64})"),
               Contains("\"position_columns\" must be 0 unless \"position_combination\" is \"concatenate\", found 64"));
    CHECK_THAT(refusal(R"({"position_combination": "concatenate", "position_columns": 0})"),
               Contains("\"position_columns\" must not be 0 if \"position_combination\" is \"concatenate\""));
    CHECK_THAT(refusal(R"({"position_columns": "many"})"), Contains("\"position_columns\" must be a whole number"));
    CHECK_THAT(refusal(R"({"embedding_norm_first": true})"),
               Contains("\"embedding_norm_first\" must be false unless \"embedding_norm\" is true"));
    CHECK_THAT(refusal(R"({"gelu_transform": true})"),
               Contains("\"gelu_transform\" must be false unless \"output_transform\" is true"));
    CHECK_THAT(refusal(R"({"attention_score": "additive", "scale_attention": false})"),
               Contains("\"scale_attention\" must be left out if \"attention_score\" is \"additive\""));
    CHECK_THAT(refusal(R"({"positions": "learned", "first_position": 2})"),
               Contains("\"positions.first\" must be left out unless") && Contains("found 2"));
    CHECK(refusal(R"({"positions": "learned", "first_position": 0})").empty());
    CHECK_THAT(refusal(R"({"convolution_kernel": "abc"})"),
               Contains("\"mixer.convolution.kernel\" must be a whole number") && Contains("found \"abc\""));
}

TEST_CASE("one key has its name of today, unless it is a part of another") {
    CHECK(model_key_of_today("convolution_kernel") == "mixer.convolution.kernel");
    CHECK(model_key_of_today("mixer.convolution.kernel") == "mixer.convolution.kernel");
    CHECK(model_key_of_today("unheard_of") == "unheard_of");
    CHECK_THROWS_WITH(model_key_of_today("scale_attention"),
                      "\"model.scale_attention\" is a part of \"model.attention.score\" since version 3: give that key "
                      "instead");
}

TEST_CASE("a written configuration has the keys that have a meaning") {
    const json usual = to_json(ModelConfig{});
    CHECK(usual["format_version"] == 3);
    CHECK(usual["attention"]["heads"] == 8);
    CHECK_FALSE(usual["mixer"].contains("window"));
    CHECK_FALSE(usual["positions"]["relative"].contains("buckets"));
}
