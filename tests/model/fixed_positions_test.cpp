// Positions that are neither sinusoids nor learned.
#include <catch2/catch.hpp>

#include "model/sinusoids.h"
#include "small_model.h"

using namespace headscope;

TEST_CASE("normalised positions go from 0 to 1 over each text, whatever its padding") {
    const auto backend = open_device("cpu:oracle");
    ModelConfig config = small_config();
    config.d_model = 2;
    config.positions.kind = Positions::Normalised;
    Sinusoids positions(config);
    const Tensor lengths = make_from_host(*backend, {3}, DType::I32, std::vector<std::int32_t>{5, 1, 3});
    const auto found = to_host<double>(*backend, positions.by_length(*backend, lengths, 5));
    const std::vector<double> expected{0, 0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1,   1, 0, 0,   1,   1, 2,
                                       2, 3, 3,    4,    4,   0,   0,    0.5,  0.5, 1, 1, 1.5, 1.5, 2, 2};
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i] == Approx(expected[i]));
    }
    // A decoder does not know the length: max_length - 1 is 15.
    const auto table = to_host<double>(*backend, positions.table(*backend, 20));
    CHECK(table[2 * 15] == Approx(1.0));
    CHECK(table[2 * 3 + 1] == Approx(0.2));
}

TEST_CASE("an index is the position's number in every column, also beyond the first table") {
    const auto backend = open_device("cpu:oracle");
    ModelConfig config = small_config();
    config.positions.kind = Positions::Index;
    Sinusoids positions(config);
    positions.table(*backend, 10);
    const auto table = to_host<double>(*backend, positions.table(*backend, 300));
    for (const std::size_t column : {0U, 7U}) {
        CHECK(table[8 * 299 + column] == 299.0);
    }
}

TEST_CASE("concatenated positions stand behind the embedding and are not scaled") {
    ModelConfig config = small_config();
    config.positions.kind = Positions::Index;
    config.positions.columns = 3;
    config.embedding.tying = Tying::Embeddings;
    SmallModel model(config, "cpu:oracle", false);
    ModelDescription description;
    DropoutSites sites;
    const Var table = model.parameters.at("embedding.weight");
    const Embedding embedding(config, Scope(description, nullptr).in("encoder"), AttentionKind::EncoderSelf, table,
                              std::make_shared<Sinusoids>(config), sites);
    Context ctx{*model.backend};
    const Tensor ids = make_from_host(*model.backend, {1, 2}, DType::I32, std::vector<std::int32_t>{4, 9});
    const auto found = model.host(embedding(ctx, {.ids = ids}).value());
    const auto weights = model.host(table.value());
    for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t column = 0; column < 8; ++column) {
            const double expected =
                column < 5 ? std::sqrt(8.0) * weights[(i == 0 ? 4 : 9) * 5 + column] : static_cast<double>(i);
            CHECK(found[i * 8 + column] == Approx(expected).epsilon(1e-6));
        }
    }
}
