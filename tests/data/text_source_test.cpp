#include "data/text_source.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "data/batcher.h"
#include "data/document_reader.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Ids = std::vector<std::int32_t>;

namespace {

const Frame kSpecial;
constexpr std::int32_t kMask = 4;
constexpr std::int32_t kFirst = 10;  // of the pieces of text

// A vocabulary of `size` pieces. Those of text with an even id begin a word.
TextVocabulary vocabulary(std::int32_t size = 5000) {
    TextVocabulary made{.mask = kMask, .sentinels = {5, 6, 7, 8, 9}};
    for (std::int32_t id = 0; id < size; ++id) {
        made.is_text.push_back(id >= kFirst);
        made.begins_word.push_back(id % 2 == 0);
        if (id >= kFirst) {
            made.normal.push_back(id);
        }
    }
    return made;
}

// Documents of these lengths, whose pieces count up.
DocumentStore documents(const std::vector<int>& lengths) {
    DocumentStore store("");
    std::int32_t next = kFirst;
    for (const int length : lengths) {
        Ids ids(static_cast<std::size_t>(length));
        std::iota(ids.begin(), ids.end(), next);
        next += length;
        store.begin();
        // In several parts, as from the lines of a paragraph.
        store.add(std::span(ids).first(ids.size() / 2));
        store.add(std::span(ids).subspan(ids.size() / 2));
    }
    return store;
}

std::unique_ptr<TextSource> source_of(const std::vector<int>& lengths, TextOptions options, std::uint64_t seed = 3) {
    return std::make_unique<TextSource>(documents(lengths), std::vector<WeightedDocuments>{{lengths.size(), 1.0}},
                                        vocabulary(), options, seed);
}

std::vector<Example> all_of(const TextSource& source, std::int64_t number) {
    const Epoch epoch = source.epoch(number);
    std::vector<std::uint32_t> every(epoch.examples());
    std::iota(every.begin(), every.end(), std::uint32_t{0});
    return source.fetch(epoch, every);
}

// What a masked model was given, without its masks.
Ids restored(const Example& block) {
    Ids ids = block.target;
    for (std::size_t at = 0; at < ids.size(); ++at) {
        ids[at] = block.labels[at] == kNoTarget ? ids[at] : block.labels[at];
    }
    return ids;
}

// The spans back in their places.
Ids rebuilt(const Example& pair) {
    std::map<std::int32_t, Ids> spans;
    std::int32_t sentinel = 0;
    for (const std::int32_t id : pair.target) {
        if (id < kFirst) {
            sentinel = id;
        } else {
            spans[sentinel].push_back(id);
        }
    }
    Ids text;
    for (const std::int32_t id : pair.source) {
        const Ids piece = id < kFirst ? spans.at(id) : Ids{id};
        text.insert(text.end(), piece.begin(), piece.end());
    }
    return text;
}

bool same(const std::vector<Example>& a, const std::vector<Example>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Example& x, const Example& y) {
        return x.source == y.source && x.target == y.target && x.labels == y.labels && x.starts == y.starts;
    });
}

}  // namespace

TEST_CASE("documents are lines or paragraphs", "[text_source]") {
    const TemporaryFolder folder;
    const auto read = [&](const std::string& text, DocumentForm form) {
        DocumentReader reader(folder.write("text", text), form);
        std::vector<std::string> found;
        for (std::string part; reader.next(part);) {
            if (reader.begins()) {
                found.push_back(part);
            } else {
                found.back() += "|" + part;
            }
        }
        return found;
    };
    const std::string text = "\n a\nb\n \n\nc\n";
    CHECK(read(text, DocumentForm::Line) == std::vector<std::string>{" a", "b", "c"});
    CHECK(read(text, DocumentForm::Paragraph) == std::vector<std::string>{" a|b", "c"});
    CHECK(read(" \n\n", DocumentForm::Line).empty());
    CHECK_THAT(error_of([&] { read("a\n\xff\n", DocumentForm::Line); }), Contains("line 2") && Contains("UTF-8"));
    // Long lines come in parts, between words if possible, else between characters.
    const std::string words = std::string(4000, 'x') + " " + std::string(200, 'y');
    CHECK(read(words, DocumentForm::Line) ==
          std::vector<std::string>{std::string(4000, 'x') + " |" + std::string(200, 'y')});
    std::string one_word;
    for (int i = 0; i < 3000; ++i) {
        one_word += "\u00e4";
    }
    const std::string parts = "a" + one_word;
    CHECK(read(parts, DocumentForm::Paragraph) ==
          std::vector<std::string>{parts.substr(0, 4095) + "|" + parts.substr(4095)});
}

