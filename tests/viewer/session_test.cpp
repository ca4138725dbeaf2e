// Requests of a session to its workers, and their results.
#include "tests/viewer/stage.h"

#include "tests/train/digits_run.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/session/rows.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

namespace {

const Exploration& shown(const Session& session) {
    REQUIRE(session.scene().main.shown != nullptr);
    return *session.scene().main.shown;
}

std::string joined(const Drawing& drawing) {
    std::string all;
    for (const Primitive& primitive : drawing.primitives) {
        if (const auto* text = std::get_if<Text>(&primitive.shape)) {
            all += text->content + " ";
        }
    }
    return all;
}

}  // namespace

TEST_CASE("A newer sentence replaces the previous one", "[session]") {
    const TemporaryFolder folder;
    std::atomic<int> wakes{0};
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence()), [&wakes] { ++wakes; });
    CHECK(session.busy());
    settle(session);
    CHECK(wakes > 0);
    CHECK(session.scene().main.model->name == "tiny");
    CHECK(session.scene().main.problem.empty());
    CHECK(shown(session).source == kSentence);
    CHECK(shown(session).finished);
    CHECK(session.scene().main.original == session.scene().main.shown);

    for (const char* text : {"a", "a c", "a cat", "a cat sleeps"}) {
        session.state().text = text;
        session.update(Clock::now());
    }
    settle(session);
    CHECK(shown(session).source == "a cat sleeps");
    session.state().panel = PanelId::Heads;  // nothing that the model has to be asked for
    session.update(Clock::now());
    CHECK_FALSE(session.busy());
    session.undo();
    session.update(Clock::now());
    CHECK(session.state().panel == PanelId::Figure);
    session.undo();
    settle(session);
    CHECK(shown(session).source == kSentence);
    session.redo();
    settle(session);
    CHECK(shown(session).source == "a cat sleeps");
    CHECK(errors_of(session).empty());
}

TEST_CASE("The original is kept next to the edited result", "[session]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence()), [] {});
    settle(session);
    const double before = shown(session).log_probability;
    session.state().edits = {first_head_off()};
    settle(session);
    const Side& side = session.scene().main;
    REQUIRE(side.original != nullptr);
    CHECK(side.original != side.shown);
    CHECK(side.original->log_probability == before);
    CHECK(side.shown->log_probability != before);
    session.state().edits.clear();
    settle(session);
    CHECK(session.scene().main.original == session.scene().main.shown);
    CHECK(shown(session).log_probability == before);
}

TEST_CASE("Two models are compared on one sentence", "[session]") {
    const TemporaryFolder folder;
    const std::string first = write_model(folder, "first", 3), second = write_model(folder, "second", 4);
    Session session(on_cpu(first, sentence()), [] {});
    session.compare_with(second, "cpu");
    settle(session);
    REQUIRE(session.scene().other.has_value());
    REQUIRE(session.scene().other->shown != nullptr);
    CHECK(session.scene().other->model->name == "second");
    CHECK(session.scene().other->shown->source == kSentence);
    CHECK(session.scene().other->shown->log_probability != shown(session).log_probability);
    session.state().text = "a cat";
    settle(session);
    CHECK(session.scene().other->shown->source == "a cat");

    session.compare_with(folder.file("nowhere"), "cpu");
    settle(session);
    CHECK_THAT(session.scene().other->problem, Contains("nowhere"));
    CHECK_THAT(errors_of(session), Contains("nowhere"));
    CHECK(shown(session).source == "a cat");
    session.end_comparison();
    settle(session);
    CHECK_FALSE(session.scene().other.has_value());
}

