#include "engine/translation_stream.h"

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "crew.h"

using namespace headscope;

namespace {

const std::vector<std::string> kSentences{"the dog",
                                          "",
                                          "the small dog sees the big cat on the mat",
                                          "cat",
                                          "a cat sleeps",
                                          "the mat on the mat on the mat sees a dog",
                                          "   ",
                                          "big dog"};

struct Streamed {
    std::vector<std::string> lines;
    std::vector<std::string> warnings;
    StreamTotals totals;
};

Streamed stream(const std::string& input, const DecodingOptions& options = {}, const LoadModel& load = load_tiny) {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team(load);
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
    result.totals = translate_stream(team.lines(), source,
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

}  // namespace

TEST_CASE("a line that cannot be translated is reported, and the others are translated") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    std::string many;
    for (int i = 0; i < 100; ++i) {
        many += "dog ";
    }
    const Streamed result = stream(joined({"the dog", many, "the \xff cat", "", "cat"}));
    REQUIRE(result.lines.size() == 5);
    CHECK(result.lines[0] == translate_line(translator, "the dog", {}).text);
    CHECK(result.lines[1].empty());
    CHECK(result.lines[2].empty());
    CHECK(result.lines[4] == translate_line(translator, "cat", {}).text);
    REQUIRE(result.warnings.size() == 2);
    CHECK_THAT(result.warnings[0], Catch::Matchers::Contains("line 2:") && Catch::Matchers::Contains("at most 64"));
    CHECK_THAT(result.warnings[1], Catch::Matchers::Contains("line 3:") && Catch::Matchers::Contains("byte 5"));
    CHECK(result.totals.lines == 5);
    CHECK(result.totals.problems == 2);
    CHECK_THROWS_AS(translate_line(translator, many, {}), Error);
}

TEST_CASE("NaN in one line does not affect the others") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const std::string expected = translate_line(translator, "the cat", {}).text;
    const auto load = [](Backend& opened, const WeightStorage& storage) {
        std::unique_ptr<const LoadedModel> loaded = load_tiny(opened, storage);
        // Finite weights cannot produce NaN, so these are weights that no file may contain.
        const Tensor table = loaded->parameters().at("source_embedding.weight").value();
        const std::vector<float> broken(static_cast<std::size_t>(table.dim(1)),
                                        std::numeric_limits<float>::quiet_NaN());
        const std::int32_t dog = loaded->model().source_tokenizer->encode("dog").back();
        opened.upload(table.narrow(0, dog, 1), broken.data(), broken.size() * sizeof(float));
        return loaded;
    };
    const Streamed result = stream(joined({"the cat", "dog", "the cat"}), {}, load);
    CHECK(result.lines == std::vector<std::string>{expected, "", expected});
    REQUIRE(result.warnings.size() == 1);
    CHECK_THAT(result.warnings[0], Catch::Matchers::Contains("line 2:") && Catch::Matchers::Contains("NaN"));
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
        const TextResult sentence = translate_line(translator, line, options);
        cut += !sentence.target_ids.empty() && sentence.target_ids.back() != translator.model().config.frame.eos_id ? 1
                                                                                                                    : 0;
    }
    REQUIRE(cut > 0);
    CHECK(stream(joined(lines), options).totals.cut == cut);
}

TEST_CASE("lines of 100,000 characters and of megabytes are rejected, not partly translated") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    std::string words;
    while (words.size() < 100'000) {
        words += "the cat ";
    }
    const Streamed result = stream(joined({std::string(100'000, 'a'), words, std::string(3'000'000, 'b'), "cat"}));
    REQUIRE(result.lines.size() == 4);
    CHECK(result.lines[0].empty());
    CHECK(result.lines[1].empty());
    CHECK(result.lines[2].empty());
    CHECK(result.lines[3] == translate_line(translator, "cat", {}).text);
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
        expected.push_back(translate_line(translator, lines.back(), {.search = {.beam = 1}}).text);
    }
    const Streamed result = stream(joined(lines), {.search = {.beam = 1}});
    CHECK(result.lines == expected);
    CHECK(result.warnings.empty());
}
