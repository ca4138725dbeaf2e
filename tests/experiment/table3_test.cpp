// The rows of Table 3: sizes, parameters and scaling.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiment/chosen_by_name.h"
#include "experiment/scale.h"
#include "experiment/studies.h"
#include "model/config.h"
#include "tests/io/temporary_folder.h"
#include "train/train_config.h"

using namespace headscope;

namespace {

constexpr std::size_t kTiny = 0, kBase = 2;

const std::vector<StudyRow>& rows() {
    return study_named("table3").rows;
}

const StudyRow& row_named(const char* name) {
    return *chosen_by_name(rows(), {name}, "row").front();
}

RowConfig config_of(const char* name, const nlohmann::json& base) {
    return table3_config(row_named(name), base);
}

// What the paper's table has in a column; its base model's value where the row does not change it.
template <class Number>
Number column(const StudyRow& row, const char* name, Number base) {
    return row.change.value(name, base);
}

ModelConfig model_of(const std::string& row, const nlohmann::json& base, std::int64_t vocabulary) {
    const RowConfig planned = config_of(row.c_str(), base);
    REQUIRE(planned.impossible.empty());
    return parse_train_config(planned.config, "row", "").model_config(vocabulary, vocabulary);
}

// Section 3 of the paper: four projections in each attention, two in each feed-forward layer, with biases, two or three
// layer normalisations, and one matrix for both embeddings and the softmax.
std::int64_t closed_formula(const StudyRow& row, std::int64_t vocabulary) {
    const std::int64_t d = column(row, "d_model", 512);
    const std::int64_t heads = column(row, "h", 8);
    const std::int64_t d_ff = column(row, "d_ff", 2048);
    const std::int64_t d_k = column(row, "d_k", 64);
    const std::int64_t d_v = column(row, "d_v", 64);
    const std::int64_t attention = heads * (2 * d_k + d_v) * d + heads * d_v * d;
    const std::int64_t feed_forward = 2 * d * d_ff + d_ff + d;
    const std::int64_t norm = 2 * d;
    return vocabulary * d +
           column(row, "N", 6) * (attention + 2 * norm + feed_forward + 2 * attention + 3 * norm + feed_forward);
}

}  // namespace

TEST_CASE("at base scale Table 3 has the paper's sizes") {
    const nlohmann::json base = scale_config(kBase);
    for (const StudyRow& row : rows()) {
        INFO(row.name);
        const ModelConfig model = model_of(row.name, base, 37000);
        CHECK(model.encoder_layers == column(row, "N", 6));
        CHECK(model.decoder_layers == column(row, "N", 6));
        CHECK(model.d_model == column(row, "d_model", 512));
        CHECK(model.feed_forward.d_ff == column(row, "d_ff", 2048));
        CHECK(model.attention.heads == column(row, "h", 8));
        CHECK(model.attention.d_k == column(row, "d_k", 64));
        CHECK(model.attention.d_v == column(row, "d_v", 64));
        CHECK(model.norm.placement == NormPlacement::Post);
        CHECK((model.positions.kind == Positions::Learned) == row.change.contains("positions"));
        const nlohmann::json training = table3_config(row, base).config["training"];
        CHECK(training["residual_dropout"] == column(row, "P_drop", 0.1));
        CHECK(training["embedding_dropout"] == column(row, "P_drop", 0.1));
        CHECK(training["label_smoothing"] == column(row, "eps_ls", 0.1));
        CHECK(training["steps"] == 1000 * column(row, "kilosteps", 100));
    }
}

TEST_CASE("the parameters of Table 3 follow the closed formula") {
    const nlohmann::json base = scale_config(kBase);
    for (const StudyRow& row : rows()) {
        INFO(row.name);
        if (!row.change.contains("positions")) {
            CHECK(count_parameters(model_of(row.name, base, 37000)) == closed_formula(row, 37000));
        }
    }
    CHECK(count_parameters(model_of("base", base, 37000)) == 63'045'632);
    CHECK(count_parameters(model_of("big", base, 37000)) == 214'171'648);
}

// The paper names a vocabulary of about 37,000 pieces, but its column fits one of 41,010 to 41,200, except for the big
// model, which fits 35,370 to 36,340.
TEST_CASE("the paper's column of parameters fits one vocabulary in all rows but the last") {
    const nlohmann::json base = scale_config(kBase);
    int published = 0;
    for (const StudyRow& row : rows()) {
        if (row.paper.parameters) {
            INFO(row.name);
            const std::int64_t pieces = std::string(row.name) == "big" ? 36'000 : 41'100;
            const auto millions = static_cast<double>(count_parameters(model_of(row.name, base, pieces))) / 1e6;
            CHECK(std::round(millions) == *row.paper.parameters / 1e6);
            ++published;
        }
    }
    CHECK(published == 11);
}

