// Searches that go on step by step: rows with options of their own, which join and leave.
#include "infer/session.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "infer/filler.h"
#include "infer/forced_text.h"
#include "infer/prepared_line.h"
#include "infer/scored_pair.h"
#include "registry/registry.h"
#include "small_backend.h"
#include "support/check.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"
#include "tiny_model.h"

using namespace headscope;

namespace {

ModelConfig context_of(std::int64_t context) {
    ModelConfig config = tiny_language_config(Architecture::CausalLm);
    config.max_length = context;
    return config;
}

// Greedy, and as long as said.
SearchOptions exactly(std::int64_t tokens) {
    return {.beam = 1, .length_penalty = 0.0, .max_extra = tokens, .min_length = tokens};
}

struct Wish {
    std::string text;
    SearchOptions search;
};

// One line, which fits in one part.
class SearchedRow {
public:
    SearchedRow(const LoadedModel& model, const Wish& wish, std::size_t number = 1, bool reports = false)
        : line_(prepare_line(model.model(), {.text = wish.text, .number = static_cast<std::uint32_t>(number)},
                             {.search = wish.search}, model.longest())) {
        REQUIRE(line_.units.size() == 1);
        REQUIRE(part()->sentence.problem.empty());
        part()->reports = reports;
    }
    LinePart* part() { return &line_.units.front(); }
    const TextResult& result() { return part()->sentence; }

private:
    PreparedLine line_;
};

std::vector<LinePart*> parts_of(std::vector<SearchedRow>& rows) {
    std::vector<LinePart*> parts;
    for (SearchedRow& row : rows) {
        parts.push_back(row.part());
    }
    return parts;
}

void check_result(const TextResult& one, const TextResult& other) {
    CHECK(one.target_ids == other.target_ids);
    CHECK(one.text == other.text);
    CHECK(one.end == other.end);
    CHECK(one.log_probability == Approx(other.log_probability).epsilon(1e-4));
    REQUIRE(one.n_best.size() == other.n_best.size());
    for (std::size_t i = 0; i < one.n_best.size(); ++i) {
        CHECK(one.n_best[i].text == other.n_best[i].text);
    }
}

void check_alone(const LoadedModel& model, const Wish& wish, std::size_t number, const TextResult& found) {
    INFO(wish.text);
    SearchedRow alone(model, wish, number);
    finish(*model.begin({alone.part()}, {}));
    check_result(found, alone.result());
}

const std::vector<std::string> kTexts = {"the small dog", "a", "the big dog sees the cat", "the", "a small cat sees"};

}  // namespace

TEST_CASE("prompts of different lengths share a batch, and each is completed as alone", "[session]") {
    for (const std::string& id : conformance::devices_under_test()) {
        CAPTURE(id);
        const auto backend = open_device(id, environment_options());
        for (const Positions positions : {Positions::Sinusoid, Positions::Learned, Positions::None}) {
            ModelConfig config = context_of(48);
            config.positions.kind = positions;
            const LoadedModel model = tiny_translator(*backend, config);
            for (const int beam : {1, 3}) {
                CAPTURE(beam);
                std::vector<SearchedRow> rows;
                for (std::size_t i = 0; i < kTexts.size(); ++i) {
                    SearchOptions search = exactly(9 + static_cast<std::int64_t>(i));
                    search.beam = beam;
                    rows.emplace_back(model, Wish{kTexts[i], search}, i + 1);
                }
                const auto session = model.begin(parts_of(rows), {});
                int steps = 0;
                while (session->step()) {
                    ++steps;
                }
                CHECK(steps < 30);  // one after the other takes 55 tokens
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    check_alone(model, {kTexts[i], *rows[i].part()->search}, i + 1, rows[i].result());
                }
            }
        }
    }
}

