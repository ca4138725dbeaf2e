#include "infer/loaded_model.h"

#include <unistd.h>

#include <array>
#include <limits>
#include <numeric>
#include <thread>

#include <catch2/catch.hpp>

#include "infer/translation_stream.h"
#include "registry/registry.h"
#include "small_backend.h"
#include "support/check.h"
#include "tiny_model.h"

using namespace headscope;

namespace {

struct Streamed {
    std::vector<std::string> lines;
    std::vector<std::string> warnings;
    StreamTotals totals;
};

Streamed stream(const LoadedModel& translator, const std::string& input, const DecodingOptions& options) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    std::thread writer([&] {
        for (std::size_t done = 0; done < input.size();) {
            const ssize_t count = ::write(ends[1], input.data() + done, input.size() - done);
            if (count <= 0) {
                break;
            }
            done += static_cast<std::size_t>(count);
        }
        ::close(ends[1]);
    });
    LineSource source(ends[0], "a pipe");
    Streamed result;
    result.totals = translate_stream(translator, source,
                                     {.translated =
                                          [&](const std::vector<StreamedLine>& window) {
                                              for (const StreamedLine& line : window) {
                                                  result.lines.push_back(line.sentence.text);
                                              }
                                          },
                                      .warning = [&](const std::string& text) { result.warnings.push_back(text); }},
                                     options);
    writer.join();
    ::close(ends[0]);
    return result;
}

std::string joined(const std::vector<std::string>& lines) {
    return std::accumulate(lines.begin(), lines.end(), std::string(),
                           [](const std::string& text, const std::string& line) { return text + line + "\n"; });
}

const std::vector<std::string> kSentences{"the dog",
                                          "",
                                          "the small dog sees the big cat on the mat",
                                          "cat",
                                          "a cat sleeps",
                                          "the mat on the mat on the mat sees a dog",
                                          "   ",
                                          "big dog"};

}  // namespace

TEST_CASE("batches contain similar lengths within the budget, each length once") {
    const std::vector<std::int64_t> lengths{3, 0, 40, 9, 8, 3, 17, 200, 1, 0};
    const auto batches = batches_by_length(lengths, 32);
    std::vector<std::size_t> seen;
    std::int64_t last = 1 << 30;
    for (const auto& batch : batches) {
        REQUIRE(!batch.empty());
        const std::int64_t longest = (lengths[batch.front()] + 7) / 8 * 8;
        CHECK((batch.size() == 1 || longest * static_cast<std::int64_t>(batch.size()) <= 32));
        for (const std::size_t index : batch) {
            CHECK(lengths[index] <= last);
            last = lengths[index];
            seen.push_back(index);
        }
    }
    CHECK(seen == std::vector<std::size_t>{7, 2, 6, 3, 4, 0, 5, 8});
    CHECK(batches.size() == 5);  // 200 | 40 | 17 | 9 8 | 3 3 1
    CHECK(batches_by_length({}, 100).empty());
    CHECK(batches_by_length({0, 0}, 100).empty());
}

TEST_CASE("lines keep their order, empty ones stay empty, and batching changes nothing") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const auto one_batch = translator.translate(kSentences, {});
    const auto small_batches = translator.translate(kSentences, {.search = {}, .batch_tokens = 16});
    REQUIRE(one_batch.size() == kSentences.size());
    for (std::size_t i = 0; i < kSentences.size(); ++i) {
        INFO(kSentences[i]);
        const TextResult alone = translator.translate_line(kSentences[i], {});
        CHECK(one_batch[i].target_ids == alone.target_ids);
        CHECK(one_batch[i].text == alone.text);
        CHECK(small_batches[i].text == alone.text);
        CHECK(one_batch[i].problem.empty());
    }
    CHECK(one_batch[1].text.empty());
    CHECK(one_batch[1].source_ids.empty());
    CHECK(one_batch[6].text.empty());
}