TEST_CASE("smaller scales keep the proportions of Table 3") {
    const nlohmann::json tiny = scale_config(kTiny);
    CHECK(model_of("base", tiny, 100).attention.d_k == 16);
    CHECK(model_of("A1", tiny, 100).attention.heads == 1);
    CHECK(model_of("A1", tiny, 100).attention.d_v == 128);
    CHECK(model_of("A4", tiny, 100).attention.heads == 32);
    CHECK(model_of("A4", tiny, 100).attention.d_k == 4);
    CHECK(model_of("B1", tiny, 100).attention.d_k == 4);
    CHECK(model_of("B1", tiny, 100).attention.d_v == 16);
    CHECK(model_of("C1", tiny, 100).encoder_layers == 1);
    CHECK(model_of("C3", tiny, 100).decoder_layers == 4);
    CHECK(model_of("C4", tiny, 100).d_model == 64);
    CHECK(model_of("C4", tiny, 100).attention.d_k == 8);
    CHECK(model_of("C7", tiny, 100).feed_forward.d_ff == 1024);
    CHECK(model_of("big", tiny, 100).attention.heads == 16);
    CHECK(config_of("big", tiny).config["training"]["steps"] == 3 * tiny["training"]["steps"].get<int>());
    CHECK(config_of("A1", tiny).varied == "h 1, d_k 128, d_v 128");
    CHECK(config_of("base", tiny).varied.empty());
    nlohmann::json wide = tiny;
    wide["model"]["feed_forward.d_ff"] = 600000;
    CHECK(config_of("C7", wide).varied == "d_ff 1200000");
    for (std::size_t scale = 0; scale < std::size(kScales); ++scale) {
        for (const StudyRow& row : rows()) {
            INFO(kScales[scale] << " " << row.name);
            CHECK(table3_config(row, scale_config(scale)).impossible.empty());
        }
    }
}

TEST_CASE("a row whose sizes are not whole numbers is impossible") {
    nlohmann::json base = scale_config(kTiny);
    base["model"]["attention.heads"] = 4;
    CHECK(config_of("A1", base).impossible == "h would be 4 x 1 / 8, not a whole number");
    CHECK(config_of("A2", base).impossible.empty());
    base["model"]["encoder_layers"] = base["model"]["decoder_layers"] = 2;
    CHECK(config_of("C1", base).impossible == "N would be 2 x 2 / 6, not a whole number");
    CHECK(config_of("C1", base).varied == "N 0.666667");
    CHECK(config_of("A1", base).varied == "h 0.5, d_k 256, d_v 256");
}

TEST_CASE("a row that equals the base is impossible") {
    nlohmann::json base = scale_config(kTiny);
    base["model"]["positions.kind"] = "learned";
    base["training"]["residual_dropout"] = base["training"]["embedding_dropout"] = 0.2;
    base["training"]["label_smoothing"] = 0.0;
    CHECK(config_of("E", base).impossible == "the base model has learned positions already");
    CHECK(config_of("D2", base).impossible == "the base model has P_drop 0.2 already");
    CHECK(config_of("D3", base).impossible == "the base model has eps_ls 0.0 already");
    for (const char* row : {"base", "D1", "D4", "A1", "big"}) {
        CHECK(config_of(row, base).impossible.empty());
    }
}

TEST_CASE("without dropout nothing of the base's dropout is left") {
    nlohmann::json base = scale_config(kTiny);
    base["training"]["attention_dropout"] = 0.1;
    const nlohmann::json training = config_of("D1", base).config["training"];
    CHECK(training["residual_dropout"] == 0.0);
    CHECK(training["embedding_dropout"] == 0.0);
    CHECK(training["attention_dropout"] == 0.0);
    CHECK_FALSE(training.contains("activation_dropout"));
}

TEST_CASE("the big model trains three times as long by whatever limit the base has") {
    nlohmann::json base = scale_config(kTiny);
    base["training"].erase("steps");
    base["training"]["epochs"] = 1.5;
    base["training"]["minutes"] = 2;
    const RowConfig big = config_of("big", base);
    CHECK(big.config["training"]["epochs"] == 4.5);
    CHECK(big.config["training"]["minutes"] == 6);
    CHECK_FALSE(big.config["training"].contains("steps"));
    CHECK(big.varied.ends_with("P_drop 0.3, epochs 4.5, minutes 6"));
}

TEST_CASE("every row keeps the weights of its last step") {
    nlohmann::json base = scale_config(kTiny);
    base["training"].update({{"validate_every", 100},
                             {"validate_bleu", 10},
                             {"patience", 3},
                             {"ema_decay", 0.99},
                             {"keep_last", 5},
                             {"average_last", 5}});
    for (const char* row : {"base", "big"}) {
        const TrainingOptions options = parse_train_config(config_of(row, base).config, "", "").training;
        CHECK(options.average_last == 1);
        CHECK(options.ema_decay == 0.0);
        CHECK(options.validate_every == 0);
        CHECK(options.validate_bleu == 0);
        CHECK(options.patience == 0);
    }
}

TEST_CASE("rows are chosen by name or group") {
    const auto chosen = [](const std::vector<std::string>& names) {
        std::string all;
        for (const StudyRow* row : chosen_by_name(rows(), names, "row")) {
            all += row->name + " ";
        }
        return all;
    };
    CHECK(chosen({}).starts_with("base A1 "));
    CHECK(chosen({"big", "A", "A1", "E"}) == "big A1 A2 A3 A4 E ");
    CHECK_THROWS_WITH(chosen({"F"}), Catch::Matchers::Contains("there is no row \"F\"; there are base, A1"));
    CHECK_THROWS_WITH(chosen({"a1"}), Catch::Matchers::Contains("no row \"a1\""));
    CHECK_THROWS_WITH(chosen({"b"}), Catch::Matchers::Contains("no row \"b\""));
}