TEST_CASE("The importance of heads is dropped with its sentence", "[session]") {
    const TemporaryFolder folder;
    const std::string first = write_model(folder, "first", 3), second = write_model(folder, "second", 4);
    Session session(on_cpu(first, sentence()), [] {});
    session.measure_importance();  // there is no translation yet
    CHECK_FALSE(session.measuring());
    settle(session);
    session.measure_importance();
    CHECK(session.measuring());
    settle(session);
    REQUIRE(session.scene().importance != nullptr);
    CHECK(session.scene().importance->heads.size() == 6 * 4);
    CHECK(session.scene().importance->log_probability == Approx(shown(session).log_probability).margin(1e-4));

    session.state().word = 1;
    settle(session);
    CHECK(session.scene().importance != nullptr);
    session.state().text = "a cat";
    session.update(Clock::now());
    CHECK(session.scene().importance == nullptr);
    settle(session);
    session.measure_importance();
    session.state().text = "a dog";  // while it is measured
    settle(session);
    CHECK_FALSE(session.measuring());
    CHECK(session.scene().importance == nullptr);
    session.measure_importance();
    settle(session);
    REQUIRE(session.scene().importance != nullptr);
    session.open(second, "cpu");
    CHECK(session.scene().importance == nullptr);
    settle(session);
    CHECK(session.scene().importance == nullptr);
}

TEST_CASE("Selecting two words of a matrix requests the neuron view", "[session]") {
    const TemporaryFolder folder;
    const std::string first = write_model(folder, "first", 3), second = write_model(folder, "second", 4);
    Session session(on_cpu(first, sentence(kSentence, PanelId::Matrix)), [] {});
    settle(session);
    CHECK(session.scene().neuron == nullptr);
    session.state().word = 1;
    session.state().key = 2;
    session.state().layer = 2;
    session.state().heads = {3};
    settle(session);
    REQUIRE(session.scene().neuron != nullptr);
    CHECK(session.scene().neuron->site == AttentionSite{AttentionKind::EncoderSelf, 1});
    CHECK(session.scene().neuron->head == 3);
    const auto before = session.scene().neuron;
    session.state().kind = AttentionKind::Cross;
    session.update(Clock::now());
    CHECK(session.busy());
    settle(session);
    REQUIRE(session.scene().neuron != nullptr);
    CHECK(session.scene().neuron->site.kind == AttentionKind::Cross);
    session.state().kind = AttentionKind::EncoderSelf;
    settle(session);
    CHECK(session.scene().neuron->q == before->q);

    session.state().target = "eine katze";  // the same for both models, so that the requests are the same, too
    settle(session);
    session.open(second, "cpu");
    CHECK(session.scene().neuron == nullptr);
    settle(session);
    REQUIRE(session.scene().neuron != nullptr);
    CHECK(session.scene().main.model->name == "second");
    CHECK(session.scene().neuron->q != before->q);  // not the model's before
    session.state().heads = {4};
    session.update(Clock::now());  // requested,
    session.open(first, "cpu");    // never answered
    session.state().word = -1;     // and not requested again
    settle(session);
}

TEST_CASE("A failed open keeps the previous model", "[session]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "tiny", 3);
    Session session(on_cpu(model, sentence()), [] {});
    settle(session);
    session.open(folder.file("nowhere"), "cpu");
    settle(session);
    CHECK_THAT(errors_of(session), Contains("nowhere"));
    CHECK(session.scene().main.model->name == "tiny");
    CHECK(session.scene().main.problem.empty());
    CHECK(session.model_path() == model);
    session.state().text = "a cat";
    settle(session);
    CHECK(shown(session).source == "a cat");
    const std::string file = folder.file("after.headscope");
    session.save_view(file);
    CHECK(read_view(file).model == "tiny");  // beside it
    session.open(model, "gpu:7");
    settle(session);
    CHECK_THAT(errors_of(session), Contains("gpu:7"));
    CHECK(session.device() == "cpu");
}

TEST_CASE("A repeated notice replaces the one before", "[session]") {
    Session session(on_cpu("/nowhere", sentence()), [] {});
    session.notify("first");
    session.notify("second");
    session.notify("first");
    REQUIRE(session.notices().size() == 2);
    CHECK(session.notices().back().text == "first");
    session.report_error("first");
    CHECK(session.notices().size() == 3);
}