TEST_CASE("a causal block holds documents with bos, labelled with the next piece or eos", "[text_source]") {
    const auto source = source_of({3}, {.task = Task::Causal, .longest = 8, .frame = kSpecial});
    const std::vector<Example> blocks = all_of(*source, 0);
    REQUIRE(blocks.size() == 1);
    CHECK(blocks[0].target == Ids{kSpecial.bos, 10, 11, 12});
    CHECK(blocks[0].labels == Ids{10, 11, 12, kSpecial.eos});
    CHECK(blocks[0].starts == Ids{0});
    CHECK(source->predicted_tokens() == 4);
}

TEST_CASE("without bos, a causal document starts with a piece that nothing predicts", "[text_source]") {
    const auto source = source_of({3, 1}, {.task = Task::Causal, .longest = 8, .packed = false, .frame = {.bos = -1}});
    const std::vector<Example> blocks = all_of(*source, 0);
    REQUIRE(blocks.size() == 2);
    const Example& longer = blocks[blocks[0].target.size() == 3 ? 0 : 1];
    CHECK(longer.labels == Ids{longer.target[1], longer.target[2], 2});
    CHECK(blocks[blocks[0].target.size() == 3 ? 1 : 0].labels == Ids{2});
}

TEST_CASE("blocks pack all documents, and long documents continue in the next one", "[text_source]") {
    const bool packed = GENERATE(true, false);
    const Task task = GENERATE(Task::Causal, Task::Masked);
    const std::vector<int> lengths{3, 1, 40, 7, 2, 2600, 5};
    const auto source = source_of(lengths, {.task = task, .longest = 16, .packed = packed, .frame = kSpecial});
    const std::int64_t special = task == Task::Masked ? 2 : 1;
    const std::vector<Example> blocks = all_of(*source, 1);
    Ids stream, labels;
    std::size_t starts = 0;
    for (const Example& block : blocks) {
        REQUIRE(block.target.size() <= 16);
        REQUIRE(block.labels.size() == block.target.size());
        REQUIRE(block.starts.at(0) == 0);
        for (const std::int32_t start : block.starts) {
            const bool begins = block.target[static_cast<std::size_t>(start)] == kSpecial.bos;
            REQUIRE((begins || start == 0));
            starts += begins ? 1 : 0;
        }
        CHECK((packed || block.starts.size() == 1));
        const Ids ids = task == Task::Masked ? restored(block) : block.target;
        stream.insert(stream.end(), ids.begin(), ids.end());
        labels.insert(labels.end(), block.labels.begin(), block.labels.end());
    }
    const std::size_t positions = 2658 + lengths.size() * static_cast<std::size_t>(special);
    CHECK(stream.size() == positions);
    CHECK(source->tokens(source->epoch(1)).target == static_cast<std::int64_t>(positions));
    CHECK((!packed || blocks.size() == (positions + 15) / 16));
    CHECK(starts == lengths.size());
    // Every piece occurs once, and each document is in its order.
    std::set<std::int32_t> pieces;
    for (std::size_t at = 0; at < stream.size(); ++at) {
        if (stream[at] >= kFirst) {
            pieces.insert(stream[at]);
            const std::int32_t before = stream[at - 1];
            CHECK((before == kSpecial.bos || before + 1 == stream[at]));
        }
        if (task == Task::Causal) {
            CHECK((labels[at] == kSpecial.eos || (at + 1 < stream.size() && labels[at] == stream[at + 1])));
        }
    }
    CHECK(pieces.size() == 2658);
}

