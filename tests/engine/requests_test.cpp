// Every kind of request, models that come and go, and the ends of an engine.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "explore/explorer.h"
#include "infer/filler.h"
#include "observe/record_attention.h"
#include "poison.h"
#include "tests/house/files.h"
#include "tests/infer/score_pairs.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;

namespace {

using Catch::Matchers::Contains;
using Clock = std::chrono::steady_clock;

TextRequest line(const std::string& text) {
    return {.line = {.text = text, .number = 1}, .options = {.search = {.beam = 1}}};
}

// An observer of nothing.
class BlindObserver final : public AttentionObserver {
public:
    bool wants(const AttentionSite& /*site*/) const override { return false; }
    Tensor observe(Backend& /*backend*/, const AttentionView& view) override { return view.weights; }
};

}  // namespace

TEST_CASE("other requests than text give what the model gives directly", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    const LoadedModel model = tiny_translator(*cpu);
    Context ctx{.backend = *cpu};
    const std::string source = "the dog sees the cat";

    const std::vector<std::string> sources{source, "a cat sleeps"}, targets{"der hund sieht", "eine katze"};
    const std::vector<ScoredPair> scores = score_pairs(ctx, model, sources, targets, 64);
    const std::vector<ScoredPair> scored = team.submit(ScoreRequest{sources, targets, 64}).get();
    REQUIRE(scored.size() == 2);
    CHECK(scored[0].log_probabilities == scores[0].log_probabilities);
    CHECK(scored[1].log_probability == scores[1].log_probability);

    const auto tokens = team.submit(TokeniseRequest{source}).get();
    CHECK(tokens.ids == model.model().source_tokenizer->encode(source));
    CHECK(tokens.pieces.at(0) == model.model().source_tokenizer->piece(tokens.ids.at(0)));

    const Explorer explorer(*cpu, model, Compute::F32);
    const ExploreRequest asked{.source = source};
    const Exploration looked = team.submit(LookRequest{asked}).get();
    CHECK(looked.finished);
    CHECK(looked.log_probability == explorer.explore(asked).log_probability);
    const ExploreRequest given = with_target(asked, looked);
    Ticket<ImportanceRequest> measuring = team.submit(ImportanceRequest{given});
    std::size_t events = 0;
    while (measuring.next()) {
        ++events;
    }
    const Importance measured = measuring.get();
    const Importance wanted = explorer.importance(given);
    CHECK(events > 0);
    REQUIRE(measured.heads.size() == wanted.heads.size());
    CHECK(measured.heads.back().loss == wanted.heads.back().loss);

    const std::vector<float> gradients = team.submit(SaliencyRequest{given}).get().of_source.gradients;
    CHECK(gradients == measure_saliency(*cpu, model, Compute::F32, given).of_source.gradients);
    const Lens lens = team.submit(LensRequest{given}).get();
    CHECK(lens.layers.at(1).steps.at(0).log_probability ==
          read_lens(*cpu, model, Compute::F32, given).layers.at(1).steps.at(0).log_probability);
    const Patching patching{.text = given, .from = "the cat sees the dog", .sites = "encoder.norm"};
    const PatchEffects effects = team.submit(PatchRequest{patching}).get();
    CHECK(effects.effects.at(1).log_probability ==
          patch_activations(*cpu, model, Compute::F32, patching).effects.at(1).log_probability);
    CHECK_THROWS_WITH(team.submit(PatchRequest{{.text = given, .from = "a cat", .sites = "nowhere"}}).get(),
                      Contains("no site"));

    const std::vector<float> embedded = team.submit(EmbedRequest{{source}}).get().at(0).values;
    const RecordedText text = encode_source(model.model(), {}, source);
    const std::vector<float> states = to_host<float>(*cpu, read_source(ctx, model.network(), text, 0).states.value());
    const std::size_t length = source_ids(text).size(), width = embedded.size();
    REQUIRE(static_cast<std::int64_t>(width) == 32);
    float first = 0.0F;
    for (std::size_t row = 0; row < length; ++row) {
        first += states[row * width] / static_cast<float>(length);
    }
    CHECK(std::abs(embedded[0] - first) < 1e-5F);

    CHECK(team.submit(RunRequest<std::string>{[](const Place& place) { return place.backend.device().id; }}).get() ==
          "device 0");
    CHECK_THROWS_WITH(team.submit(RunRequest<int>{[](const Place&) -> int { throw Error("not today"); }}).get(),
                      "not today");
}