TEST_CASE("A session without a model says why", "[session]") {
    const TemporaryFolder folder;
    Session session(on_cpu(folder.file("nowhere"), sentence()), [] {});
    settle(session);
    CHECK_FALSE(session.scene().main.model.has_value());
    CHECK_THAT(session.scene().main.problem, Contains("nowhere"));
    for (int panel = 0; panel < kPanels; ++panel) {
        const Drawing drawing = draw_panel(session.scene(), static_cast<PanelId>(panel), {});
        CHECK_FALSE(joined(drawing).empty());
    }
    session.open(write_model(folder, "tiny", 3), "cpu");
    settle(session);
    CHECK(shown(session).finished);
}

TEST_CASE("A saved view is restored, and another model is reported", "[session]") {
    const TemporaryFolder folder;
    const std::string first = write_model(folder, "first", 3), second = write_model(folder, "second", 4);
    const std::string file = folder.file("my.headscope");
    Session session(on_cpu(first, sentence("a cat")), [] {});
    session.compare_with(second, "cpu");
    session.state().edits = {first_head_off()};
    settle(session);
    session.save_view(file);
    const ViewState saved = session.state();
    CHECK_THAT(session.notices().back().text, Contains(file));
    session.end_comparison();
    session.state() = sentence();
    settle(session);
    session.open_view(file);
    settle(session);
    CHECK(session.state() == saved);
    REQUIRE(session.scene().other.has_value());
    CHECK(session.scene().other->model->name == "second");
    CHECK(shown(session).source == "a cat");
    CHECK(errors_of(session).empty());

    SavedView other = read_view(file);
    other.parameters += 1;
    other.model_name = "something else";
    folder.write("other.headscope", to_json(other));
    session.open_view(folder.file("other.headscope"));
    settle(session);
    CHECK_THAT(errors_of(session), Contains("saved with another model") && Contains("something else"));
    CHECK(shown(session).source == "a cat");

    const ViewState before = session.state();
    session.open_view(folder.write("bad.headscope", "{}"));
    settle(session);
    CHECK_THAT(errors_of(session), Contains("bad.headscope"));
    CHECK(session.state() == before);
    session.save_view(folder.file("missing/my.headscope"));
    CHECK_THAT(errors_of(session), Contains("missing/my.headscope"));
}

TEST_CASE("The checkpoints of a training are stepped through, back and forth", "[session]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, write_digits(folder), "run");
    run.start().train();
    Session session(on_cpu(folder.file("run"), sentence("1 7", PanelId::Training)), [] {});
    settle(session);
    REQUIRE(session.scene().run != nullptr);
    CHECK(session.scene().run->checkpoints == std::vector<std::int64_t>{8, 16, 24});
    CHECK(session.scene().main.model->checkpoint == 24);
    CHECK(session.follows_run());
    const double last = shown(session).log_probability;
    session.save_view(folder.file("newest.headscope"));
    CHECK(read_view(folder.file("newest.headscope")).state.checkpoint == 24);
    session.open_checkpoint(8);
    settle(session);
    CHECK(session.scene().main.model->checkpoint == 8);
    CHECK(shown(session).log_probability != last);
    const std::string file = folder.file("early.headscope");
    session.save_view(file);
    session.undo();
    settle(session);
    CHECK(session.scene().main.model->checkpoint == 24);
    CHECK(shown(session).log_probability == last);
    session.open_view(file);
    settle(session);
    CHECK(session.scene().main.model->checkpoint == 8);

    std::filesystem::remove(folder.file("run/checkpoints/step-00000016.safetensors"));
    session.open_checkpoint(16);
    settle(session);
    const std::string said = errors_of(session);
    CHECK_THAT(said, Contains("no checkpoint after step 16"));
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);  // once
    CHECK(session.scene().main.model->checkpoint == 8);
    CHECK(session.state().checkpoint == 8);
    session.state().checkpoint = 9;  // of another training, as undo may bring it back
    settle(session);
    CHECK(session.state().checkpoint == 8);
    CHECK(session.scene().main.model->checkpoint == 8);

    // The removed checkpoint is noticed a while later.
    CHECK(update_until(session, [&] { return session.scene().run->checkpoints == std::vector<std::int64_t>{8, 24}; }));
    run.training->write_model(folder.file("run/model"));
    session.open(folder.file("run/model"), "cpu");
    settle(session);
    CHECK(session.scene().run == nullptr);
    CHECK_FALSE(session.follows_run());
    CHECK_FALSE(session.state().checkpoint.has_value());
    CHECK(shown(session).finished);
}

