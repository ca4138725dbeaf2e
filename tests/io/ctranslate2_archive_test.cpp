#include <catch2/catch.hpp>
#include <string>

#include "io/tensor_archive.h"
#include "support/check.h"
#include "tests/io/ctranslate2_writer.h"
#include "tests/io/temporary_folder.h"
#include "tests/io/tensor_values.h"

using namespace headscope;
using Catch::Matchers::Contains;
using ctranslate2::Variable;

namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::int8_t>;

std::string model_complaint(const TemporaryFolder& folder, const std::string& bytes) {
    const std::string path = folder.write("model.bin", bytes);
    const std::string message = error_of([&] { open_ctranslate2_archive(path); });
    CHECK_THAT(message, Contains(path));
    return message;
}

}  // namespace

TEST_CASE("models of every binary version are read", "[ctranslate2]") {
    const TemporaryFolder folder;
    for (std::uint32_t version = 2; version <= 6; ++version) {
        CAPTURE(version);
        const bool typed = version >= 4;
        std::vector<Variable> variables{
            {"decoder/num_heads", {}, 1, std::string(1, '\x08')},
            {"decoder/scale", {}, typed ? 0 : 4, bytes_of(Floats{0.5F}), typed ? 0U : 1U},
            {"encoder/weight", {2, 3}, 1, bytes_of(Bytes{127, -127, 0, 1, 2, 3})},
            {"encoder/weight_scale", {2}, typed ? 0 : 4, bytes_of(Floats{2, 4}), typed ? 0U : 2U},
            {"encoder/short", {2}, 2, bytes_of(std::vector<std::int16_t>{1024, -512}), typed ? 0U : 2U},
            {"encoder/short_scale", {}, typed ? 0 : 4, bytes_of(Floats{1024}), typed ? 0U : 1U},
            {"unk_token", {5}, 1, "<unk>"},
            {"float", {1, 1, 2}, typed ? 0 : 4, bytes_of(Floats{1, -1}), typed ? 0U : 2U}};
        if (typed) {
            variables.push_back({"half", {1}, 4, std::string("\0\x3c", 2)});
            variables.push_back({"brain", {1}, 5, std::string("\x80\x3f", 2)});
            variables.push_back({"ids", {1}, 3, std::string("\xff\xff\xff\xff", 4)});
        }
        std::vector<std::pair<std::string, std::string>> aliases;
        if (version >= 3) {
            aliases = {{"decoder/weight", "encoder/weight"},
                       {"heads", "decoder/num_heads"},
                       {"again", "decoder/weight"},
                       {"again_scale", "encoder/weight_scale"}};
        }
        const TensorArchive archive =
            open_ctranslate2_archive(folder.write("model.bin", ctranslate2::model(version, variables, aliases)));
        CHECK(archive.names().size() == (version == 2 ? 3 : version == 3 ? 5 : 8));
        CHECK(archive.objects().at("binary_version") == version);
        CHECK(archive.objects().at("spec_name") == "TransformerSpec");
        CHECK(archive.objects().at("spec_revision") == 7);
        CHECK(archive.objects().at("decoder/num_heads") == 8);
        CHECK(archive.objects().at("decoder/scale") == 0.5);
        CHECK(archive.objects().at("unk_token") == "<unk>");
        CHECK_FALSE(archive.contains("encoder/weight_scale"));
        CHECK(values_of<float>(archive, "encoder/weight") == Floats{63.5F, -63.5F, 0, 0.25F, 0.5F, 0.75F});
        CHECK(archive.entry("encoder/weight").dtype == "I8");
        CHECK(values_of<float>(archive, "encoder/short") == Floats{1, -0.5F});
        CHECK(values_of<float>(archive, "float") == Floats{1, -1});
        CHECK(archive.at("float").shape == Shape{1, 1, 2});
        if (typed) {
            CHECK(archive.at("half").dtype == DType::F16);
            CHECK(archive.at("brain").dtype == DType::BF16);
            CHECK(values_of<std::int32_t>(archive, "ids") == std::vector<std::int32_t>{-1});
        }
        if (version >= 3) {
            CHECK(values_of<float>(archive, "decoder/weight") == values_of<float>(archive, "encoder/weight"));
            CHECK(values_of<float>(archive, "again") == values_of<float>(archive, "encoder/weight"));
            CHECK(archive.objects().at("heads") == 8);
        }
    }
}

TEST_CASE("damaged models are rejected", "[ctranslate2]") {
    const TemporaryFolder folder;
    const Variable weight{"w", {1}, 0, "data"};
    const std::string good = ctranslate2::model(6, {weight, {"s", {2}, 1, "ab"}}, {{"v", "w"}});
    CHECK(error_of([&] { open_ctranslate2_archive(folder.write("good.bin", good)); }) == "");
    for (std::size_t size = 0; size < good.size(); ++size) {
        CAPTURE(size);
        CHECK_THAT(model_complaint(folder, good.substr(0, size)), Contains("truncated"));
    }
    CHECK_THAT(model_complaint(folder, good + "x"), Contains("1 bytes follow"));
    for (const std::uint32_t version : {0U, 1U, 7U, 0x06000000U}) {
        CHECK_THAT(model_complaint(folder, ctranslate2::model(version, {})), Contains("expected 2 to 6"));
    }
    CHECK_THAT(model_complaint(folder, ctranslate2::model(6, {{"w", {1}, 6, "data"}})), Contains("'w' has the type 6"));
    for (const int size : {0, 3, 5, 255}) {
        CHECK_THAT(model_complaint(folder, ctranslate2::model(3, {{"w", {1}, size, "data"}})),
                   Contains("'w' has the item size"));
    }
    CHECK_THAT(model_complaint(folder, ctranslate2::model(6, {{"w", {2}, 0, "data"}})),
               Contains("'w' is F32 [2], which does not match its 4 bytes"));
    CHECK_THAT(model_complaint(folder, ctranslate2::model(6, {{"w", {65536, 65536, 65536, 65536}, 1, ""}})),
               Contains("does not match its 0 bytes"));
    CHECK_THAT(model_complaint(folder, ctranslate2::model(6, {weight, weight})), Contains("two variables 'w'"));
    CHECK_THAT(model_complaint(folder, ctranslate2::model(6, {weight, {"v", {1}, 0, "DATA"}}, {{"v", "w"}})),
               Contains("two variables 'v'"));
    CHECK_THAT(model_complaint(folder, ctranslate2::model(6, {weight}, {{"v", "u"}})),
               Contains("'v' is an alias of 'u', which is missing"));
    CHECK_THAT(model_complaint(folder, ctranslate2::model(6, {{"\xff", {1}, 0, "data"}})), Contains("not UTF-8"));
}

TEST_CASE("scales that do not fit are rejected", "[ctranslate2]") {
    const TemporaryFolder folder;
    const Variable weight{"w", {2, 1}, 1, "ab"};
    for (const Floats& scales : {Floats{1, 2, 3}, Floats{1, 0}, Floats{1, INFINITY}, Floats{NAN, 1}, Floats{}}) {
        const Variable scale{"w_scale", {static_cast<std::uint32_t>(scales.size())}, 0, bytes_of(scales)};
        CHECK_THAT(model_complaint(folder, ctranslate2::model(6, {weight, scale})),
                   Contains("'w'") && Contains("scale"));
    }
    CHECK_THAT(model_complaint(folder, ctranslate2::model(6, {weight, {"w_scale", {2}, 1, "ab"}})),
               Contains("'w_scale'") && Contains("expected floats"));
}
