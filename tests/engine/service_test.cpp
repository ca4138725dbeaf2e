#include "engine/engine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <future>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backend/ops/matmul.h"
#include "crew.h"
#include "engine/text_job.h"
#include "support/random.h"

using namespace headscope;

namespace {

using Catch::Matchers::Contains;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongest(60);

TextResult result_of(Ticket<TextRequest>& answer) {
    REQUIRE(answer.wait_for(kLongest));
    return answer.get();
}

TextRequest request(const SourceLine& line) {
    return {.line = line, .options = {}};
}

// A device that is lost sometimes, also after it was reopened.
class UnreliableBackend final : public ForwardingBackend {
public:
    UnreliableBackend(std::unique_ptr<Backend> inner, std::uint64_t seed)
        : ForwardingBackend(std::move(inner)), random_(seed) {}
    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        if (random_.below(2000) == 0) {
            throw DeviceLost("the device hung");
        }
        ForwardingBackend::run(op);
    }

private:
    Random random_;
};

// Blocks its first product until released.
struct HeldDevice {
    Gate reached;
    Gate let_go;
    Crew crew;
    HeldDevice() { crew.add(std::make_unique<GatedBackend>(open_device("cpu"), &let_go, &reached)); }
};

}  // namespace

TEST_CASE("requests from many threads get the translations of their own lines", "[service]") {
    const std::vector<SourceLine> lines = many_lines();
    const std::vector<std::string> wanted = expected();
    Crew crew;
    crew.add(open_device("cpu"));
    crew.add(open_device("cpu"));
    const Team service = crew.team();
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (std::size_t caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&, caller] {
            std::vector<Ticket<TextRequest>> answers;
            for (const SourceLine& line : lines) {
                answers.push_back(service.submit(request(line)));
            }
            for (std::size_t i = 0; i < lines.size(); ++i) {
                const std::size_t at = caller % 2 == 0 ? i : lines.size() - 1 - i;
                wrong += answers[at].get().text == wanted[at] ? 0 : 1;
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    CHECK(wrong == 0);
    CHECK(sentences_of(service.uses()) == 4 * sentences_with_words());
}

TEST_CASE("waiting requests are merged, but only with options that can be", "[service]") {
    HeldDevice device;
    const Team service = device.crew.team();
    std::vector<Ticket<TextRequest>> answers;
    answers.push_back(service.submit(request({.text = "a dog", .number = 1})));
    REQUIRE(device.reached.wait());
    for (std::uint32_t i = 0; i < 20; ++i) {
        TextRequest next = request({.text = "the cat sees", .number = 1});
        next.options.search.beam = i % 2 == 0 ? 4 : 1;
        answers.push_back(service.submit(std::move(next)));
    }
    device.let_go.open();
    for (Ticket<TextRequest>& answer : answers) {
        CHECK(result_of(answer).problem.empty());
    }
    CHECK(service.uses()[0].batches == 2);  // some join the first
    CHECK(service.uses()[0].sentences == 21);
}

TEST_CASE("a request whose rule throws ends while others of its session go on", "[service]") {
    HeldDevice device;
    const Team service = device.crew.team();
    Ticket<TextRequest> first = service.submit(request({.text = "a dog", .number = 1}));
    REQUIRE(device.reached.wait());
    TextRequest failing = request({.text = "the cat sees the dog", .number = 2});
    failing.options.rule_for = [](std::string_view) {
        return [](const std::vector<std::int32_t>&) -> std::vector<std::int32_t> {
            throw std::runtime_error("no such rule");
        };
    };
    Ticket<TextRequest> one = service.submit(std::move(failing));
    std::atomic<bool> ended = false;
    TextRequest waiting = request({.text = "the dog sees the cat", .number = 3});
    waiting.options.rule_for = [&](std::string_view) {
        return [&](const std::vector<std::int32_t>& written) {
            if (written.size() == 4) {
                ended = one.wait_for(std::chrono::seconds(5));
            }
            return std::vector<std::int32_t>();
        };
    };
    Ticket<TextRequest> other = service.submit(std::move(waiting));
    device.let_go.open();
    CHECK(result_of(other).problem.empty());
    CHECK(ended);
    CHECK_THROWS_WITH(one.get(), "no such rule");
    result_of(first);
}

TEST_CASE("requests of very different lengths are not padded to one batch", "[service]") {
    HeldDevice device;
    const Team service = device.crew.team();
    Ticket<TextRequest> first = service.submit(request({.text = "a dog"}));
    REQUIRE(device.reached.wait());
    std::string text = "the cat";
    for (int i = 0; i < 6; ++i) {
        text += " sees the big dog";
    }
    Ticket<TextRequest> shorter = service.submit(request({.text = "the cat"}));
    Ticket<TextRequest> longer = service.submit(request({.text = text}));
    device.let_go.open();
    result_of(first);
    result_of(shorter);
    result_of(longer);
    CHECK(service.uses()[0].batches == 2);  // the shorter one joins the first
}

TEST_CASE("a cancelled request ends at once, waiting or running", "[service]") {
    HeldDevice device;
    const Team service = device.crew.team();
    Ticket<TextRequest> running = service.submit(request({.text = "a dog"}));
    REQUIRE(device.reached.wait());
    Ticket<TextRequest> waiting = service.submit(request({.text = "the cat"}));
    Ticket<TextRequest> kept = service.submit(request({.text = "the dog"}));
    for (Ticket<TextRequest>* answer : {&waiting, &running}) {
        answer->cancel();
        answer->cancel();
        CHECK_THROWS_AS(result_of(*answer), Cancelled);
    }
    device.let_go.open();
    CHECK(result_of(kept).problem.empty());
    kept.cancel();
    CHECK(service.uses()[0].sentences <= 2);  // the first cancelled request was never translated
}

TEST_CASE("a running search ends after the token at which it is cancelled", "[service]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team service = crew.team();
    Gate written;
    Gate cancelled;
    std::atomic<int> steps{0};
    TextRequest next = request({.text = "the dog sees the cat"});
    next.options.search.min_length = 50;
    next.options.search.beam = 1;
    next.options.rule_for = [&](std::string_view) {
        return [&](const std::vector<std::int32_t>&) {
            ++steps;
            written.open();
            cancelled.wait();
            return std::vector<std::int32_t>();
        };
    };
    Ticket<TextRequest> answer = service.submit(std::move(next));
    REQUIRE(written.wait());
    answer.cancel();
    cancelled.open();
    CHECK_THROWS_AS(result_of(answer), Cancelled);
    Ticket<TextRequest> after = service.submit(request({.text = "the cat"}));
    CHECK(result_of(after).problem.empty());
    CHECK(steps <= 2);
}

TEST_CASE("a deadline passes while the device is busy", "[service]") {
    HeldDevice device;
    const Team service = device.crew.team();
    Ticket<TextRequest> running = service.submit(request({.text = "a dog"}));
    REQUIRE(device.reached.wait());
    TextRequest late = request({.text = "the cat"});
    Ticket<TextRequest> answer =
        service.submit(std::move(late), {.deadline = Clock::now() + std::chrono::milliseconds(20)});
    CHECK_THROWS_AS(result_of(answer), DeadlineExceeded);
    TextRequest past = request({.text = "the cat"});
    Ticket<TextRequest> at_once =
        service.submit(std::move(past), {.deadline = Clock::now() - std::chrono::milliseconds(1)});
    CHECK_THROWS_AS(result_of(at_once), DeadlineExceeded);
    device.let_go.open();
    CHECK(result_of(running).problem.empty());
}

TEST_CASE("greedy text is streamed token by token", "[service]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team service = crew.team();
    TextRequest next = request({.text = "the dog sees the cat"});
    next.options.search.beam = 1;
    next.streams = true;
    Ticket<TextRequest> answer = service.submit(std::move(next));
    std::string text;
    std::vector<std::int32_t> tokens;
    while (const std::optional<TextRequest::Event> event = answer.next()) {
        CHECK(event->kept_bytes == text.size());
        CHECK(event->kept_tokens == tokens.size());
        text += event->text;
        std::ranges::transform(event->tokens, std::back_inserter(tokens), &WrittenToken::token);
    }
    const TextResult sentence = result_of(answer);
    CHECK(sentence.text == text);
    CHECK(sentence.target_ids == tokens);
}

TEST_CASE("a split line is streamed as a whole", "[service]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team service = crew.team();
    const auto last_text = [&](const std::string& line, std::int64_t split_longer_than) {
        std::string last;
        TextRequest next = request({.text = line});
        next.streams = true;
        next.options = {.search = {.beam = 1, .max_extra = 4}, .split_longer_than = split_longer_than};
        Ticket<TextRequest> answer = service.submit(std::move(next));
        while (const std::optional<TextRequest::Event> event = answer.next()) {
            last.replace(event->kept_bytes, std::string::npos, event->text);
        }
        CHECK(result_of(answer).problem.empty());
        return last;
    };
    const std::string first = "The dog sees the cat.";
    const std::string second = "The cat sleeps on the mat.";
    const std::string streamed = last_text(first + " " + second, 12);
    CHECK(streamed == last_text(first, 64) + " " + last_text(second, 64));
}

TEST_CASE("a split line changes by whole characters", "[service]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team service = crew.team();
    TextRequest split = request({.text = "The dog sees the cat. The cat sleeps on the mat."});
    split.options = {.search = {.beam = 1}, .split_longer_than = 12};
    const auto answer = std::make_shared<Answer<TextRequest>>();
    LineJob job(service.model, {}, split, answer);
    REQUIRE(job.batches().size() == 1);
    REQUIRE(job.batches()[0].works.size() == 2);
    std::array<LinePart, 2> parts;
    parts[1].sentence.span.begin = 22;
    job.wrote({.part = &parts[0], .text = "Größe", .tokens = {}});
    job.wrote({.part = &parts[1], .text = "Über", .tokens = {}});
    CHECK(answer->next({}).value().text == "Größe Über");
    job.wrote({.part = &parts[0], .kept_bytes = std::string("Größe").size(), .text = " Ärger", .tokens = {}});
    const TextRequest::Event event = answer->next({}).value();
    CHECK(event.kept_bytes == std::string("Größe ").size());
    CHECK(event.text == "Ärger Über");
}

TEST_CASE("empty and invalid lines are answered without a device", "[service]") {
    HeldDevice device;
    const Team service = device.crew.team();
    Ticket<TextRequest> empty = service.submit(request({.text = " "}));
    CHECK(result_of(empty).text.empty());
    Ticket<TextRequest> broken = service.submit(request({.text = "\xff"}));
    CHECK_THAT(result_of(broken).problem, Contains("UTF-8"));
    TextRequest refused = request({.text = "a dog"});
    refused.options.search.beam = 1000;
    CHECK_THROWS_AS(service.submit(std::move(refused)), Error);
    device.let_go.open();
    Ticket<TextRequest> answer = service.submit(request({.text = "a dog"}));
    CHECK(result_of(answer).problem.empty());
}

TEST_CASE("a service that is destroyed answers all open requests", "[service]") {
    std::vector<Ticket<TextRequest>> answers;
    {
        HeldDevice device;
        const Team service = device.crew.team();
        answers.push_back(service.submit(request({.text = "a dog"})));
        REQUIRE(device.reached.wait());
        for (int i = 0; i < 50; ++i) {
            answers.push_back(service.submit(request({.text = "the cat"})));
        }
        device.let_go.open();
    }
    int done = 0;
    int cancelled = 0;
    for (Ticket<TextRequest>& answer : answers) {
        try {
            result_of(answer);
            ++done;
        } catch (const Cancelled&) {
            ++cancelled;
        }
        answer.cancel();
    }
    CHECK(done + cancelled == 51);
    CHECK(cancelled > 0);
}

TEST_CASE("if no device is left, waiting and new requests fail", "[service]") {
    Crew crew;
    crew.add(std::make_unique<DyingBackend>(open_device("cpu"), 30));
    const Team service = crew.team();
    std::vector<Ticket<TextRequest>> answers;
    for (const SourceLine& line : many_lines()) {
        answers.push_back(service.submit(request(line)));
    }
    int failed = 0;
    for (Ticket<TextRequest>& answer : answers) {
        try {
            result_of(answer);
        } catch (const Error& error) {
            ++failed;
            CHECK(error.what() == std::string("the device is gone"));
        }
    }
    CHECK(failed > 0);
    Ticket<TextRequest> late = service.submit(request({.text = "a dog"}));
    CHECK_THROWS_WITH(result_of(late), "the device is gone");
}

TEST_CASE("a thousand requests get one answer each despite cancellation, deadlines and lost devices", "[service]") {
    const std::vector<SourceLine> lines = many_lines();
    const std::vector<std::string> wanted = expected();
    std::uint64_t opened = 0;
    std::atomic<int> warnings{0};
    Crew crew;
    crew.warn = [&](const std::string&) { ++warnings; };
    crew.add(Crew::Open([&] { return std::make_unique<UnreliableBackend>(open_device("cpu"), ++opened); }));
    crew.add(open_device("cpu"));
    const Team service = crew.team();
    std::atomic<int> translated{0};
    std::atomic<int> wrong{0};
    std::atomic<int> cancelled{0};
    std::atomic<int> late{0};
    std::vector<std::thread> callers;
    for (std::uint64_t caller = 0; caller < 8; ++caller) {
        callers.emplace_back([&, caller] {
            Random random(caller);
            std::vector<std::pair<std::size_t, Ticket<TextRequest>>> answers;
            for (int i = 0; i < 125; ++i) {
                const std::size_t line = random.below(lines.size());
                TextRequest next = request(lines[line]);
                Terms terms;
                if (random.below(4) == 0) {
                    terms.deadline = Clock::now() + std::chrono::milliseconds(random.below(200));
                }
                answers.emplace_back(line, service.submit(std::move(next), terms));
                if (random.below(4) == 0) {
                    answers[random.below(answers.size())].second.cancel();
                }
            }
            for (auto& [line, answer] : answers) {
                try {
                    const bool right = answer.get().text == wanted[line];
                    ++(right ? translated : wrong);
                } catch (const Cancelled&) {
                    ++cancelled;
                } catch (const DeadlineExceeded&) {
                    ++late;
                }
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    CHECK(wrong == 0);
    CHECK(translated + cancelled + late == 1000);
    CHECK(translated > 0);
    CHECK(cancelled > 0);
    CHECK(opened > 1);
}