TEST_CASE("A model removed from disk stays open", "[session]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "tiny", 3);
    Session session(on_cpu(model, sentence()), [] {});
    settle(session);
    std::filesystem::remove_all(model);
    session.state().text = "a cat";
    settle(session);
    CHECK(shown(session).source == "a cat");
    session.open(model, "cpu");
    settle(session);
    CHECK_THAT(errors_of(session), Contains("tiny"));
    session.state().text = "a dog";
    settle(session);
    CHECK(shown(session).source == "a dog");
}

TEST_CASE("Sentences that a model cannot read are explained", "[session]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence()), [] {});
    settle(session);
    std::string long_text;
    for (int i = 0; i < 2000; ++i) {
        long_text += "cat ";
    }
    const auto says = [&](const std::string& text) {
        session.state().text = text;
        settle(session);
        const Side& side = session.scene().main;
        const std::string problem = side.shown != nullptr ? side.shown->problem : side.problem;
        for (int panel = 0; panel < kPanels; ++panel) {
            if (const auto id = static_cast<PanelId>(panel); id != PanelId::Model && id != PanelId::Training) {
                CHECK_FALSE(joined(draw_panel(session.scene(), id, {})).empty());
            }
        }
        return problem;
    };
    CHECK_THAT(says(long_text), Contains("at most 200"));
    CHECK_THAT(says(""), Contains("Type a sentence"));
    CHECK_THAT(says(" \n\t"), Contains("Type a sentence"));
    CHECK_THAT(says("\u00a0\u200b"), Contains("Type a sentence"));
    CHECK_THAT(says("\xff\xfe cat"), Contains("UTF-8"));
    CHECK(says("\U0001F600 \u05d0\u05d1 \u200f cat").empty());
    CHECK(says(kSentence).empty());
    CHECK(shown(session).source == kSentence);
}

TEST_CASE("A given translation is read, and invalid UTF-8 is an error", "[session]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence()), [] {});
    session.state().target = "eine katze";
    settle(session);
    CHECK(shown(session).forced);
    CHECK(shown(session).translation == "eine katze");
    session.state().target = "\xff";
    settle(session);
    CHECK_THAT(shown(session).problem, Contains("UTF-8"));
    session.state().target.reset();
    settle(session);
    CHECK_FALSE(shown(session).forced);
}

TEST_CASE("A session saves its settings only if it has a file", "[session]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "tiny", 3);
    const std::string file = folder.file("config/viewer.json");
    std::string problem;
    for (const std::string& settings : {std::string(), file}) {
        SessionOptions options = on_cpu(model, sentence());
        options.settings_file = settings;
        Session session(options, [] {});
        settle(session);
        session.settings().theme = Theme::Dark;
        session.update(Clock::now());
        CHECK(std::filesystem::exists(file) == !settings.empty());  // while it runs
        session.settings().scale = 1.5;                             // at its end
    }
    const ViewerSettings kept = load_settings(file, problem);
    CHECK(kept.theme == Theme::Dark);
    CHECK(kept.scale == 1.5);
    CHECK(kept.recent_models == std::vector<std::string>{model});
}
