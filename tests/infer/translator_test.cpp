#include "infer/loaded_model.h"

#include <catch2/catch.hpp>

#include "registry/registry.h"
#include "small_backend.h"
#include "support/check.h"
#include "tiny_model.h"

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
    const auto one_batch = translate(translator, kSentences, {});
    const auto small_batches = translate(translator, kSentences, {.search = {}, .batch_tokens = 16});
    REQUIRE(one_batch.size() == kSentences.size());
    for (std::size_t i = 0; i < kSentences.size(); ++i) {
        INFO(kSentences[i]);
        const TextResult alone = translate_line(translator, kSentences[i], {});
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
    const auto expected = translate(tiny_translator(*cpu), kSentences, {});
    SmallBackend roomy(open_device("cpu"), kPlenty);
    const LoadedModel whole = tiny_translator(roomy);
    const std::int64_t weights = roomy.largest();
    translate(whole, kSentences, {});
    const std::int64_t batch = roomy.largest();
    const std::int64_t alone = [&] {
        SmallBackend one(open_device("cpu"), kPlenty);
        const LoadedModel translator = tiny_translator(one);
        translate(translator, {kSentences[5]}, {});
        return one.largest();
    }();
    REQUIRE(batch > std::max(weights, alone));
    SmallBackend small(open_device("cpu"), std::max(weights, alone));
    const auto found = translate(tiny_translator(small), kSentences, {});
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].text == expected[i].text);
    }
    SmallBackend tiny(open_device("cpu"), weights);
    if (alone > weights) {
        CHECK_THROWS_AS(translate(tiny_translator(tiny), {kSentences[5]}, {}), OutOfMemory);
    }
}

TEST_CASE("a result contains the ids of both sides and the text") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    const ModelDirectory& model = translator.model();
    const TextResult sentence = translate_line(translator, "the small dog", {});
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
    for (const TextResult& sentence : translate(translator, {"cat", "the dog"}, {.search = {.max_extra = extra}})) {
        const auto source = static_cast<std::int64_t>(sentence.source_ids.size());
        const auto target = static_cast<std::int64_t>(sentence.target_ids.size());
        CHECK(target <= std::min<std::int64_t>(source + extra, 16));
        CHECK((sentence.end == EndReason::EndOfSentence || target == std::min<std::int64_t>(source + extra, 16)));
    }
}

TEST_CASE("results come in order after each batch, beginning with the first line's") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend);
    // The first line is the shortest, so its batch is the last by length.
    const std::vector<std::string> lines{"cat", "the small dog sees the big cat on the mat", "", "dog",
                                         "a cat sleeps on the small mat"};
    const DecodingOptions options{.search = {.beam = 1}, .batch_tokens = 1};  // each line alone
    std::vector<std::vector<std::string>> calls;
    std::vector<std::size_t> finished;
    TranslationWork work(translator.model(), numbered(lines), options, translator.longest(),
                         TranslationWork::Order::SoonestFirst);
    for (std::size_t batch = 0; batch <= work.batches(); ++batch) {
        finished.push_back(work.finished());
        calls.emplace_back();
        for (const TextResult& sentence : work.next()) {
            calls.back().push_back(sentence.text);
        }
        if (batch < work.batches()) {
            finish(*translator.begin(work.units_of(batch), options));
            work.done(batch);
        }
    }
    const auto text = [&](std::size_t i) { return translate_line(translator, lines[i], options).text; };
    CHECK(finished == std::vector<std::size_t>{1, 2, 3, 4, 5});
    CHECK(calls == std::vector<std::vector<std::string>>{{}, {text(0)}, {text(1), ""}, {text(3)}, {text(4)}});
}