TEST_CASE("a row that joins late is written as alone", "[session]") {
    for (const std::string& id : conformance::devices_under_test()) {
        CAPTURE(id);
        const auto backend = open_device(id, environment_options());
        for (const Architecture family : {Architecture::CausalLm, Architecture::EncoderDecoder}) {
            ModelConfig config = family == Architecture::CausalLm ? context_of(48) : tiny_config();
            const LoadedModel model = tiny_translator(*backend, config);
            std::vector<SearchedRow> rows;
            for (std::size_t i = 0; i < kTexts.size(); ++i) {
                rows.emplace_back(model, Wish{kTexts[i], exactly(i == 0 ? 12 : 20)}, i + 1);
            }
            const auto session = model.begin({rows[0].part(), rows[1].part()}, {});
            std::vector<LinePart*> done;
            int step = 0;
            for (bool more = true; more; ++step) {
                more = session->step();
                for (LinePart* part : session->take_done()) {
                    done.push_back(part);
                }
                std::vector<LinePart*> late;
                if (step == 3) {
                    late = {rows[2].part(), rows[3].part()};  // of which the first is longer
                } else if (step == 15) {
                    late = {rows[4].part()};  // when the first row has left
                }
                if (!late.empty()) {
                    REQUIRE(session->joins(*late.front()));
                    session->join(late);
                }
            }
            CHECK(done.size() == rows.size());
            CHECK(done.front() == rows[0].part());
            CHECK(done.back() == rows.back().part());
            for (std::size_t i = 0; i < rows.size(); ++i) {
                check_alone(model, {kTexts[i], *rows[i].part()->search}, i + 1, rows[i].result());
            }
        }
    }
}

TEST_CASE("beams and texts that are filled in take no row once they have begun", "[session]") {
    const auto backend = open_device("cpu");
    const LoadedModel model = tiny_translator(*backend);
    SearchedRow beam(model, {"the small dog", {}});
    SearchedRow other(model, {"the", {}});
    const auto session = model.begin({beam.part()}, {});
    CHECK_FALSE(session->joins(*other.part()));  // it has not begun
    for (int i = 0; i < 3; ++i) {
        session->step();
    }
    CHECK_FALSE(session->joins(*other.part()));
    CHECK_THROWS_AS(session->join({other.part()}), CheckFailure);

    // A given prefix has no alternatives yet.
    PreparedLine prefixed =
        prepare_line(model.model(), {.text = "the dog", .prefix = "the small dog"}, {}, model.longest());
    REQUIRE(prefixed.units.front().task.prefix.size() > 2);
    const auto forced = model.begin({&prefixed.units.front()}, {});
    for (int i = 0; i < 3; ++i) {
        forced->step();
    }
    CHECK_FALSE(forced->joins(*other.part()));
}

TEST_CASE("states of other mixers are not joined: prompts of each length have their own batch", "[session]") {
    const auto backend = open_device("cpu");
    for (const MixerKind kind : {MixerKind::Gru, MixerKind::Convolution, MixerKind::Restricted}) {
        ModelConfig config = context_of(48);
        config.mixer.decoder = kind;
        config.mixer.window = kind == MixerKind::Restricted ? 3 : 0;
        config.positions.kind = kind == MixerKind::Gru ? Positions::None : config.positions.kind;
        const LoadedModel model = tiny_translator(*backend, config);
        std::vector<SearchedRow> rows;
        for (std::size_t i = 0; i < kTexts.size(); ++i) {
            rows.emplace_back(model, Wish{kTexts[i], exactly(9)}, i + 1);
        }
        SearchedRow late(model, {"the dog", exactly(9)});
        const auto session = model.begin(parts_of(rows), {});
        std::size_t done = 0;
        for (bool more = true; more;) {
            more = session->step();
            CHECK_FALSE(session->joins(*late.part()));
            done += session->take_done().size();
        }
        CHECK(done == rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            check_alone(model, {kTexts[i], exactly(9)}, i + 1, rows[i].result());
        }
    }
}

