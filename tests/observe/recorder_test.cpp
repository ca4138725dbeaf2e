// Recording an untrained model: in a teacher-forced pass, and step by step during beam search.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include "infer/model_scorer.h"
#include "observe/attention_table.h"
#include "observe/decoding_recorder.h"
#include "observe/record_attention.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"
#include "text/tokenizer_training.h"

using namespace headscope;

namespace {

ModelConfig small_config() {
    ModelConfig config;
    config.encoder_layers = 2;
    config.decoder_layers = 3;
    config.d_model = 32;
    config.feed_forward.d_ff = 64;
    config.attention.heads = 4;
    config.attention.d_k = 8;
    config.attention.d_v = 8;
    config.source_vocabulary = 40;
    config.target_vocabulary = 40;
    return config;
}

struct RecordedModel {
    std::unique_ptr<Backend> backend;
    ModelConfig config;
    Parameters parameters;
    EncoderDecoder transformer;

    explicit RecordedModel(const std::string& device = "cpu", const ModelConfig& wanted = small_config())
        : backend(open_device(device, environment_options())),
          config(wanted),
          parameters(*backend, config, false),
          transformer(config, initialised(parameters)) {}

    static const Parameters& initialised(Parameters& parameters) {
        parameters.initialise(7);
        return parameters;
    }
};

RecordedText text_of(const std::vector<std::int32_t>& ids, bool ended = true) {
    RecordedText text{.ids = ids, .pieces = {}, .ended = ended, .after = {{2}, {"<EOS>"}}};
    for (const std::int32_t id : ids) {
        text.pieces.push_back("\u2581w" + std::to_string(id));
    }
    return text;
}

void check_rows_add_up(const SiteWeights& weights) {
    for (std::int64_t head = 0; head < weights.heads; ++head) {
        for (std::int64_t query = 0; query < weights.queries; ++query) {
            double sum = 0.0;
            for (std::int64_t key = 0; key < weights.keys; ++key) {
                sum += static_cast<double>(weights.at(head, query, key));
            }
            CHECK(sum == Approx(1.0).margin(1e-5));
        }
    }
}

void check_equal(const AttentionRecord& a, const AttentionRecord& b) {
    CHECK(a.source == b.source);
    CHECK(a.target_in == b.target_in);
    CHECK(a.target_out == b.target_out);
    REQUIRE(a.sites.size() == b.sites.size());
    for (const SiteWeights& one : a.sites) {
        const SiteWeights& other = find_site(b, one.site.kind, one.site.layer + 1);
        INFO(name_of(one.site.kind) << " layer " << one.site.layer + 1);
        REQUIRE(one.queries == other.queries);
        REQUIRE(one.keys == other.keys);
        REQUIRE(one.values.size() == other.values.size());
        double worst = 0.0;
        for (std::size_t i = 0; i < one.values.size(); ++i) {
            worst =
                std::max(worst, std::abs(static_cast<double>(one.values[i]) - static_cast<double>(other.values[i])));
        }
        CHECK(worst < 1e-5);
    }
}

// Counts the steps whose rows did not simply continue in place.
class CountingScorer final : public Scorer {
public:
    explicit CountingScorer(Scorer& scorer) : scorer_(scorer) {}
    std::int64_t vocabulary() const override { return scorer_.vocabulary(); }
    const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                           int k) override {
        for (std::size_t row = 0; row < parents.size(); ++row) {
            crossings += parents[row] != static_cast<std::int32_t>(row) ? 1 : 0;
        }
        return scorer_.step(tokens, parents, k);
    }
    int crossings = 0;

private:
    Scorer& scorer_;
};

// Runs the model, then forces every row to continue with the same token.
class ForcedScorer final : public Scorer {
public:
    ForcedScorer(Scorer& scorer, std::vector<std::int32_t> tokens) : scorer_(scorer), tokens_(std::move(tokens)) {}
    std::int64_t vocabulary() const override { return scorer_.vocabulary(); }
    const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                           int k) override {
        next_ = scorer_.step(tokens, parents, k);
        for (std::int64_t row = 0; row < next_.rows; ++row) {
            next_.tokens[static_cast<std::size_t>(row * k)] = tokens_[static_cast<std::size_t>(step_)];
        }
        ++step_;
        return next_;
    }

private:
    Scorer& scorer_;
    std::vector<std::int32_t> tokens_;
    NextTokens next_;
    int step_ = 0;
};

}  // namespace

