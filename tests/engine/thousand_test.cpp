// A thousand requests of all kinds at once, some of them cancelled, late, poisoned or too large, on devices of which
// one is lost now and then: each is answered, and nobody else is harmed.
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/ops/matmul.h"
#include "explore/explorer.h"
#include "infer/filler.h"
#include "poison.h"
#include "support/random.h"
#include "tests/infer/score_pairs.h"

using namespace headscope;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kRoom = 48;  // positions for which the devices have memory

// A device with little memory, which is lost once in a number of products; 0: never.
class FrailBackend final : public ForwardingBackend {
public:
    FrailBackend(std::uint64_t seed, std::uint64_t lost_in)
        : ForwardingBackend(open_device("cpu")), random_(seed), lost_in_(lost_in) {}
    using ForwardingBackend::run;
    void run(const Embed& op) override {
        if (op.ids.dim(1) > kRoom) {
            throw OutOfMemory("no memory for so long a line");
        }
        ForwardingBackend::run(op);
    }
    void run(const Matmul& op) override {
        if (lost_in_ > 0 && random_.below(lost_in_) == 0) {
            throw DeviceLost("the device hung");
        }
        ForwardingBackend::run(op);
    }

private:
    Random random_;
    std::uint64_t lost_in_;
};

constexpr const char* kMasked = "the [MASK] sees the cat";

DecodingOptions options_of(std::size_t line) {
    return {.search = {.beam = line % 2 == 0 ? 1 : 4, .max_extra = 8}};
}

// What the requests give when nothing else happens.
struct Wanted {
    std::vector<SourceLine> lines;
    std::vector<std::string> texts;
    double score = 0.0, looked = 0.0, lost = 0.0, filled = 0.0, read = 0.0, patched = 0.0;
    std::string too_long = "the";
    ExploreRequest look{.source = "the dog sees", .search = {.beam = 2, .max_extra = 4}};
    ExploreRequest given = look;  // with a target
    Patching patching{.text = {}, .from = "the cat sees", .sites = "encoder.norm"};
    std::vector<float> gradients;

    Wanted() {
        const std::unique_ptr<Backend> cpu = open_device("cpu");
        const LoadedModel model = tiny_translator(*cpu);
        for (const SourceLine& line : many_lines()) {
            texts.push_back(model.translate({line}, options_of(lines.size())).front().text);
            lines.push_back(line);
        }
        while (std::ssize(model.model().source_tokenizer->encode(too_long)) <= kRoom) {
            too_long += " dog";
        }
        Context ctx{.backend = *cpu};
        score = score_pairs(ctx, model, {"the dog"}, {"der hund"}, 64).front().log_probability;
        const Explorer explorer(*cpu, model, Compute::F32);
        const Exploration found = explorer.explore(look);
        looked = found.log_probability;
        lost = explorer.importance(with_target(look, found)).heads.back().loss;
        given.target = "der hund";
        patching.text = given;
        gradients = measure_saliency(*cpu, model, Compute::F32, given).of_source.gradients;
        read = read_lens(*cpu, model, Compute::F32, given).layers.at(1).steps.at(0).log_probability;
        patched = patch_activations(*cpu, model, Compute::F32, patching).effects.at(1).log_probability;
        const LoadedModel masked = tiny_translator(*cpu, tiny_language_config(Architecture::MaskedLm));
        const Filler filler(*cpu, masked);
        filled = filler.fill(filler.encode(kMasked, kMaskText).ids, 2, false).masks[0].candidates[0].log_probability;
    }
};

bool near(double a, double b) {
    return std::abs(a - b) < 1e-4;
}

// How requests ended.
struct Ends {
    std::atomic<int> right{0}, wrong{0}, cancelled{0}, late{0}, failed{0}, too_large{0};
    int all() const { return right + wrong + cancelled + late + failed + too_large; }
};

// A request that was submitted: how to cancel it, and to wait for its end.
struct Asked {
    std::function<void()> cancel;
    std::function<void(Ends& ends)> finish;
};

// `right`: whether a result is what was wanted; std::nullopt: the request is to fail.
template <class Request>
Asked ask(const Team& team, const ModelHandle& model, Request request, const Terms& terms,
          std::optional<std::function<bool(const typename Request::Result&)>> right) {
    Ticket<Request> ticket = team.engine->submit(model, std::move(request), terms);
    return {.cancel = [ticket] { ticket.cancel(); },
            .finish =
                [ticket, right = std::move(right)](Ends& ends) mutable {
                    try {
                        const typename Request::Result result = ticket.get();
                        ++(right && (*right)(result) ? ends.right : ends.wrong);
                    } catch (const Cancelled&) {
                        ++ends.cancelled;
                    } catch (const DeadlineExceeded&) {
                        ++ends.late;
                    } catch (const TooLarge&) {
                        ++(right ? ends.wrong : ends.too_large);
                    } catch (...) {
                        ++(right ? ends.wrong : ends.failed);
                    }
                }};
}

}  // namespace