TEST_CASE("a masked language model fills in masks beside a model that translates", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    const ModelHandle masked = team.engine->open(load_of(tiny_language_config(Architecture::MaskedLm)));
    const FillAnswer filled =
        team.engine->submit(masked, FillRequest{.text = "the [MASK] sees the [MASK]", .count = 3}).get();
    CHECK(team.submit(line("the dog")).get().problem.empty());
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    const LoadedModel model = tiny_translator(*cpu, tiny_language_config(Architecture::MaskedLm));
    const Filler filler(*cpu, model);
    const FilledText wanted = filler.fill(filler.encode("the [MASK] sees the [MASK]", "[MASK]").ids, 3, false);
    CHECK(filled.ids == wanted.ids);
    REQUIRE(filled.masks.size() == 2);
    CHECK(filled.masks[1].candidates[0].log_probability == wanted.masks[1].candidates[0].log_probability);
    CHECK_THROWS_WITH(team.engine->submit(masked, FillRequest{.text = "no mask"}).get(), Contains("has no [MASK]"));
    CHECK_THROWS_AS(team.submit(FillRequest{.text = "[MASK]"}).get(), Error);
}

TEST_CASE("gaps are filled token by token, so that others get their share and the request can end", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    const ModelHandle spans = team.engine->open({checkout_file("tests/import/models/hf-t5")});
    const std::int64_t before = team.uses()[0].steps;
    const FillAnswer filled = team.engine->submit(spans, FillRequest{.text = "<extra_id_0> is", .count = 2}).get();
    CHECK(filled.gaps.size() == 1);
    CHECK(team.uses()[0].steps - before > 2);
}

TEST_CASE("what may fill gaps is the same in a search that is looked into, and in its given output", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    const ModelHandle spans = team.engine->open({checkout_file("tests/import/models/hf-t5")});
    const std::string text = "<extra_id_1> is a [MASK]";
    const FillAnswer filled = team.engine->submit(spans, FillRequest{.text = text, .count = 8}).get();
    ExploreRequest request{.source = text};
    const Exploration found = team.engine->submit(spans, LookRequest{request}).get();
    REQUIRE(found.problem.empty());
    REQUIRE(found.gaps.size() == 2);
    for (std::size_t gap = 0; gap < 2; ++gap) {
        const std::vector<NextCandidate>& candidates = found.gaps[gap].candidates;
        REQUIRE(candidates.size() == filled.gaps[gap].size());
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            CHECK(candidates[i].text == filled.gaps[gap][i].text);
            CHECK(candidates[i].log_probability == Approx(filled.gaps[gap][i].log_probability).margin(1e-4));
        }
    }

    request.target = "<extra_id_0> it <extra_id_1> is";
    const Exploration given = team.engine->submit(spans, LookRequest{request}).get();
    REQUIRE(given.gaps.size() == 2);
    CHECK(given.gaps[0].candidates.size() == 1);
    CHECK(given.gaps[0].position == 0);
    CHECK_THAT(given.gaps[0].candidates[0].text, Contains("it"));
    CHECK_THAT(given.gaps[1].candidates[0].text, Contains("is"));
    CHECK(given.gaps[1].log_probability < 0.0);
    request.source = "it is";
    CHECK(team.engine->submit(spans, LookRequest{request}).get().gaps.empty());
}

TEST_CASE("a long completion leaves a translation its share of the steps", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    ModelConfig config = tiny_language_config(Architecture::CausalLm);
    config.max_length = 1024;
    const ModelHandle causal = team.engine->open(load_of(config));
    constexpr int kBefore = 50;
    Gate running, submitted;
    std::atomic<int> steps{0}, at_first{0};
    WatchingObserver counting([&](Backend&, const AttentionView& view) {
        if (view.site.layer == 1 && ++steps == kBefore) {
            running.open();
            submitted.wait();
        }
        return view.weights;
    });
    TextRequest completion = line("the");
    completion.options.search.max_extra = 1000;
    completion.options.search.min_length = 1000;
    completion.options.observer = &counting;
    Ticket<TextRequest> completing = team.engine->submit(causal, std::move(completion));
    REQUIRE(running.wait());
    TextRequest translation = line("the dog sees the cat");
    translation.options.rule_for = [&](std::string_view) {
        return [&](const std::vector<std::int32_t>&) {
            at_first = at_first == 0 ? steps.load() : at_first.load();
            return std::vector<std::int32_t>();
        };
    };
    Ticket<TextRequest> translating = team.submit(std::move(translation));
    submitted.open();
    CHECK(translating.get().problem.empty());
    CHECK(steps < 900);
    // Alone it takes two steps to its first token: together at most three times as many.
    CHECK(at_first >= kBefore);
    CHECK(at_first <= kBefore + 4);
    completing.cancel();
    CHECK_THROWS_AS(completing.get(), Cancelled);
    completing.settle();
}