TEST_CASE("a row that leaves is forgotten, and the others are written as without it", "[session]") {
    const auto backend = open_device("cpu");
    for (const int beam : {1, 4}) {
        const LoadedModel model = tiny_translator(*backend);
        SearchOptions search = exactly(20);
        search.beam = beam;
        std::vector<SearchedRow> rows;
        for (std::size_t i = 0; i < 4; ++i) {
            rows.emplace_back(model, Wish{kTexts[i], search}, i + 1);
        }
        const auto session = model.begin(parts_of(rows), {});
        for (int i = 0; i < 5; ++i) {
            session->step();
        }
        session->leave(*rows[1].part());
        const std::int64_t before = session->tokens();
        session->step();
        CHECK(session->tokens() - before == 3 * beam);
        finish(*session);
        CHECK(session->take_done().size() == 3);
        CHECK(rows[1].result().n_best.empty());
        for (const std::size_t i : {0, 2, 3}) {
            check_alone(model, {kTexts[i], search}, i + 1, rows[i].result());
        }
    }
}

TEST_CASE("work ends within a step after all rows have left, also while prompts are read", "[session]") {
    const auto backend = open_device("cpu");
    const ModelConfig config = context_of(4096);
    const LoadedModel model = tiny_translator(*backend, config);
    std::string words = "the";
    for (int i = 0; i < 150; ++i) {
        words += " small dog sees the";
    }
    SearchOptions search = exactly(20);
    search.echo = true;
    for (int steps = 0; steps < 6; ++steps) {
        SearchedRow row(model, {words, search});
        SearchedRow other(model, {"a cat", search});
        const auto session = model.begin({row.part(), other.part()}, {});
        for (int i = 0; i < steps; ++i) {
            REQUIRE(session->step());
        }
        session->leave(*row.part());
        session->leave(*other.part());
        const std::int64_t before = session->tokens();
        CHECK_FALSE(session->step());
        CHECK(session->tokens() == before);
    }
    search = exactly(1);
    search.echo = true;
    SearchedRow row(model, {words, search});
    REQUIRE(row.result().source_ids.size() > 2 * 256);
    const auto session = model.begin({row.part()}, {});
    int steps = 1;
    for (; session->step(); ++steps) {
    }
    CHECK(steps > 4);  // the prompt is scored, and read in chunks
    CHECK(row.result().echo.size() + 1 == row.result().source_ids.size());
}

TEST_CASE("rows keep their own seeds, stop texts, limits and rules in one batch", "[session]") {
    for (const std::string& id : conformance::devices_under_test()) {
        CAPTURE(id);
        const auto backend = open_device(id, environment_options());
        for (const Architecture family : {Architecture::CausalLm, Architecture::EncoderDecoder}) {
            ModelConfig config = family == Architecture::CausalLm ? context_of(48) : tiny_config();
            const LoadedModel model = tiny_translator(*backend, config);
            const std::string text = "the small dog";
            SearchedRow whole(model, {text, exactly(14)});
            finish(*model.begin({whole.part()}, {}));
            REQUIRE(whole.result().text.size() > 4);
            std::vector<SearchOptions> wishes(9, exactly(14));
            wishes[1].sample = wishes[2].sample = true;
            wishes[1].temperature = wishes[2].temperature = 1.5;
            wishes[1].seed = 7;
            wishes[2].seed = 8;
            wishes[3].stop = {whole.result().text.substr(3, 2)};
            wishes[4].max_extra = wishes[4].min_length = 3;
            wishes[5].bad_words = {{whole.result().target_ids.at(2)}};
            wishes[6].no_repeat_ngram = 1;
            wishes[7].alternatives = 5;
            wishes[8].repetition_penalty = 5.0;
            std::vector<SearchedRow> rows;
            for (const SearchOptions& wish : wishes) {
                rows.emplace_back(model, Wish{text, wish});
            }
            finish(*model.begin(parts_of(rows), {}));
            for (std::size_t i = 0; i < rows.size(); ++i) {
                CAPTURE(i);
                check_alone(model, {text, wishes[i]}, 1, rows[i].result());
                CHECK((rows[i].result().target_ids == whole.result().target_ids) == (i == 0 || i == 7));
            }
            CHECK(rows[1].result().target_ids != rows[2].result().target_ids);
            CHECK(rows[3].result().end == EndReason::Stop);

            std::vector<SearchOptions> beams(3, SearchOptions{.beam = 4, .max_extra = 8});
            beams[1].n_best = 3;
            beams[2].length_penalty = -1.0;
            std::vector<SearchedRow> others;
            for (const SearchOptions& wish : beams) {
                others.emplace_back(model, Wish{text, wish});
            }
            finish(*model.begin(parts_of(others), {}));
            for (std::size_t i = 0; i < others.size(); ++i) {
                check_alone(model, {text, beams[i]}, 1, others[i].result());
            }
        }
    }
}