TEST_CASE("a thousand requests of all kinds get one answer each, whatever happens", "[engine]") {
    const Wanted wanted;
    WatchingObserver throwing([](Backend&, const AttentionView&) -> Tensor { throw std::runtime_error("poison"); });
    std::atomic<std::uint64_t> opened{0};
    Crew crew;
    crew.warn = [](const std::string&) {};
    crew.add(Crew::Open([&] { return std::make_unique<FrailBackend>(++opened, 4000); }));
    crew.add(Crew::Open([&] { return std::make_unique<FrailBackend>(0, 0); }));
    const Team team = crew.team();
    const ModelHandle masked = team.engine->open(load_of(tiny_language_config(Architecture::MaskedLm)));
    const ModelHandle damaged = team.engine->open(load_damaged);

    Ends ends;
    const auto submit = [&](Random& random, const Terms& terms) {
        const std::size_t at = random.below(wanted.lines.size());
        const TextRequest text{.line = wanted.lines[at], .options = options_of(at), .streams = at % 3 == 0};
        switch (random.below(15)) {
            case 0: {
                TextRequest poisoned = text;
                poisoned.line.text = "the cat";
                poisoned.options.observer = &throwing;
                return ask(team, team.model, poisoned, terms, {});
            }
            case 1: {
                TextRequest longer = text;
                longer.line.text = wanted.too_long;
                longer.options.split_longer_than = 0;
                return ask(team, team.model, longer, terms, {});
            }
            case 2:
                return ask(team, damaged, text, terms, {{[text = text.line.text](const TextResult& found) {
                               return text.empty() || !found.problem.empty();
                           }}});
            case 3:
                return ask(team, masked, FillRequest{.text = kMasked, .count = 2}, terms,
                           {{[&](const FillAnswer& found) {
                               return near(found.masks.at(0).candidates.at(0).log_probability, wanted.filled);
                           }}});
            case 4:
                return ask(team, team.model, ScoreRequest{{"the dog"}, {"der hund"}}, terms,
                           {{[&](const std::vector<ScoredPair>& found) {
                               return near(found.at(0).log_probability, wanted.score);
                           }}});
            case 5:
                return ask(team, team.model, LookRequest{wanted.look}, terms,
                           {{[&](const Exploration& found) { return near(found.log_probability, wanted.looked); }}});
            case 6:
                return ask(team, team.model, ImportanceRequest{wanted.given}, terms,
                           {{[](const Importance& found) { return found.finished && found.heads.size() == 24; }}});
            case 7:
                return ask(
                    team, masked, EmbedRequest{{"the dog sees"}}, terms,
                    {{[](const std::vector<TextVectors>& found) { return std::isfinite(found.at(0).values.at(0)); }}});
            case 8:
                return ask(team, team.model, TokeniseRequest{"the dog"}, terms,
                           {{[](const TokeniseRequest::Result& found) { return !found.ids.empty(); }}});
            case 9:
                return ask(team, team.model, SaliencyRequest{wanted.given}, terms, {{[&](const Saliency& found) {
                               return std::ranges::equal(found.of_source.gradients, wanted.gradients, near);
                           }}});
            case 10:
                return ask(team, team.model, LensRequest{wanted.given}, terms, {{[&](const Lens& found) {
                               return near(found.layers.at(1).steps.at(0).log_probability, wanted.read);
                           }}});
            case 11:
                return ask(team, team.model, PatchRequest{wanted.patching}, terms, {{[&](const PatchEffects& found) {
                               return near(found.effects.at(1).log_probability, wanted.patched);
                           }}});
            default:
                return ask(team, team.model, text, terms,
                           {{[&, at](const TextResult& found) { return found.text == wanted.texts[at]; }}});
        }
    };
    constexpr int kThreads = 8, kEach = 125;
    std::vector<std::thread> callers;
    for (std::uint64_t caller = 0; caller < kThreads; ++caller) {
        callers.emplace_back([&, caller] {
            Random random(caller + 1);
            std::vector<Asked> asked;
            for (int i = 0; i < kEach; ++i) {
                Terms terms{.client = std::to_string(random.below(3)), .priority = static_cast<int>(random.below(3))};
                if (random.below(6) == 0) {
                    terms.deadline = Clock::now() + std::chrono::milliseconds(random.below(2000));
                }
                asked.push_back(submit(random, terms));
                if (random.below(5) == 0) {
                    asked[random.below(asked.size())].cancel();
                }
            }
            for (Asked& one : asked) {
                one.finish(ends);
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    CHECK(ends.wrong == 0);
    CHECK(ends.all() == kThreads * kEach);
    CHECK(ends.right > 100);
    CHECK(ends.cancelled > 10);
    CHECK(ends.failed > 5);
    CHECK(ends.too_large > 5);
    CHECK(opened > 1);
    const EngineStatistics statistics = team.engine->statistics();
    CHECK(statistics.answered + statistics.failed + statistics.cancelled + statistics.late == kThreads * kEach);
    CHECK(team.uses()[1].failure.empty());
    CHECK(team.submit(request_for("the cat")).get().problem.empty());
}
