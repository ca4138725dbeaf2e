// Results of old requests are not shown for new ones, and failed side requests change nothing.
#include "tests/viewer/stage.h"

#include "tests/train/digits_run.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/parts.h"
#include "viewer/session/edits.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

namespace {

SessionOptions faulty(const std::string& model, const ViewState& state, Faults& faults) {
    SessionOptions options = on_cpu(model, state);
    options.open_device = [&faults](const std::string&) { return std::make_unique<FaultyBackend>(faults); };
    return options;
}

}  // namespace

TEST_CASE("While another model opens, no request is sent for the previous result", "[session]") {
    const TemporaryFolder folder;
    const std::string first = write_model(folder, "first", 3), second = write_model(folder, "second", 4);
    Session session(on_cpu(first, sentence(kSentence, PanelId::Matrix)), [] {});
    settle(session);
    session.state().word = 1;
    session.state().key = 2;
    session.open(second, "cpu");
    REQUIRE(session.scene().main.shown != nullptr);
    session.update(Clock::now());  // asks for no neuron
    session.open(second, "cpu");
    session.measure_importance();
    CHECK_FALSE(session.measuring());
    settle(session);
    CHECK(session.scene().neuron != nullptr);
    CHECK(session.scene().main.model->name == "second");
}

TEST_CASE("A training that becomes unreadable stays shown and is reported once", "[session]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, write_digits(folder), "run");
    run.start().train();
    Session session(on_cpu(folder.file("run"), sentence("1 7", PanelId::Training)), [] {});
    settle(session);
    const auto before = session.scene().run;
    const auto read_again = [&](int seconds) {
        session.update(Clock::now() + std::chrono::seconds(seconds));
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        session.update(Clock::now() + std::chrono::seconds(seconds));
    };
    read_again(10);
    CHECK(session.scene().run == before);  // nothing new, nothing told
    const std::string checkpoints = folder.file("run/checkpoints");
    std::filesystem::rename(checkpoints, checkpoints + "-away");
    read_again(20);
    read_again(30);
    const std::string said = errors_of(session);
    CHECK_THAT(said, Contains("is gone"));
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
    CHECK(nothing_there(session.scene().main).empty());
    std::filesystem::rename(checkpoints + "-away", checkpoints);
    std::filesystem::remove(checkpoints + "/step-00000016.safetensors");
    read_again(40);
    CHECK(session.scene().run->checkpoints == std::vector<std::int64_t>{8, 24});
}

TEST_CASE("A result from before an edit is not drawn as the edited one", "[session][surgery]") {
    const TemporaryFolder folder;
    Faults faults;
    Session session(faulty(write_model(folder, "tiny", 3), sentence(kSentence, PanelId::Surgery), faults), [] {});
    settle(session);
    const auto drawn = [&] { return texts_of(draw_panel(session.scene(), PanelId::Surgery, {})); };
    CHECK_THAT(drawn(), Contains("Unedited"));
    faults.milliseconds = 30;
    session.state().edits = {first_head_off()};
    session.update(Clock::now());
    CHECK_THAT(drawn(), Contains("Computing with the edits"));
    CHECK_THAT(drawn(), !Contains("The log probability changed"));
    CHECK_FALSE(edits_answered(session.scene()));
    faults.milliseconds = 0;
    settle(session);
    CHECK_THAT(drawn(), Contains("With the edits:") && Contains("The log probability changed"));
    CHECK(session.scene().main.shown->record.edited == describe(first_head_off()));

    session.state().edits.clear();  // the answer with them is not the original
    faults.milliseconds = 30;
    session.update(Clock::now());
    CHECK(session.scene().main.original != session.scene().main.shown);
    faults.milliseconds = 0;
    settle(session);
    CHECK(session.scene().main.original == session.scene().main.shown);
    CHECK(session.scene().main.shown->record.edited.empty());
}

TEST_CASE("The neuron view is dropped with its sentence", "[session]") {
    const TemporaryFolder folder;
    Faults faults;
    Session session(faulty(write_model(folder, "tiny", 3), sentence(kSentence, PanelId::Matrix), faults), [] {});
    session.state().word = 1;
    session.state().key = 2;
    settle(session);
    REQUIRE(session.scene().neuron != nullptr);
    faults.milliseconds = 30;
    session.state().text = "a cat sleeps on the mat";
    REQUIRE(update_until(session, [&] {
        return session.scene().main.shown->source != kSentence && !session.scene().main.shown->finished;
    }));
    CHECK(session.scene().neuron == nullptr);
    CHECK_FALSE(neuron_row(session.scene()).has_value());
    faults.milliseconds = 0;
    settle(session);
    REQUIRE(session.scene().neuron != nullptr);
    CHECK(session.scene().neuron->keys == static_cast<std::int64_t>(session.scene().main.shown->record.source.size()));
}

TEST_CASE("A new sentence resets what refers to tokens", "[state]") {
    ViewState state = sentence();
    state.target = "eine katze";
    state.word = 2;
    state.key = 3;
    state.step = 1;
    AttentionEdit row = first_head_off(), pin = first_head_off();
    row.query = 2;
    pin.kind = EditKind::Pin;
    pin.key = 1;
    state.edits = {row, first_head_off(), pin};
    const ViewState before = state;
    new_sentence(state, kSentence);
    CHECK(state == before);
    new_sentence(state, "a cat");
    ViewState expected = sentence("a cat");
    expected.edits = {first_head_off()};
    CHECK(state == expected);
}

TEST_CASE("A pin to a missing token is reported as without effect", "[session][surgery]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence(kSentence, PanelId::Surgery)), [] {});
    AttentionEdit far = first_head_off();
    far.kind = EditKind::Pin;
    far.key = 150;
    session.state().edits = {far};
    settle(session);
    CHECK(session.scene().main.shown->without_effect == std::vector<AttentionEdit>{far});
    CHECK_THAT(texts_of(draw_panel(session.scene(), PanelId::Surgery, {})), Contains("looks at token 151: no effect"));
    session.state().edits.front().key = 1;
    settle(session);
    CHECK(session.scene().main.shown->without_effect.empty());
    CHECK_THAT(texts_of(draw_panel(session.scene(), PanelId::Surgery, {})), !Contains("no effect"));
}

TEST_CASE("Ending a comparison does not wait for its worker", "[session]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "tiny", 3);
    Faults faults;
    Session session(faulty(model, sentence(), faults), [] {});
    settle(session);
    session.compare_with(model, "cpu");
    settle(session);
    faults.milliseconds = 1500;  // within one token nothing can be stopped
    const int steps = faults.steps;
    session.state().text = "a cat";
    REQUIRE(update_until(session, [&] { return faults.steps >= steps + 2; }));
    const Clock::time_point start = Clock::now();
    session.end_comparison();
    session.update(Clock::now());
    CHECK(seconds_since(start) < 0.5);
    faults.milliseconds = 0;
    settle(session);
    CHECK(session.scene().main.shown->source == "a cat");
}
