#include "infer/fleet.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <numeric>
#include <thread>

#include "registry/registry.h"
#include "support/check.h"
#include "tests/backend/forwarding_backend.h"
#include "tests/ops/devices.h"
#include "tiny_model.h"

using namespace headscope;

namespace {

using Catch::Matchers::Contains;

// A device that is lost after some products.
class DyingBackend final : public ForwardingBackend {
public:
    DyingBackend(std::unique_ptr<Backend> inner, int products) : ForwardingBackend(std::move(inner)), left_(products) {}
    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        if (left_-- <= 0) {
            throw Error("the device is gone");
        }
        ForwardingBackend::run(op);
    }

private:
    int left_;
};

// One that hangs.
class LosingBackend final : public ForwardingBackend {
public:
    LosingBackend(std::unique_ptr<Backend> inner, int products)
        : ForwardingBackend(std::move(inner)), left_(products) {}
    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        if (left_-- <= 0) {
            throw DeviceLost("the device hung");
        }
        ForwardingBackend::run(op);
    }

private:
    int left_;
};

// One that takes its time.
class SlowBackend final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        std::this_thread::sleep_for(std::chrono::milliseconds(8));
        ForwardingBackend::run(op);
    }
};

std::vector<SourceLine> many_lines() {
    const std::vector<std::string> words{"the", "dog", "cat", "sees", "big", "small", "mat", "on", "sleeps", "a"};
    std::vector<SourceLine> lines;
    for (std::uint32_t i = 0; i < 60; ++i) {
        std::string text;
        for (std::uint32_t word = 0; word < i % 9; ++word) {
            text += words[(i * 7 + word * 3) % words.size()] + " ";
        }
        lines.push_back({.text = text, .number = i + 1});
    }
    return lines;
}

// A translation of many lines, in small batches.
struct Crew {
    std::vector<std::unique_ptr<Backend>> backends;
    std::vector<std::unique_ptr<Translator>> translators;
    std::vector<std::string> warnings;

    void add(std::unique_ptr<Backend> backend) {
        backends.push_back(std::move(backend));
        translators.push_back(std::make_unique<Translator>(tiny_translator(*backends.back())));
    }
    Fleet fleet() {
        std::vector<Fleet::Member> members;
        for (std::size_t i = 0; i < translators.size(); ++i) {
            members.push_back({.name = "device " + std::to_string(i), .translator = translators[i].get()});
        }
        return {members, [this](const std::string& message) { warnings.push_back(message); }};
    }
};

constexpr std::int64_t kBatchTokens = 32;

std::vector<std::string> texts(const LineTranslator& translator) {
    std::vector<std::string> found;
    std::size_t finished_before = 0;
    translator.translate_in_order(many_lines(), {.search = {}, .batch_tokens = kBatchTokens},
                                  [&](std::vector<TranslatedSentence> next, std::size_t finished) {
                                      for (const TranslatedSentence& sentence : next) {
                                          found.push_back(sentence.text);
                                      }
                                      CHECK(finished >= found.size());
                                      CHECK(finished >= finished_before);
                                      finished_before = finished;
                                  });
    return found;
}

std::vector<std::string> expected() {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    return texts(tiny_translator(*cpu));
}

std::int64_t sentences_of(const std::vector<Fleet::Share>& shares) {
    return std::accumulate(shares.begin(), shares.end(), std::int64_t{0},
                           [](std::int64_t sum, const Fleet::Share& share) { return sum + share.sentences; });
}

std::int64_t sentences_with_words() {
    std::int64_t count = 0;
    for (const SourceLine& line : many_lines()) {
        count += line.text.empty() ? 0 : 1;
    }
    return count;
}

}  // namespace

TEST_CASE("several devices give every line once and in order, as one does", "[fleet]") {
    Crew crew;
    crew.add(open_device("cpu"));
    for (const std::string& id : conformance::devices_under_test()) {
        std::unique_ptr<Backend> device = open_device(id);
        if (device->device().backend == "cuda" && device->device().software) {
            WARN("SKIPPED: the emulated CUDA device, which is one thread's");
            continue;
        }
        crew.add(std::move(device));
        crew.add(open_device(id));
    }
    const Fleet fleet = crew.fleet();
    CHECK(texts(fleet) == expected());
    CHECK(texts(fleet) == expected());  // window after window
    CHECK(crew.warnings.empty());
    CHECK(sentences_of(fleet.shares()) == 2 * sentences_with_words());
}

TEST_CASE("a device that fails in the middle loses no line", "[fleet]") {
    for (const int products : {0, 1, 30, 400}) {
        INFO(products << " products");
        Crew crew;
        crew.add(open_device("cpu"));
        crew.add(std::make_unique<DyingBackend>(open_device("cpu"), products));
        const Fleet fleet = crew.fleet();
        CHECK(texts(fleet) == expected());
        CHECK(texts(fleet) == expected());
        const std::vector<Fleet::Share> shares = fleet.shares();
        CHECK(shares[0].failure.empty());
        CHECK(sentences_of(shares) == 2 * sentences_with_words());
        if (!shares[1].failure.empty()) {  // it may never have got so far
            CHECK(shares[1].failure == "the device is gone");
            REQUIRE(crew.warnings.size() == 1);
            CHECK(crew.warnings[0] == "device 1 failed, and the other devices go on with its work: the device is gone");
        }
        if (products == 0) {
            CHECK(shares[1].batches == 0);
        }
    }
}