TEST_CASE("One pass records every site, without padding", "[record]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    RecordedModel model(device);
    const AttentionRecord record =
        record_attention(*model.backend, model.transformer, text_of({4, 5, 6}), text_of({7, 8}), {});
    REQUIRE(record.sites.size() == 2 + 3 + 3);
    CHECK(record.encoder_layers == 2);
    CHECK(record.decoder_layers == 3);
    CHECK(record.source.size() == 4);
    CHECK(record.target_in.front().text == "<BOS>");
    CHECK(record.target_out.back().text == "<EOS>");
    for (const SiteWeights& weights : record.sites) {
        CHECK(weights.heads == 4);
        CHECK(weights.queries == (weights.site.kind == AttentionKind::EncoderSelf ? 4 : 3));
        CHECK(weights.keys == (weights.site.kind == AttentionKind::DecoderSelf ? 3 : 4));
        check_rows_add_up(weights);
    }
    const SiteWeights& decoder = find_site(record, AttentionKind::DecoderSelf, 1);
    CHECK(decoder.at(0, 0, 1) == 0.0F);  // causal
    CHECK(decoder.at(0, 0, 0) == 1.0F);
}

TEST_CASE("Only the requested sites are observed, and the decoder only with a target", "[record]") {
    RecordedModel model;
    const RecordOptions options{.sites = {{AttentionKind::EncoderSelf, 1}}};
    const AttentionRecord one = record_attention(*model.backend, model.transformer, text_of({4, 5}), {}, options);
    REQUIRE(one.sites.size() == 1);
    CHECK(one.sites[0].site.layer == 1);
    CHECK(record_attention(*model.backend, model.transformer, text_of({4, 5}), {}, {}).sites.size() == 2);
}

TEST_CASE("Requested pads are shown and get no weight", "[record]") {
    RecordedModel model;
    const AttentionRecord plain = record_attention(*model.backend, model.transformer, text_of({4, 5, 6}), {}, {});
    const AttentionRecord padded =
        record_attention(*model.backend, model.transformer, text_of({4, 5, 6}), {}, {.source_pads = 6});
    REQUIRE(padded.source.size() == 10);
    CHECK(padded.source.back().kind == TokenKind::Pad);
    const SiteWeights& with = find_site(padded, AttentionKind::EncoderSelf, 2);
    const SiteWeights& without = find_site(plain, AttentionKind::EncoderSelf, 2);
    for (std::int64_t query = 0; query < 4; ++query) {
        for (std::int64_t key = 0; key < 10; ++key) {
            CHECK(with.at(3, query, key) == Approx(key < 4 ? without.at(3, query, key) : 0.0F).margin(1e-6));
        }
    }
}

TEST_CASE("Texts that use all learned positions are recorded, and a pad beyond them is an error", "[record]") {
    ModelConfig config = small_config();
    config.positions.kind = Positions::Learned;
    config.max_length = 5;  // not a multiple of 8
    RecordedModel model("cpu", config);
    const AttentionRecord record =
        record_attention(*model.backend, model.transformer, text_of({4, 5, 6, 7}), text_of({8, 9, 10, 11}), {});
    for (const SiteWeights& weights : record.sites) {
        CHECK(weights.queries == 5);
        check_rows_add_up(weights);
    }
    RecordOptions pads;
    pads.source_pads = 1;
    CHECK_THROWS_WITH(
        record_attention(*model.backend, model.transformer, text_of({4, 5, 6, 7}), {}, pads),
        Catch::Matchers::Contains("5 learned positions") && Catch::Matchers::Contains("has 6, pads included"));
}

TEST_CASE("Attention recorded while decoding equals that of a teacher-forced pass", "[record]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    RecordedModel model(device);
    const std::vector<std::vector<std::int32_t>> sources{{4, 9, 17, 23, 5, 31}, {12, 6}};
    constexpr std::int32_t kEos = 2;
    WeightCollector collector;
    Context ctx{.backend = *model.backend, .observer = &collector};
    ModelScorer scorer(ctx, model.transformer, {{4, 9, 17, 23, 5, 31, kEos}, {12, 6, kEos}});
    DecodingRecorder recorder(scorer, collector, *model.backend);
    CountingScorer counting(recorder);
    const std::vector<Hypothesis> found =
        search(counting, {12, 9}, model.config.frame.bos_id, token_rules(model.config, {}), {.beam = 4});
    CHECK(counting.crossings > 4);  // otherwise this would not test the back-pointers
    for (std::size_t sentence = 0; sentence < sources.size(); ++sentence) {
        std::vector<std::int32_t> ids = found[sentence].tokens;
        const bool ended = found[sentence].end == EndReason::EndOfSentence;
        if (ended) {
            ids.pop_back();
        }
        REQUIRE(ids.size() > 2);
        const RecordedText source = text_of(sources[sentence]);
        const RecordedText target = text_of(ids, ended);
        const auto index = static_cast<std::int64_t>(sentence);
        const AttentionRecord decoded = recorder.record(model.config, index, source, target);
        CHECK(decoded.sites.size() == 8);
        check_equal(decoded, record_attention(*model.backend, model.transformer, source, target, {}));
    }
}