TEST_CASE("a batch that does not fit in the device's memory is split in halves") {
    constexpr std::int64_t kPlenty = 1 << 30;
    const auto cpu = open_device("cpu");
    const auto expected = tiny_translator(*cpu).translate(kSentences, {});
    SmallBackend roomy(open_device("cpu"), kPlenty);
    const LoadedModel whole = tiny_translator(roomy);
    const std::int64_t weights = roomy.largest();
    whole.translate(kSentences, {});
    const std::int64_t batch = roomy.largest();
    const std::int64_t alone = [&] {
        SmallBackend one(open_device("cpu"), kPlenty);
        const LoadedModel translator = tiny_translator(one);
        translator.translate({kSentences[5]}, {});
        return one.largest();
    }();
    REQUIRE(batch > std::max(weights, alone));
    SmallBackend small(open_device("cpu"), std::max(weights, alone));
    const auto found = tiny_translator(small).translate(kSentences, {});
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].text == expected[i].text);
    }
    SmallBackend tiny(open_device("cpu"), weights);
    if (alone > weights) {
        CHECK_THROWS_AS(tiny_translator(tiny).translate({kSentences[5]}, {}), OutOfMemory);
    }
}

TEST_CASE("a result contains the ids of both sides and the text") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const ModelDirectory& model = translator.model();
    const TextResult sentence = translator.translate_line("the small dog", {});
    std::vector<std::int32_t> source = model.source_tokenizer->encode("the small dog");
    source.push_back(model.config.frame.eos_id);
    CHECK(sentence.source_ids == source);
    std::vector<std::int32_t> words = sentence.target_ids;
    REQUIRE(!words.empty());
    if (sentence.end == EndReason::EndOfSentence) {
        CHECK(words.back() == model.config.frame.eos_id);
        words.pop_back();
    }
    CHECK(std::find(words.begin(), words.end(), model.config.frame.eos_id) == words.end());
    CHECK(sentence.text == model.target_tokenizer->decode(words));
    CHECK(sentence.score ==
          sentence.log_probability / length_penalty(static_cast<std::int64_t>(sentence.target_ids.size()), 0.6));
}

TEST_CASE("the output is at most max_extra longer than the input, and fits the model's maximum") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend, 16);
    const auto extra = GENERATE(std::int64_t{0}, std::int64_t{2}, std::int64_t{500});
    for (const TextResult& sentence : translator.translate({"cat", "the dog"}, {.search = {.max_extra = extra}})) {
        const auto source = static_cast<std::int64_t>(sentence.source_ids.size());
        const auto target = static_cast<std::int64_t>(sentence.target_ids.size());
        CHECK(target <= std::min<std::int64_t>(source + extra, 16));
        CHECK((sentence.end == EndReason::EndOfSentence || target == std::min<std::int64_t>(source + extra, 16)));
    }
}

TEST_CASE("a line that cannot be translated is reported, and the others are translated") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    std::string many;
    for (int i = 0; i < 100; ++i) {
        many += "dog ";
    }
    const Streamed result = stream(translator, joined({"the dog", many, "the \xff cat", "", "cat"}), {});
    REQUIRE(result.lines.size() == 5);
    CHECK(result.lines[0] == translator.translate_line("the dog", {}).text);
    CHECK(result.lines[1].empty());
    CHECK(result.lines[2].empty());
    CHECK(result.lines[4] == translator.translate_line("cat", {}).text);
    REQUIRE(result.warnings.size() == 2);
    CHECK_THAT(result.warnings[0], Catch::Matchers::Contains("line 2:") && Catch::Matchers::Contains("at most 64"));
    CHECK_THAT(result.warnings[1], Catch::Matchers::Contains("line 3:") && Catch::Matchers::Contains("byte 5"));
    CHECK(result.totals.lines == 5);
    CHECK(result.totals.problems == 2);
    CHECK_THROWS_AS(translator.translate_line(many, {}), Error);
}

TEST_CASE("NaN in one line does not affect the others") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const std::string expected = translator.translate_line("the cat", {}).text;
    // Finite weights cannot produce NaN, so this uses weights that no file may contain.
    const Tensor table = translator.parameters().at("source_embedding.weight").value();
    const std::vector<float> broken(static_cast<std::size_t>(table.dim(1)), std::numeric_limits<float>::quiet_NaN());
    const std::int32_t dog = translator.model().source_tokenizer->encode("dog").back();
    backend->upload(table.narrow(0, dog, 1), broken.data(), broken.size() * sizeof(float));
    const Streamed result = stream(translator, joined({"the cat", "dog", "the cat"}), {});
    CHECK(result.lines == std::vector<std::string>{expected, "", expected});
    REQUIRE(result.warnings.size() == 1);
    CHECK_THAT(result.warnings[0], Catch::Matchers::Contains("line 2:") && Catch::Matchers::Contains("NaN"));
}

