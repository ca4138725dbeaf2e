// Files of texts with classes or numbers, and examples of them.
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "data/batch.h"
#include "data/batcher.h"
#include "data/labelled_reader.h"
#include "data/labelled_source.h"
#include "support/check.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::vector<LabelledText> read_all_of(const std::string& lines) {
    const TemporaryFolder folder;
    LabelledReader reader(folder.write("a.jsonl", lines));
    std::vector<LabelledText> texts;
    for (LabelledText text; reader.next(text);) {
        texts.push_back(text);
    }
    return texts;
}

std::string complaint_about(const std::string& lines) {
    try {
        read_all_of(lines);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

constexpr const char* kGood = R"({"text": "a", "label": "good"})";

Example labelled(std::vector<std::int32_t> ids, std::size_t at, std::int32_t label) {
    Example example{.target = std::move(ids)};
    example.labels.assign(example.target.size(), kNoTarget);
    example.labels[at] = label;
    example.weights.assign(example.target.size(), 1.0F);
    return example;
}

}  // namespace

TEST_CASE("a text has a class or a number, and maybe a second text", "[labelled]") {
    const std::vector<LabelledText> classes =
        read_all_of(std::string(kGood) + "\n" + R"({"label": "bad day", "pair": "c", "text": "b"})");
    REQUIRE(classes.size() == 2);
    CHECK(classes[0].text == "a");
    CHECK_FALSE(classes[0].pair.has_value());
    CHECK(classes[0].form == LabelForm::Class);
    CHECK(classes[0].labels == std::vector<std::string>{"good"});
    CHECK(classes[1].pair.value() == "c");
    CHECK(classes[1].labels == std::vector<std::string>{"bad day"});
    const std::vector<LabelledText> numbers = read_all_of(R"({"text": "a", "label": -2.5})");
    CHECK(numbers.at(0).form == LabelForm::Number);
    CHECK(numbers.at(0).number == -2.5);
    CHECK(numbers.at(0).labels.empty());
    const std::vector<LabelledText> lists =
        read_all_of("{\"text\": \"a\", \"label\": []}\n{\"text\": \"b\", \"label\": [\"sad\", \"old\"]}\n");
    CHECK(lists.at(0).form == LabelForm::Classes);
    CHECK(lists.at(0).labels.empty());
    CHECK(lists.at(1).labels == std::vector<std::string>{"sad", "old"});
}

TEST_CASE("a model is to say of a text what its labels are", "[labelled]") {
    const std::vector<std::string> classes{"new", "old", "sad"};
    const auto wanted = [&](const char* label, LabelForm form) {
        return wanted_label(read_all_of(fmt::format(R"({{"text": "a", "label": {}}})", label)).front(), form, classes,
                            "line 1");
    };
    CHECK(wanted("\"old\"", LabelForm::Class).label == 1);
    CHECK(wanted("\"old\"", LabelForm::Class).numbers.empty());
    CHECK(wanted("0.5", LabelForm::Number).numbers == std::vector<float>{0.5F});
    CHECK(wanted("[\"sad\", \"new\"]", LabelForm::Classes).numbers == std::vector<float>{1.0F, -1.0F, 1.0F});
    CHECK(wanted("[]", LabelForm::Classes).label == 0);
    CHECK_THROWS_WITH(wanted("[\"glad\"]", LabelForm::Classes), Contains("\"glad\" is unknown to the model"));
    CHECK_THROWS_WITH(wanted("[\"sad\"]", LabelForm::Class),
                      Contains("the label is a list of classes, but the model has classes, of which a text has one"));
    CHECK_THROWS_WITH(wanted("\"sad\"", LabelForm::Classes),
                      Contains("the label is a class, but the model has any number of classes for a text"));
}

TEST_CASE("a line that is no text with a label is named", "[labelled][bad_input]") {
    const auto second = [](const std::string& line) {
        return complaint_about(std::string(kGood) + "\n" + line + "\n");
    };
    CHECK_THAT(second(""), Contains("a.jsonl' line 2 is empty"));
    CHECK_THAT(second("  "), Contains("line 2 is empty"));
    CHECK_THAT(second("[1]"), Contains("line 2"));
    CHECK_THAT(second("{"), Contains("line 2") && Contains("JSON"));
    CHECK_THAT(second(R"({"text": "a"})"), Contains("line 2") && Contains("label"));
    CHECK_THAT(second(R"({"label": "a"})"), Contains("line 2") && Contains("text"));
    CHECK_THAT(second(R"({"text": " ", "label": "a"})"), Contains("\"text\" is empty"));
    CHECK_THAT(second(R"({"text": "a", "pair": "", "label": "a"})"), Contains("\"pair\" is empty"));
    CHECK_THAT(second(R"({"text": "a", "label": ""})"), Contains("\"label\" is empty"));
    CHECK_THAT(second(R"({"text": "a", "label": true})"),
               Contains("must be the name of a class, a list of names or a number"));
    for (const char* list : {R"(["b", "b"])", R"([""])", "[1]"}) {
        CHECK_THAT(complaint_about(fmt::format(R"({{"text": "a", "label": {}}})", list)),
                   Contains("must list names of classes, each once"));
    }
    CHECK_THAT(second(R"({"text": "a", "label": ["b"]})"), Contains("is a list of classes, but earlier lines have"));
    CHECK_THAT(second(R"({"text": "a", "label": "b", "weight": 2})"), Contains("weight"));
    CHECK_THAT(second(R"({"text": "a", "label": 1})"), Contains("is a number, but earlier lines have classes"));
    CHECK_THAT(second(R"({"text": "a", "label": NaN})"), Contains("line 2") && Contains("JSON"));
    CHECK_THAT(second(R"({"text": "a", "label": 1e999})"), Contains("line 2"));
}

TEST_CASE("stored texts come back with their labels, types and numbers", "[labelled]") {
    LabelledStore store("");
    Example first = labelled({5, 6, 7}, 0, 2);
    first.types = {0, 0, 1};
    Example second = labelled({8, 9}, 1, 0);
    second.source = {4, 4, 4, 4};
    second.numbers = {-1.25F};
    Example third = labelled({8, 9}, 0, 0);
    third.numbers = {1.0F, -1.0F, -1.0F};
    store.add(first);
    store.add(second);
    store.add(third);
    CHECK(store.size() == 3);
    CHECK(store.example(0).target == first.target);
    CHECK(store.example(0).labels == first.labels);
    CHECK(store.example(0).types == first.types);
    CHECK(store.example(0).weights == first.weights);
    CHECK(store.example(0).numbers.empty());
    CHECK(store.example(1).source == second.source);
    CHECK(store.example(1).labels == second.labels);
    CHECK(store.example(1).numbers == second.numbers);
    CHECK(store.example(2).numbers == third.numbers);

    LabelledStore other("");
    first.labels[0] = 1;
    other.add(first);
    other.add(second);
    other.add(third);
    CHECK(other.fingerprint() != store.fingerprint());  // only a class differs
    const LabelledSource source(std::move(store), {{3, 1.0}}, 1, Frame{.source_begin = {1}, .source_end = {2}});
    CHECK(source.longest().source == 6);
    CHECK(source.longest().target == 3);
    CHECK(source.predicted_tokens() == 3);
    CHECK_THROWS_AS(LabelledSource(LabelledStore(""), {}, 1, Frame{}), Error);
}

TEST_CASE("a batch has one label a text, its numbers, and 0 elsewhere", "[labelled]") {
    std::vector<Example> texts;
    for (std::int32_t i = 0; i < 6; ++i) {
        texts.push_back(labelled({1, 5, 6, 7, 8, 2}, 5, 0));
        texts.back().numbers = {static_cast<float>(i) + 0.5F, 1.0F};
    }
    for (const std::size_t some : {std::size_t{1}, texts.size()}) {
        const Batch batch = make_batch(std::span(texts).first(some), {}, 0);
        const Gather& predicted = batch.predicted;
        CHECK(predicted.count == static_cast<std::int64_t>(some));
        REQUIRE(predicted.numbers.size() == 2 * predicted.classes.size());
        float sum = 0.0F;
        for (std::size_t row = 0; row < predicted.classes.size(); ++row) {
            CHECK(predicted.weights[row] == (predicted.classes[row] == kNoTarget ? 0.0F : 1.0F));
            CHECK(predicted.numbers[2 * row + 1] == predicted.weights[row]);
            sum += predicted.numbers[2 * row];
        }
        CHECK(sum == (some == 1 ? 0.5F : 18.0F));
    }
}

TEST_CASE("a text for both stacks counts on both sides", "[labelled]") {
    Example text = labelled({1}, 0, 1);
    text.source = {4, 5, 6};
    const Batch batch = make_batch(std::span(&text, 1), {}, 0);
    CHECK(batch.source.lengths == std::vector<std::int32_t>{4});  // with its end
    CHECK(batch.target.lengths == std::vector<std::int32_t>{1});
    CHECK(padded_area(text, {}, {}) == 8);
}
