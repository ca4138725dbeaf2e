// Searches that go on step by step: rows with options of their own, which join and leave.
#include "infer/session.h"

#include <string>
#include <vector>

#include "registry/registry.h"
#include "searched_row.h"
#include "support/check.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"

using namespace headscope;

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