TEST_CASE("epochs shuffle documents, and depend only on the seed and their number", "[text_source]") {
    const Task task = GENERATE(Task::Causal, Task::Masked, Task::Span);
    const std::vector<int> lengths{9, 12, 15, 3, 8, 20, 11};
    const TextOptions options{.task = task, .longest = 16, .frame = kSpecial};
    const auto source = source_of(lengths, options);
    CHECK(same(all_of(*source, 2), all_of(*source_of(lengths, options), 2)));
    CHECK(!same(all_of(*source, 2), all_of(*source, 3)));
    CHECK(!same(all_of(*source, 2), all_of(*source_of(lengths, options, 4), 2)));
    CHECK(source->fingerprint() == source_of(lengths, options, 4)->fingerprint());
    CHECK(source->fingerprint() != source_of({9, 12, 15, 3, 8, 21, 10}, options)->fingerprint());
}

TEST_CASE("the same block is corrupted differently by other epochs, seeds and examples", "[text_source]") {
    const Task task = GENERATE(Task::Masked, Task::Span);
    const TextOptions options{.task = task, .longest = 64, .frame = kSpecial};
    const auto one = source_of({60}, options);
    const std::vector<Example> first = all_of(*one, 0);
    REQUIRE(first.size() == 1);
    CHECK(same(all_of(*one, 0), first));
    CHECK(!same(all_of(*one, 1), first));
    CHECK(!same(all_of(*source_of({60}, options, 4), 0), first));
    const auto many = source_of({600}, options);
    std::set<std::vector<std::size_t>> places;
    for (const Example& block : all_of(*many, 0)) {
        std::vector<std::size_t> corrupted;
        for (std::size_t at = 0; at < block.labels.size(); ++at) {
            if (block.labels[at] != kNoTarget) {
                corrupted.push_back(at);
            }
        }
        for (std::size_t at = 0; at < block.source.size(); ++at) {
            if (block.source[at] < kFirst) {
                corrupted.push_back(at);
            }
        }
        places.insert(corrupted);
    }
    CHECK(places.size() == 10);
}

TEST_CASE("weights count for documents, too", "[text_source]") {
    const TextSource source(documents({5, 6, 7}), {{1, 3.0}, {2, 1.0}}, vocabulary(),
                            {.longest = 100, .packed = false, .frame = kSpecial}, 1);
    std::map<std::size_t, int> times;
    for (const Example& block : all_of(source, 0)) {
        ++times[block.target.size()];
    }
    CHECK(times == std::map<std::size_t, int>{{6, 3}, {7, 1}, {8, 1}});
}

TEST_CASE("15 percent of the pieces are predicted: 80 percent masked, 10 replaced, 10 kept", "[text_source]") {
    const bool whole_words = GENERATE(false, true);
    const TextOptions options{.task = Task::Masked, .longest = 128, .whole_words = whole_words, .frame = kSpecial};
    const auto source = source_of(std::vector<int>(90, 50), options);
    double pieces = 0, predicted = 0, masked = 0, kept = 0, replaced = 0;
    for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
        for (const Example& block : all_of(*source, epoch)) {
            const Ids ids = restored(block);
            for (std::size_t at = 0; at < ids.size(); ++at) {
                const std::int32_t label = block.labels[at];
                pieces += ids[at] >= kFirst ? 1 : 0;
                predicted += label != kNoTarget ? 1 : 0;
                CHECK((label == kNoTarget || label >= kFirst));
                masked += block.target[at] == kMask ? 1 : 0;
                kept += block.target[at] == label ? 1 : 0;
                replaced += label != kNoTarget && block.target[at] != label && block.target[at] >= kFirst ? 1 : 0;
                // Pieces with an odd id continue a word, unless that began in the block before.
                if (whole_words && at > 0 && ids[at] >= kFirst && ids[at] % 2 == 1 && ids[at - 1] >= kFirst) {
                    CHECK((label == kNoTarget) == (block.labels[at - 1] == kNoTarget));
                }
            }
        }
    }
    CHECK(pieces == 45'000);
    CHECK(predicted / pieces == Approx(0.15).margin(0.006));
    CHECK(masked / predicted == Approx(0.8).margin(0.015));
    CHECK(replaced / predicted == Approx(0.1).margin(0.015));
    CHECK(kept / predicted == Approx(0.1).margin(0.015));
}

