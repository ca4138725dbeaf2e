// Vectors of texts beside those of transformers (tests/golden/make_embedding_vectors.py), and what is made of them.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "explore/text_vectors.h"
#include "io/strict_json.h"
#include "observe/principal_axes.h"
#include "observe/vector_distance.h"
#include "tests/explore/tiny_explorer.h"
#include "tests/house/files.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"

using namespace headscope;

namespace {

using nlohmann::json;

constexpr double kClose = 1e-5;

json expected_vectors() {
    return read_json_file(checkout_file("tests/golden/embeddings.json"));
}

std::string folder_of(const json& expected) {
    return checkout_file("tests/import/models/" + expected.at("model").get<std::string>());
}

std::vector<std::string> texts_of(const json& expected) {
    std::vector<std::string> texts;
    for (const json& item : expected.at("items")) {
        texts.push_back(item.at("text"));
    }
    return texts;
}

std::vector<TextVectors> vectors_of(Backend& backend, const LoadedModel& model, const std::vector<std::string>& texts,
                                    const VectorOptions& options, std::int64_t batch_tokens = 1024) {
    VectorSession session(backend, model, Compute::F32, texts, options, batch_tokens);
    finish(session);
    return session.take();
}

// Both have as many numbers, which are the same but for rounding.
void check_near(std::span<const float> found, const json& expected) {
    const auto wanted = expected.get<std::vector<double>>();
    REQUIRE(found.size() == wanted.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double error = std::abs(static_cast<double>(found[i]) - wanted[i]);
        largest = std::isfinite(error) ? std::max(largest, error) : INFINITY;
    }
    CHECK(largest < kClose);
}

// All vectors of a model beside those of `expected`.
void check_model(Backend& backend, const json& expected) {
    const LoadedModel model(backend, folder_of(expected));
    const json& items = expected.at("items");
    const std::vector<std::string> texts = texts_of(expected);
    const auto check = [&](const VectorOptions& options, std::int64_t batch_tokens, const auto& wanted_of) {
        const std::vector<TextVectors> found = vectors_of(backend, model, texts, options, batch_tokens);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            CHECK(found[i].problem.empty());
            check_near(found[i].values, wanted_of(items[i]));
        }
    };
    const int last = last_vector_layer(model.model().config);
    REQUIRE(items[0].at("means").size() == static_cast<std::size_t>(last + 1));
    for (int layer = 0; layer <= last; ++layer) {
        check({.layer = layer}, 1024, [&](const json& item) { return item["means"][static_cast<std::size_t>(layer)]; });
    }
    const auto of_last = [](const json& item) { return item["last"]; };
    check({.pooling = Pooling::Last}, 1024, of_last);
    check({.pooling = Pooling::Last}, 1, of_last);  // each text alone
    if (has_class_token(model.model().config)) {
        check({.pooling = Pooling::First}, 1024, [](const json& item) { return item["first"]; });
    } else {
        CHECK_THROWS_WITH(vectors_of(backend, model, texts, {.pooling = Pooling::First}),
                          Catch::Contains("has no class token"));
    }
    const std::vector<TextVectors> of_words = vectors_of(backend, model, texts, {.unit = VectorUnit::Word});
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].find("  ") != std::string::npos) {
            continue;  // a blank that is a piece of its own is a word in figures, but no word in the references
        }
        const json& words = items[i].at("words");
        REQUIRE(of_words[i].labels.size() == words.size());
        for (std::size_t word = 0; word < words.size(); ++word) {
            // Bytes that the vocabulary lacks have no piece, and some tokenizers change case: so may beginnings.
            CHECK(words[word]["word"].get<std::string>().back() == of_words[i].labels[word].back());
            check_near(of_words[i].vector(word), words[word]["vector"]);
        }
    }
}

}  // namespace

TEST_CASE("vectors are those of transformers", "[vectors]") {
    const json expected = expected_vectors();
    for (const std::string& device : conformance::devices_under_test()) {
        const std::unique_ptr<Backend> backend = open_device(device, environment_options());
        for (const json& model : expected) {
            INFO(model.at("model") << " on " << device);
            check_model(*backend, model);
        }
    }
}

TEST_CASE("cosines and principal components are those of numpy and scikit-learn", "[vectors]") {
    for (const json& expected : expected_vectors()) {
        INFO(expected.at("model"));
        std::vector<float> values;
        for (const json& item : expected.at("items")) {
            for (const json& word : item.at("words")) {
                const auto vector = word.at("vector").get<std::vector<float>>();
                values.insert(values.end(), vector.begin(), vector.end());
            }
        }
        const std::size_t count = expected.at("places").size(), columns = values.size() / count;
        const auto row = [&](std::size_t i) { return std::span<const float>(values).subspan(i * columns, columns); };
        const PrincipalPlane plane = principal_plane(values, columns);
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t j = 0; j < count; ++j) {
                CHECK(cosine_of(row(i), row(j)) == Approx(expected["cosines"][i][j].get<double>()).margin(kClose));
            }
            for (std::size_t axis = 0; axis < 2; ++axis) {
                CHECK(plane.places[i].at(axis) == Approx(expected["places"][i][axis].get<double>()).margin(kClose));
            }
        }
        CHECK(plane.shares[0] == Approx(expected["shares"][0].get<double>()).margin(kClose));
        CHECK(plane.shares[1] == Approx(expected["shares"][1].get<double>()).margin(kClose));
    }
}