TEST_CASE("the likeliest tokens are reported beside those that are written", "[session]") {
    const auto backend = open_device("cpu");
    const LoadedModel model = tiny_translator(*backend, context_of(48));
    SearchOptions search = exactly(6);
    search.alternatives = 4;
    search.echo = true;
    SearchedRow row(model, {"the small dog sees", search}, 1, true);
    SearchedRow plain(model, {"the small dog sees", exactly(6)});
    const auto session = model.begin({row.part(), plain.part()}, {});
    finish(*session);
    const Translation& found = row.result().n_best.front();
    CHECK(plain.result().target_ids == found.ids);
    CHECK(plain.result().n_best.front().alternatives.empty());
    CHECK(plain.result().echo.empty());
    REQUIRE(found.alternatives.size() == found.ids.size());
    for (std::size_t i = 0; i < found.ids.size(); ++i) {
        const std::vector<TokenChance>& likeliest = *found.alternatives[i];
        REQUIRE(likeliest.size() == 4);
        bool written = false;
        for (std::size_t rank = 0; rank < likeliest.size(); ++rank) {
            CHECK((rank == 0 || likeliest[rank].log_probability <= likeliest[rank - 1].log_probability));
            if (likeliest[rank].token == found.ids[i]) {
                written = true;
                CHECK(likeliest[rank].log_probability == Approx(found.token_log_probabilities[i]));
            }
        }
        CHECK((written || likeliest.back().log_probability >= found.token_log_probabilities[i]));
    }
    std::vector<WrittenToken> told;
    for (const TextEvent& event : session->take_events()) {
        told.resize(event.kept_tokens);
        told.insert(told.end(), event.tokens.begin(), event.tokens.end());
    }
    REQUIRE(told.size() == found.ids.size());
    CHECK(told[2].token == found.ids[2]);
    CHECK(told[2].alternatives.at(1).token == found.alternatives[2]->at(1).token);

    // The prompt's own probabilities, as those of a text with the same beginning.
    Context ctx{.backend = *backend};
    const std::vector<std::int32_t>& prompt = row.result().source_ids;
    const std::vector<std::vector<std::int32_t>> texts{{prompt.begin() + 1, prompt.end()}};
    const auto forced = force_texts(ctx, model.models(), texts).front();
    const std::vector<WrittenToken>& echo = row.result().echo;
    REQUIRE(echo.size() == prompt.size() - 1);
    for (std::size_t i = 0; i < echo.size(); ++i) {
        CHECK(echo[i].token == prompt[i + 1]);
        CHECK(echo[i].log_probability == Approx(forced[i].log_probability));
        REQUIRE(echo[i].alternatives.size() == 4);
        CHECK(echo[i].alternatives.front().log_probability == Approx(forced[i].best_log_probability));
    }
}