TEST_CASE("results are passed on in order after each batch, starting with the first line's") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    // The first line is the shortest, so its batch is the last by length.
    const std::vector<std::string> lines{"cat", "the small dog sees the big cat on the mat", "", "dog",
                                         "a cat sleeps on the small mat"};
    const DecodingOptions options{.search = {.beam = 1}, .batch_tokens = 1};  // each line alone
    std::vector<std::vector<std::string>> calls;
    std::vector<std::size_t> finished;
    translator.translate_in_order(lines, options, [&](const std::vector<TextResult>& next, std::size_t count) {
        finished.push_back(count);
        calls.emplace_back();
        for (const TextResult& sentence : next) {
            calls.back().push_back(sentence.text);
        }
    });
    const auto text = [&](std::size_t i) { return translator.translate_line(lines[i], options).text; };
    CHECK(finished == std::vector<std::size_t>{1, 2, 3, 4, 5});
    CHECK(calls == std::vector<std::vector<std::string>>{{}, {text(0)}, {text(1), ""}, {text(3)}, {text(4)}});
}

TEST_CASE("a window contains the lines of a few seconds") {
    WindowSize size;
    CHECK(size.lines() == WindowSize::kFirst);
    size.measured(64, 0.0);  // too fast to measure
    CHECK(size.lines() == 512);
    size.measured(512, 8.0);
    CHECK(size.lines() == 320);
    size.measured(320, 160.0);
    CHECK(size.lines() == WindowSize::kSmallest);
    size.measured(16, 0.1);
    CHECK(size.lines() == 128);
    for (int i = 0; i < 20; ++i) {
        size.measured(size.lines(), 0.001);
    }
    CHECK(size.lines() == WindowSize::kLargest);
    size.measured(1, 0.1);  // a slow writer
    CHECK(size.lines() == 50);
}

TEST_CASE("translations cut at the maximum length are counted") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const std::vector<std::string> lines{"the dog", "", "cat"};
    const DecodingOptions options{.search = {.beam = 1, .max_extra = 0}};
    std::int64_t cut = 0;
    for (const std::string& line : lines) {
        const TextResult sentence = translator.translate_line(line, options);
        cut += !sentence.target_ids.empty() && sentence.target_ids.back() != translator.model().config.frame.eos_id ? 1
                                                                                                                    : 0;
    }
    REQUIRE(cut > 0);
    CHECK(stream(translator, joined(lines), options).totals.cut == cut);
}

TEST_CASE("lines of 100,000 characters and of megabytes are rejected, not partly translated") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    std::string words;
    while (words.size() < 100'000) {
        words += "the cat ";
    }
    const Streamed result =
        stream(translator, joined({std::string(100'000, 'a'), words, std::string(3'000'000, 'b'), "cat"}), {});
    REQUIRE(result.lines.size() == 4);
    CHECK(result.lines[0].empty());
    CHECK(result.lines[1].empty());
    CHECK(result.lines[2].empty());
    CHECK(result.lines[3] == translator.translate_line("cat", {}).text);
    REQUIRE(result.warnings.size() == 3);
    CHECK_THAT(result.warnings[2], Catch::Matchers::Contains("line 3: 3000000 bytes"));
}

TEST_CASE("a stream of many windows gives one line for each, in order") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    std::vector<std::string> lines;
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < 150; ++i) {
        lines.push_back(kSentences[i * 7 % kSentences.size()]);
        expected.push_back(translator.translate_line(lines.back(), {.search = {.beam = 1}}).text);
    }
    const Streamed result = stream(translator, joined(lines), {.search = {.beam = 1}});
    CHECK(result.lines == expected);
    CHECK(result.warnings.empty());
}