TEST_CASE("Two sentences with the same translation keep their own attention", "[record]") {
    RecordedModel model;
    WeightCollector collector;
    Context ctx{.backend = *model.backend, .observer = &collector};
    ModelScorer scorer(ctx, model.transformer, {{4, 9, 17, 2}, {12, 6, 30, 2}});
    DecodingRecorder recorder(scorer, collector, *model.backend);
    ForcedScorer forced(recorder, {20, 21, model.config.frame.eos_id});
    const std::vector<Hypothesis> found =
        search(forced, {9, 9}, model.config.frame.bos_id, token_rules(model.config, {}), {.beam = 1});
    REQUIRE(found[0].tokens == std::vector<std::int32_t>{20, 21, model.config.frame.eos_id});
    REQUIRE(found[1].tokens == found[0].tokens);
    const RecordedText target = text_of({20, 21});
    for (const std::int64_t sentence : {0, 1}) {
        const RecordedText source =
            text_of(sentence == 0 ? std::vector<std::int32_t>{4, 9, 17} : std::vector<std::int32_t>{12, 6, 30});
        check_equal(recorder.record(model.config, sentence, source, target),
                    record_attention(*model.backend, model.transformer, source, target, {}));
    }
}

TEST_CASE("A translation is recorded with its pieces", "[record]") {
    const std::vector<std::string> lines{"ja nein und so", "so und nein ja", "ja und so nein ja"};
    const Tokenizer tokenizer = Tokenizer::from_bytes(
        train_tokenizer({.sentences = lines, .type = TokenizerType::Bpe, .vocabulary_size = 24}), "test");
    ModelConfig config = small_config();
    config.source_vocabulary = config.target_vocabulary = tokenizer.size();
    RecordedModel model("cpu", config);
    RecordedText source = encode_text(tokenizer, "ja und so");
    source.after = {{config.frame.eos_id}, {"<EOS>"}};
    const RecordedTranslation result =
        record_translation(*model.backend, model.transformer, tokenizer, source, {.beam = 2, .max_extra = 4}, {});
    const AttentionRecord& record = result.record;
    REQUIRE_FALSE(result.hypothesis.tokens.empty());
    CHECK(record.target_out.size() == result.hypothesis.tokens.size());
    CHECK(record.target_out[0].text == tokenizer.piece(result.hypothesis.tokens[0]));
    const RecordedText target = text_of_output(tokenizer, config, result.hypothesis.tokens);
    AttentionRecord read = record_attention(*model.backend, model.transformer, source, target, {});
    for (std::size_t i = 0; i < read.target_out.size(); ++i) {  // which only a search knows
        CHECK_FALSE(read.target_out[i].probability.has_value());
        read.target_out[i].probability = std::exp(result.hypothesis.token_log_probabilities[i]);
    }
    check_equal(record, read);
}

TEST_CASE("An unknown word keeps its spelling", "[record]") {
    const Tokenizer tokenizer = Tokenizer::from_bytes(
        train_tokenizer({.sentences = {"ab ba", "ba ab"}, .type = TokenizerType::Bpe, .vocabulary_size = 10}), "test");
    ModelConfig config = small_config();
    config.frame.unk_id = tokenizer.unk_id();
    const auto tokens = source_tokens(config, encode_text(tokenizer, "ab Ω"), 0);
    bool found = false;
    for (const RecordedToken& token : tokens) {
        found = found || (token.kind == TokenKind::Unknown && token.text.find("Ω") != std::string::npos);
    }
    CHECK(found);
}

TEST_CASE("Each piece of a vocabulary of words is a word", "[record]") {
    const Tokenizer tokenizer = Tokenizer::from_bytes(
        train_tokenizer({.sentences = {"(NP NN )NP"}, .type = TokenizerType::Words, .vocabulary_size = 10}), "test");
    ModelConfig config = small_config();
    for (const RecordedText& text :
         {encode_text(tokenizer, "(NP NN )NP"), text_of_output(tokenizer, config, tokenizer.encode("(NP NN )NP"))}) {
        const std::vector<RecordedToken> tokens = source_tokens(config, text, 0);
        REQUIRE(tokens.size() >= 3);
        CHECK(std::all_of(tokens.begin(), tokens.begin() + 3, [](const auto& token) { return token.begins_word; }));
    }
}

TEST_CASE("The table lists the strongest key of each head", "[table]") {
    AttentionRecord record;
    record.encoder_layers = 1;
    record.source = {{"\u2581Tür", TokenKind::Piece}, {"<EOS>", TokenKind::End}};
    record.sites.push_back({{AttentionKind::EncoderSelf, 0}, 2, 2, 2, {0.25F, 0.75F, 1, 0, 0.9F, 0.1F, 0, 1}});
    CHECK(attention_table(select_attention(record, {})) ==
          "Input-Input Layer1: the strongest key of each head and its weight\n"
          "       head 1      head 2\n"
          "Tür    <EOS> 0.75  Tür 0.90\n"
          "<EOS>  Tür 1.00    <EOS> 1.00\n");
    CHECK(attention_table(select_attention(record, {.heads = {2}, .words = {"Tür"}})) ==
          "Input-Input Layer1: the strongest key of each head and its weight\n"
          "     head 2\n"
          "Tür  Tür 0.90\n");
}