TEST_CASE("a prompt of ids is continued as its text is", "[session]") {
    const auto backend = open_device("cpu");
    const LoadedModel model = tiny_translator(*backend, context_of(48));
    const DecodingOptions options{.search = exactly(6)};
    const TextResult text = model.translate_line("the small dog", options);
    const auto by_ids = model.translate_sources(
        {{.text = {}, .number = 1, .ids = text.source_ids}, {.text = {}, .number = 2, .ids = {4, 100'000}}}, options);
    check_result(by_ids[0], text);
    CHECK_THAT(by_ids[1].problem, Catch::Contains("the prompt has the id 100000, but the model's are 0 to"));
    const auto translated = tiny_translator(*backend).translate_sources({{.text = {}, .ids = {4, 5}}}, options);
    CHECK_THAT(translated[0].problem, Catch::Contains("give a text"));
}

TEST_CASE("a full memory halves a session, and no row is lost", "[session]") {
    SmallBackend backend(open_device("cpu"), std::int64_t{1} << 40);
    const LoadedModel model = tiny_translator(backend, context_of(128));
    std::vector<SearchedRow> rows;
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
        rows.emplace_back(model, Wish{kTexts[i], exactly(80)}, i + 1, true);
    }
    std::vector<SearchedRow> before;
    for (const std::string& prompt : kTexts) {
        before.emplace_back(model, Wish{prompt, exactly(80)});
    }
    backend.forget();
    finish(*model.begin(parts_of(before), {}));
    backend.allow(backend.largest() - 1);  // which is wanted once there are some tokens
    backend.forget();
    const auto session = model.begin(parts_of(rows), {});
    finish(*session);
    backend.allow(std::int64_t{1} << 40);
    CHECK(session->take_done().size() == rows.size());
    std::map<LinePart*, std::string> told;
    bool begun_anew = false;
    for (const TextEvent& event : session->take_events()) {
        std::string& text = told[event.part];
        REQUIRE(event.kept_bytes <= text.size());
        begun_anew = begun_anew || event.kept_bytes < text.size();
        text.replace(event.kept_bytes, std::string::npos, event.text);
    }
    CHECK(begun_anew);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(told[rows[i].part()] == rows[i].result().text);
        check_alone(model, {kTexts[i], exactly(80)}, i + 1, rows[i].result());
    }
    backend.allow(64);
    SearchedRow single(model, {"the small dog", exactly(80)});
    CHECK_THROWS_AS(finish(*model.begin({single.part()}, {})), OutOfMemory);
}

TEST_CASE("scores and fillings step, too", "[session]") {
    const auto backend = open_device("cpu");
    Context ctx{.backend = *backend};
    for (const Architecture family : {Architecture::CausalLm, Architecture::EncoderDecoder, Architecture::MaskedLm}) {
        const LoadedModel model = tiny_translator(
            *backend, family == Architecture::EncoderDecoder ? tiny_config() : tiny_language_config(family));
        ScoreSession session(ctx, model, kTexts, kTexts, 8, {}, 3);
        int steps = 1;
        std::int64_t tokens = 0;
        for (; session.step(); ++steps) {
            CHECK(session.tokens() > tokens);
            tokens = session.tokens();
        }
        CHECK(steps >= 3);
        const auto scored = session.take();
        for (std::size_t i = 0; i < kTexts.size(); ++i) {
            const auto alone = score_pairs(ctx, model, {kTexts[i]}, {kTexts[i]}, 1024);
            CHECK(scored[i].target_ids == alone.front().target_ids);
            CHECK(scored[i].log_probability == Approx(alone.front().log_probability));
            REQUIRE(scored[i].alternatives.size() == scored[i].target_ids.size());
            for (std::size_t token = 0; token < scored[i].target_ids.size(); ++token) {
                const std::vector<TokenChance>& likeliest = scored[i].alternatives[token];
                REQUIRE(likeliest.size() == 3);
                CHECK(likeliest[0].log_probability >= likeliest[2].log_probability);
                CHECK((likeliest[0].token != scored[i].target_ids[token] ||
                       likeliest[0].log_probability == Approx(scored[i].log_probabilities[token])));
            }
            CHECK(alone.front().alternatives.empty());
        }
        if (family == Architecture::MaskedLm) {
            const Filler filler(*backend, model);
            FillSession filling(filler, filler.encode("the [MASK] dog [MASK] the [MASK]", kMaskText).ids, 3, true);
            CHECK(filling.step());
            CHECK(filling.step());
            CHECK_FALSE(filling.step());
            CHECK(filling.take().masks.size() == 3);
        }
    }
}