TEST_CASE("a device that is far slower gets what tells its pace, and little more", "[fleet]") {
    Crew crew;
    crew.add(std::make_unique<SlowBackend>(open_device("cpu")));
    crew.add(open_device("cpu"));
    const Fleet fleet = crew.fleet();
    for (int window = 0; window < 4; ++window) {
        CHECK(texts(fleet) == expected());
    }
    const std::vector<Fleet::Share> shares = fleet.shares();
    CHECK(shares[0].batches <= 4);
    CHECK(sentences_of(shares) == 4 * sentences_with_words());
}

TEST_CASE("a device that was lost is opened again, once", "[fleet]") {
    for (const int products : {1000000, 60}) {  // that the fresh one lasts
        INFO(products << " products");
        Crew crew;
        crew.add(std::make_unique<LosingBackend>(open_device("cpu"), 30));
        int opened = 0;
        const Fleet fleet({{.name = "gpu",
                            .translator = crew.translators[0].get(),
                            .reopen =
                                [&] {
                                    ++opened;
                                    crew.add(std::make_unique<LosingBackend>(open_device("cpu"), products));
                                    return static_cast<const Translator*>(crew.translators.back().get());
                                }}},
                          [&](const std::string& message) { crew.warnings.push_back(message); });
        if (products > 60) {
            CHECK(texts(fleet) == expected());
            CHECK(texts(fleet) == expected());
            CHECK(fleet.shares()[0].failure.empty());
        } else {
            CHECK_THROWS_AS(texts(fleet), DeviceLost);
            CHECK(fleet.shares()[0].failure == "the device hung");
        }
        CHECK(opened == 1);
        CHECK(crew.warnings == std::vector<std::string>{"gpu was opened again and goes on: the device hung"});
    }
}

TEST_CASE("what an attempt left that failed half way is not there twice", "[fleet]") {
    const auto cpu = open_device("cpu");
    const Translator translator = tiny_translator(*cpu);
    const TranslationOptions options{.search = {.beam = 3, .n_best = 3}};
    TranslationWork work(translator.model(), {{.text = "the dog"}}, options, 64, TranslationWork::Order::SoonestFirst);
    translator.translate_units(work.units_of(0), options);
    translator.translate_units(work.units_of(0), options);
    work.done(0);
    CHECK(work.next().at(0).n_best.size() == 3);
}

TEST_CASE("a lost device that cannot be opened again says both", "[fleet]") {
    Crew crew;
    crew.add(std::make_unique<LosingBackend>(open_device("cpu"), 30));
    const Fleet fleet({{.name = "gpu",
                        .translator = crew.translators[0].get(),
                        .reopen = []() -> const Translator* { throw Error("it is gone for good"); }}},
                      [](const std::string& /*message*/) {});
    CHECK_THROWS_WITH(texts(fleet), Contains("the device hung; opened again: it is gone for good"));
}

TEST_CASE("one device's failure is told as it is", "[fleet]") {
    Crew crew;
    crew.add(std::make_unique<DyingBackend>(open_device("cpu"), 30));
    const Fleet fleet = crew.fleet();
    CHECK_THROWS_WITH(texts(fleet), "the device is gone");
    CHECK(crew.warnings.empty());
    CHECK_THROWS_WITH(texts(fleet), Contains("each has failed before"));
}

TEST_CASE("where no device is left, the last one's failure is told", "[fleet]") {
    Crew crew;
    crew.add(std::make_unique<DyingBackend>(open_device("cpu"), 30));
    crew.add(std::make_unique<DyingBackend>(open_device("cpu"), 60));
    const Fleet fleet = crew.fleet();
    CHECK_THROWS_WITH(texts(fleet), Contains("no device is left") && Contains("the device is gone"));
    CHECK(crew.warnings.size() == 1);
}

TEST_CASE("who takes the results may stop it", "[fleet]") {
    Crew crew;
    crew.add(open_device("cpu"));
    crew.add(open_device("cpu"));
    const Fleet fleet = crew.fleet();
    const auto stop = [](const std::vector<TranslatedSentence>& next, std::size_t) {
        if (!next.empty()) {
            throw std::runtime_error("enough");
        }
    };
    CHECK_THROWS_WITH(fleet.translate_in_order(many_lines(), {}, stop), "enough");
    CHECK(texts(fleet) == expected());  // and it goes on
}

TEST_CASE("no lines are no work", "[fleet]") {
    Crew crew;
    crew.add(open_device("cpu"));
    int calls = 0;
    crew.fleet().translate_in_order({}, {}, [&](const std::vector<TranslatedSentence>& next, std::size_t finished) {
        ++calls;
        CHECK(next.empty());
        CHECK(finished == 0);
    });
    CHECK(calls == 1);
}