TEST_CASE("every block predicts something", "[text_source]") {
    const auto source = source_of(std::vector<int>(200, 1), {.task = Task::Masked, .packed = false, .frame = kSpecial});
    for (const Example& block : all_of(*source, 0)) {
        CHECK(block.labels[1] >= kFirst);
        CHECK(block.labels[0] == kNoTarget);
        CHECK(block.labels[2] == kNoTarget);
    }
}

TEST_CASE("spans and what is left of the text give the text", "[text_source]") {
    const std::vector<int> lengths{1, 2, 3, 7, 60, 200, 31, 32};
    const auto source = source_of(lengths, {.task = Task::Span, .longest = 64, .frame = kSpecial});
    std::size_t pieces = 0, taken = 0;
    for (const Example& pair : all_of(*source, 0)) {
        CHECK(pair.labels.empty());
        REQUIRE(pair.source.size() + 1 <= 64);
        const Ids text = rebuilt(pair);
        REQUIRE(text.size() <= 63);
        for (std::size_t at = 1; at < text.size(); ++at) {
            CHECK(text[at] == text[at - 1] + 1);
        }
        const auto spans = std::count_if(pair.target.begin(), pair.target.end(), [](auto id) { return id < kFirst; });
        CHECK(static_cast<std::size_t>(spans) == spans_of(text.size()));
        CHECK(pair.target.front() == 5);
        pieces += text.size();
        taken += pair.target.size() - static_cast<std::size_t>(spans);
    }
    CHECK(pieces == 336);
    CHECK(static_cast<double>(taken) / 336.0 == Approx(0.15).margin(0.02));
    CHECK(control_pieces_of(Task::Span, 63) ==
          std::vector<std::string>{"<extra_id_0>", "<extra_id_1>", "<extra_id_2>"});
    CHECK_THAT(error_of([&] { source_of(lengths, {.task = Task::Span, .longest = 512}); }),
               Contains("5 sentinels") && Contains("need 26"));
}

TEST_CASE("a text source resumes at any step with the same blocks", "[text_source]") {
    const Task task = GENERATE(Task::Causal, Task::Masked, Task::Span);
    const BatchBudget budget{.source_tokens = 64, .target_tokens = 64};
    const auto batcher = [&] {
        return Batcher(source_of(std::vector<int>(30, 11), {.task = task, .longest = 16, .frame = kSpecial}), budget, 5,
                       kSpecial, 10);
    };
    Batcher whole = batcher();
    int packed = 0;
    for (int step = 0; step < 40; ++step) {
        Batcher resumed = batcher();
        resumed.go_to(whole.position());
        const Batcher::Step next = whole.next().examples;
        REQUIRE(same(resumed.next().examples, next));
        const Batch batch = whole.batch(next);
        CHECK(batch.predicted.count > 0);
        CHECK((task == Task::Span) == (batch.source.length > 0));
        packed += batch.target.ranges.empty() ? 0 : 1;
    }
    CHECK((packed > 20) == (task != Task::Span));
    CHECK(whole.position().epoch > 1);
}

TEST_CASE("a text without documents, or a vocabulary without a mask, is an error", "[text_source]") {
    CHECK_THAT(error_of([] { source_of({}, {}); }), Contains("no documents"));
    TextVocabulary none = vocabulary();
    none.mask = -1;
    CHECK_THAT(error_of([&] {
                   TextSource(documents({3}), {{1, 1.0}}, none, {.task = Task::Masked}, 1);
               }),
               Contains("no <mask>"));
}