TEST_CASE("short steps of others fit into a long one", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    CHECK(team.submit(line("the dog")).get().problem.empty());
    std::atomic<bool> begun{false}, written{false};
    Ticket<RunRequest<int>> waiting = team.submit(RunRequest<int>{[&](const Place& place) {
        begun = true;
        int rounds = 0;
        for (; !written && rounds < 100'000 && place.goes_on(); ++rounds) {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
        return rounds;
    }});
    REQUIRE(soon([&] { return begun.load(); }));
    TextRequest request = line("the dog sees the cat");
    request.options.rule_for = [&](std::string_view) {
        return [&](const std::vector<std::int32_t>&) {
            written = true;
            return std::vector<std::int32_t>();
        };
    };
    CHECK(team.submit(std::move(request)).get().problem.empty());
    CHECK(waiting.get() < 100'000);
}

TEST_CASE("clients share a device, however much they ask for", "[engine]") {
    Gate reached, let_go;
    Crew crew;
    crew.add(std::make_unique<GatedBackend>(open_device("cpu"), &let_go, &reached));
    const Team team = crew.team();
    Ticket<TextRequest> first = team.submit(line("a dog"));
    REQUIRE(reached.wait());
    std::atomic<int> done{0};
    BlindObserver blind;
    const auto counted = [&](std::atomic<int>* at) {
        TextRequest request = line("the dog sees the cat");
        request.options.observer = &blind;  // shares no session
        request.options.rule_for = [&done, at](std::string_view) {
            return [&done, at](const std::vector<std::int32_t>& written) {
                if (written.empty()) {
                    const int order = ++done;
                    if (at != nullptr) {
                        *at = order;
                    }
                }
                return std::vector<std::int32_t>();
            };
        };
        return request;
    };
    std::vector<Ticket<TextRequest>> many;
    for (int i = 0; i < 60; ++i) {
        many.push_back(team.submit(counted(nullptr), {.client = "greedy"}));
    }
    std::atomic<int> order{0};
    Ticket<TextRequest> one = team.submit(counted(&order), {.client = "modest"});
    let_go.open();
    CHECK(one.get().problem.empty());
    CHECK(order > 0);
    CHECK(order < 30);
    for (Ticket<TextRequest>& ticket : many) {
        CHECK(ticket.get().problem.empty());
    }
}

TEST_CASE("models are shared, replaced and unloaded by handle", "[engine]") {
    const TemporaryFolder folder;
    const std::string first = folder.file("first"), second = folder.file("second");
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    write_tiny_model(*cpu, first, 3);
    write_tiny_model(*cpu, second, 4);
    const auto direct = [&](const std::string& path) {
        return translate_line(LoadedModel(*cpu, path, Arithmetic().weights()), "the dog", {.search = {.beam = 1}})
            .log_probability;
    };
    Engine engine({.devices = {"cpu"}}, [](const std::string&) {});
    ModelHandle model = engine.open({first});
    CHECK(engine.open({first}) == model);
    const auto ask = [&](const ModelHandle& handle) {
        return engine.submit(handle, line("the dog")).get().log_probability;
    };
    CHECK(ask(model) == direct(first));
    const ModelHandle other = engine.swap(model, {second});
    CHECK(ask(model) == direct(second));
    CHECK(ask(other) == direct(second));
    engine.unload(other);
    CHECK_THROWS_WITH(ask(other), Contains("was unloaded: load it first"));
    CHECK_THROWS_WITH(ask(model), Contains("was unloaded: load it first"));
    engine.load(other);
    CHECK(ask(model) == direct(second));
    CHECK_THROWS_WITH(engine.open({folder.file("nowhere")}), Contains("nowhere"));
    CHECK_THROWS_WITH(engine.swap(other, {folder.file("nowhere")}), Contains("nowhere"));
    CHECK(ask(other) == direct(second));
}

TEST_CASE("a request for a model that was freed while a device was reopened is refused", "[engine]") {
    Crew crew;
    crew.add(Crew::Open([] { return open_device("cpu"); }));
    const Team team = crew.team();
    const ModelHandle other =
        team.engine->open([&, lost = false](Backend& backend, const WeightStorage& storage) mutable {
            if (!std::exchange(lost, true)) {
                team.engine->unload(team.model);
                throw DeviceLost("the device hung");
            }
            return load_tiny(backend, storage);
        });
    Ticket<TextRequest> answer = team.submit(line("the dog"));
    REQUIRE(answer.wait_for(std::chrono::seconds(20)));
    CHECK_THROWS_WITH(answer.get(), Contains("load it first"));
    CHECK(team.engine->submit(other, line("the dog")).get().problem.empty());
}

TEST_CASE("a priority out of range is an error", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    CHECK_THROWS_WITH(team.submit(line("the dog"), {.priority = Terms::kMost + 1}), Contains("out of range"));
    CHECK_THROWS_WITH(team.submit(line("the dog"), {.priority = -Terms::kMost - 1}), Contains("out of range"));
    CHECK(team.submit(line("the dog"), {.priority = -Terms::kMost}).get().problem.empty());
}

TEST_CASE("a log that throws does not keep a model from being opened", "[engine]") {
    Crew crew;
    crew.warn = [](const std::string&) { throw std::runtime_error("no log"); };
    crew.add(open_device("cpu"));
    crew.add(open_device("cpu"));
    const Team team = crew.team([](Backend& backend, const WeightStorage& storage) {
        if (backend.device().id == "device 1") {
            throw Error("no memory for it");
        }
        return load_tiny(backend, storage);
    });
    CHECK(team.submit(line("the dog")).get().problem.empty());
}

TEST_CASE("an engine that has too much to do says when to come back", "[engine]") {
    Gate reached, let_go;
    Crew crew;
    crew.add(std::make_unique<GatedBackend>(open_device("cpu"), &let_go, &reached));
    const Team team = crew.team(load_tiny, {.requests = 100, .tokens = 60, .tokens_of_client = 30});
    Ticket<TextRequest> first = team.submit(line("a dog"));
    REQUIRE(reached.wait());
    std::vector<Ticket<TextRequest>> taken;
    const auto fill_up = [&](const std::string& client) {
        for (int i = 0; i < 50; ++i) {
            taken.push_back(team.submit(line("the dog sees the cat"), {.client = client}));
        }
    };
    CHECK_THROWS_WITH(fill_up("one"), Contains("of this client wait"));
    CHECK_THROWS_WITH(fill_up("two"), Contains("Bounds::tokens)") || Contains("of this client wait"));
    try {
        fill_up("three");
        FAIL("the engine takes everything");
    } catch (const Busy& busy) {
        CHECK(busy.retry_after > std::chrono::milliseconds(0));
    }
    CHECK(team.engine->statistics().busy == 3);
    let_go.open();
    for (Ticket<TextRequest>& ticket : taken) {
        CHECK(ticket.get().problem.empty());
    }
}

TEST_CASE("an engine is drained, and closed", "[engine]") {
    Gate reached, let_go;
    Crew crew;
    crew.add(std::make_unique<GatedBackend>(open_device("cpu"), &let_go, &reached));
    const Team team = crew.team();
    Ticket<TextRequest> first = team.submit(line("a dog"));
    REQUIRE(reached.wait());
    CHECK_FALSE(team.engine->drain(std::chrono::milliseconds(1)));
    CHECK_THROWS_AS(team.submit(line("a cat")), Closed);
    let_go.open();
    CHECK(team.engine->drain(std::chrono::minutes(1)));
    CHECK(first.get().problem.empty());
    team.engine->close();
    CHECK_THROWS_AS(team.submit(line("a cat")), Closed);
    const EngineStatistics statistics = team.engine->statistics();
    CHECK(statistics.answered == 1);
    CHECK(statistics.queue_seconds.count() == 1);
    CHECK(statistics.run_seconds.sum() > 0.0);
    CHECK(statistics.batch_rows.counts()[0] == 1);
}

TEST_CASE("an engine is an error in the child of a fork", "[engine][fork]") {
    Crew crew;
    crew.add(open_device("cpu"));
    Team team = crew.team();
    Ticket<TextRequest> ticket = team.submit(line("the dog"));
    const pid_t child = ::fork();
    if (child == 0) {
        int errors = 0;
        const auto fails = [&](const std::function<void()>& call) {
            try {
                call();
            } catch (const Forked&) {
                ++errors;
            }
        };
        fails([&] { team.submit(line("the dog")); });
        fails([&] { ticket.get(); });
        fails([&] { ticket.cancel(); });
        fails([&] { team.engine->open(load_tiny); });
        fails([&] { team.engine->drain(std::chrono::seconds(1)); });
        fails([&] { static_cast<void>(team.engine->statistics()); });
        ticket = {};
        team = {};  // does not wait for threads that are not there
        ::_exit(errors == 6 ? 0 : 1);
    }
    int status = -1;
    REQUIRE(soon([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
    CHECK(status == 0);
    CHECK(ticket.get().problem.empty());
}