TEST_CASE("a vector of zeros has a cosine of 0, and no direction", "[vectors]") {
    const std::vector<float> zeros(3, 0.0F), other{1.0F, -2.0F, 0.5F}, tiny{1e-30F, 0.0F, 0.0F};
    CHECK(cosine_of(zeros, other) == 0.0);
    CHECK(cosine_of(zeros, zeros) == 0.0);
    CHECK(cosine_of(other, other) == Approx(1.0));
    CHECK(cosine_of(tiny, std::vector<float>{1.0F, 0.0F, 0.0F}) == Approx(1.0));

    const PrincipalPlane none = principal_plane(std::vector<float>(6, 2.0F), 3);  // two equal vectors
    CHECK(none.places == std::vector<std::array<double, 2>>(2));
    CHECK(none.shares == std::array<double, 2>{});
    CHECK(principal_plane({}, 0).places.empty());
    const PrincipalPlane line = principal_plane(std::vector<float>{0.0F, 1.0F, 0.0F, 3.0F}, 2);
    CHECK(line.places[0][0] == Approx(-1.0));
    CHECK(line.places[1][0] == Approx(1.0));
    CHECK((line.places[0][1] == 0.0 && line.places[1][1] == 0.0));
    CHECK(line.shares == std::array{1.0, 0.0});
}

TEST_CASE("the nearest vectors come first, and of equal ones the earlier", "[vectors]") {
    NearestVectors search({1.0F, 0.0F, 0.0F, 1.0F}, 2, 2);
    CHECK(search.add(std::vector{2.0F, 1.0F}));
    CHECK(search.add(std::vector{0.0F, 3.0F}));
    CHECK(search.add(std::vector{4.0F, 2.0F}));
    CHECK_FALSE(search.add(std::vector{-1.0F, -1.0F}));
    CHECK_FALSE(search.add(std::vector{0.0F, 0.0F}));
    const auto nearest = search.take();
    REQUIRE(nearest.size() == 2);
    CHECK((nearest[0][0].number == 0 && nearest[0][1].number == 2));
    CHECK(nearest[0][1].cosine == Approx(2.0 / std::sqrt(5.0)));
    CHECK((nearest[1][0].number == 1 && nearest[1][1].number == 0));
}

TEST_CASE("texts and layers without vectors say why", "[vectors]") {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    const LoadedModel masked = tiny_translator(*cpu, tiny_language_config(Architecture::MaskedLm));
    std::string long_text = "the";
    for (int i = 0; i < 30; ++i) {
        long_text += " dog";
    }
    const auto found = vectors_of(*cpu, masked, {"", "the dog", " \t", long_text, "\xff"}, {});
    CHECK_THAT(found[0].problem, Catch::Contains("the text is empty"));
    CHECK(found[1].problem.empty());
    CHECK(std::ssize(found[1].values) == masked.model().config.d_model);
    CHECK_THAT(found[2].problem, Catch::Contains("the text is empty"));
    CHECK_THAT(found[3].problem, Catch::Contains("the model takes at most 24"));
    CHECK_THAT(found[4].problem, Catch::Contains("UTF-8"));
    CHECK_THROWS_WITH(vectors_of(*cpu, masked, {"the dog"}, {.layer = 3}),
                      Catch::Contains("no vector after layer 3: layers of this model are 0, the embeddings, to 2"));

    const LoadedModel translator = tiny_translator(*cpu);
    std::string longer = long_text;
    for (int i = 0; i < 40; ++i) {
        longer += " dog";
    }
    CHECK_THAT(vectors_of(*cpu, translator, {longer}, {})[0].problem, Catch::Contains("the model takes at most 64"));
    const auto pieces = vectors_of(*cpu, translator, {"the dog"}, {.unit = VectorUnit::Piece});
    CHECK(pieces[0].labels == translator.model().source_tokenizer->encode_pieces("the dog"));
}

TEST_CASE("edits of heads change vectors, of each text alone", "[vectors]") {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    const LoadedModel model = tiny_translator(*cpu);
    const std::vector<std::string> texts{"the dog", "the small dog sees the big cat"};
    const VectorOptions edited{.edits = {{.site = {AttentionKind::EncoderSelf, 0}, .head = 1}}};
    const auto usual = vectors_of(*cpu, model, texts, {});
    const auto found = vectors_of(*cpu, model, texts, edited);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        CHECK(found[i].values != usual[i].values);
        CHECK(found[i].values == vectors_of(*cpu, model, {texts[i]}, edited)[0].values);
    }
}

TEST_CASE("an encoder that hands over its last states ends a layer earlier", "[vectors]") {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    ModelConfig config = tiny_config();
    config.attention.cross = false;
    CHECK(last_vector_layer(config) == config.encoder_layers - 1);
    CHECK(last_vector_layer(tiny_config()) == config.encoder_layers);
    CHECK_THROWS_WITH(check_vector_options({.layer = config.encoder_layers}, config),
                      Catch::Contains("its last layer has no state for each token"));
}
