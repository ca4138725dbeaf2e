// Models that read pictures: attention drawn on the picture, captions, classes, and pictures that cannot be read.
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "explore/checked_request.h"
#include "io/strict_json.h"
#include "model/family.h"
#include "tests/figures/layout_checks.h"
#include "tests/house/files.h"
#include "tests/viewer/language_model.h"
#include "tests/viewer/stage.h"
#include "viewer/session/places.h"
#include "viewer/session/rows.h"
#include "viewer/session/shown.h"
#include "viewer/session/wording.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

struct PictureStage {
    TemporaryFolder folder;
    Session session;
    explicit PictureStage(bool classifies, PanelId panel = PanelId::Figure)
        : session(on_cpu(classifies ? picture_classifier() : write_captioner(folder, "captioner"),
                         sentence(some_picture(), panel)),
                  [] {}) {
        settle(session);
        INFO(nothing());
        REQUIRE(nothing().empty());
    }
    ViewState& state() { return session.state(); }
    const Scene& scene() const { return session.scene(); }
    std::string nothing() const { return why_empty(scene().main); }
    Drawing drawing(PanelId panel, double width = 900.0) const {
        const Drawing one = draw_panel(scene(), panel, {.width = width, .tips = false});
        test::check_layout(one);
        return one;
    }
    std::string texts(PanelId panel) const { return texts_of(drawing(panel)); }
};

// The marks of the cells of a head's copy, or of the picture.
std::vector<Mark> marks_of(const Drawing& drawing, Role role, int head) {
    std::vector<Mark> marks;
    for (const Primitive& primitive : drawing.primitives) {
        if (primitive.mark.role == role && primitive.mark.head == head) {
            marks.push_back(primitive.mark);
        }
    }
    return marks;
}

// A classifier of pictures of 4 x 4 patches with a class token, which could read more.
std::string write_classifier(const TemporaryFolder& folder, OutputHead head) {
    return write_language_model(folder, "roomy", Architecture::Encoder, 3, [&](ModelConfig& config) {
        config.decoder_layers = 0;
        config.embedding = {};
        config.input = {.kind = InputKind::Patches, .picture = 16, .patch = 4, .channels = 3, .class_token = true};
        config.input.mean = config.input.deviation = {0.5, 0.5, 0.5};
        config.source_vocabulary = config.target_vocabulary = config.input.channels * kChannelValues;
        config.frame.source_end = {};
        config.output.head = head;
        config.output.scored = ScoredState::First;
        if (head == OutputHead::Classes) {
            config.output.labels = {"circle", "square"};
        }
    });
}

// The log-probability of a class.
double probability_of(const Exploration& shown, std::int32_t wanted) {
    for (const NextCandidate& one : shown.steps.front().candidates) {
        if (one.token == wanted) {
            return one.log_probability;
        }
    }
    return 0.0;
}

}  // namespace

TEST_CASE("The heads of a ViT's class token are drawn on the picture", "[pictures]") {
    PictureStage stage(true);
    CHECK(stage.drawing(PanelId::Figure).title == "What the class token looks at, layer 2");
    const int heads = heads_of(stage.scene());
    const SelectedAttention content = panel_contents(stage.scene(), PanelId::Figure).front();
    REQUIRE(content.chosen == std::vector<std::size_t>{0});
    for (int head = 1; head <= heads; ++head) {
        const std::vector<Mark> cells = marks_of(stage.drawing(PanelId::Figure), Role::Cell, head);
        REQUIRE_FALSE(cells.empty());
        CHECK(cells.front().key == 1);
        CHECK(cells.back().key == 9);
        CHECK_THAT(cells.back().tip,
                   Contains(fmt::format("{:.3g}", content.weight(head, 0, 9)) + " on row 3, column 3"));
    }
    stage.state().heads = {2};
    CHECK(marks_of(stage.drawing(PanelId::Figure), Role::Cell, 1).empty());
    PanelPictures pictures;
    CHECK_THAT(pictures.caption(stage.scene(), PanelId::Figure), Contains("head 2: the class token looks at the"));
}

TEST_CASE("A patch that is pointed at or chosen is shown", "[pictures]") {
    PictureStage stage(true);
    CHECK(marks_of(stage.drawing(PanelId::Figure), Role::Block, 0).back().item == 9);
    stage.session.hover_word(9);
    CHECK_THAT(stage.texts(PanelId::Figure), Contains("What the patch 3,3 looks at"));
    stage.session.hover_word(-1);
    CHECK_THAT(stage.texts(PanelId::Figure), Contains("What the class token looks at"));
    stage.state().word = 9;
    CHECK_THAT(stage.texts(PanelId::Figure), Contains("What the patch 3,3 looks at"));
    stage.state().direction = Direction::To;
    CHECK_THAT(stage.texts(PanelId::Figure), Contains("What looks at the patch 3,3"));
    const SelectedAttention content = panel_contents(stage.scene(), PanelId::Figure).front();
    const Mark first = marks_of(stage.drawing(PanelId::Figure), Role::Cell, 1).front();
    CHECK_THAT(first.tip, Contains(fmt::format("{:.3g}", content.weight(1, 1, 9))));
}

TEST_CASE("Each word of a caption has a copy of the picture, and a chosen word one for each head", "[pictures]") {
    PictureStage stage(false);
    CHECK_THAT(stage.texts(PanelId::Figure), Contains("What the patches look at on average, encoder layer 2"));
    stage.state().kind = AttentionKind::Cross;
    stage.state().target = "a cat sleeps";
    settle(stage.session);
    const std::string texts = stage.texts(PanelId::Figure);
    CHECK_THAT(texts, Contains("What each word looks at, cross layer 2") && Contains("The mean of 4 heads."));
    stage.state().heads = {3};
    CHECK_THAT(stage.texts(PanelId::Figure), Contains("Head 3."));
    stage.state().heads.clear();
    const SelectedAttention words = panel_contents(stage.scene(), PanelId::Figure).front();
    REQUIRE(words.queries.size() > 1);
    CHECK(marks_of(stage.drawing(PanelId::Figure), Role::Cell, 0).back().query == std::ssize(words.queries) - 1);
    stage.state().word = 1;
    CHECK_THAT(stage.texts(PanelId::Figure), Contains("\"" + words.queries[1].label + "\" looks at, cross layer 2"));
    CHECK_FALSE(marks_of(stage.drawing(PanelId::Figure), Role::Cell, 4).empty());
    stage.state().direction = Direction::To;  // patches look at nothing there
    CHECK_THAT(stage.texts(PanelId::Figure), Contains("looks at, cross layer 2"));
    stage.state().kind = AttentionKind::DecoderSelf;
    CHECK(marks_of(stage.drawing(PanelId::Figure), Role::Block, 0).empty());
}

TEST_CASE("A caption grows word by word, with what each of its pieces looked at", "[pictures]") {
    PictureStage stage(false, PanelId::Time);
    CHECK_FALSE(stage.scene().main.shown->beam.empty());
    CHECK(std::string(noun_of(stage.scene())) == "caption");
    CHECK(std::string(given_of(stage.scene())) == "Picture");
    stage.state().step = 0;
    CHECK_THAT(stage.texts(PanelId::Time), Contains("looks at, cross layer 2"));
    stage.state().target = "a cat sleeps";
    settle(stage.session);
    CHECK(stage.scene().main.shown->translation == "a cat sleeps");
    CHECK_THAT(stage.texts(PanelId::Time), Contains("The caption was given"));
}

TEST_CASE("The classes of a picture have transformers' probabilities", "[pictures]") {
    PictureStage stage(true, PanelId::Time);
    const json wanted = read_json_file(picture_classifier() + "/pictures.json")[0]["scores"];
    const std::vector<std::string>& labels = stage.scene().main.model->config.output.labels;
    double sum = 0.0;
    for (const json& score : wanted) {
        sum += std::exp(score.get<double>());
    }
    const ExploredStep& step = stage.scene().main.shown->steps.front();
    REQUIRE(step.candidates.size() == labels.size());
    for (const NextCandidate& one : step.candidates) {
        const auto at = static_cast<std::size_t>(one.token);
        CHECK(one.text == labels[at]);
        CHECK(std::exp(one.log_probability) == Approx(std::exp(wanted[at].get<double>()) / sum).margin(1e-4));
    }
    CHECK(stage.scene().main.shown->translation == step.candidates.front().text);
    CHECK_THAT(stage.texts(PanelId::Time), Contains(labels[2]) && Contains("What the class token looks at"));
    CHECK(std::string(title_of(PanelId::Time, reading_of(stage.scene()))) == "Classes");
}

TEST_CASE("Where a picture may have any number of classes, each has a probability of its own", "[pictures]") {
    const TemporaryFolder folder;
    std::filesystem::copy(picture_classifier(), folder.file("several"), std::filesystem::copy_options::recursive);
    json config = read_json_file(folder.file("several/config.json"));
    config["problem_type"] = "multi_label_classification";
    folder.write("several/config.json", config.dump());
    Session session(on_cpu(folder.file("several"), sentence(some_picture(), PanelId::Time)), [] {});
    settle(session);
    const json wanted = read_json_file(picture_classifier() + "/pictures.json")[0]["scores"];
    REQUIRE(session.scene().main.shown != nullptr);
    REQUIRE(session.scene().main.shown->steps.front().candidates.size() == wanted.size());
    for (const NextCandidate& one : session.scene().main.shown->steps.front().candidates) {
        const double score = wanted[static_cast<std::size_t>(one.token)].get<double>();
        CHECK(std::exp(one.log_probability) == Approx(1.0 / (1.0 + std::exp(-score))).margin(1e-4));
    }
}

TEST_CASE("A classifier that could read more patches measures its heads, too", "[pictures]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_classifier(folder, OutputHead::Classes), sentence(some_picture(), PanelId::Surgery)),
                    [] {});
    settle(session);
    CHECK(why_empty(session.scene().main).empty());
    session.measure_importance();
    settle(session);
    INFO(errors_of(session));
    const Importance* found = shown_importance(session.scene());
    REQUIRE(found != nullptr);
    CHECK(found->problem.empty());
    CHECK(found->heads.size() == 8);
}

TEST_CASE("A number of a picture is shown, and measures no heads", "[pictures]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_classifier(folder, OutputHead::Scalar), sentence(some_picture(), PanelId::Surgery)),
                    [] {});
    settle(session);
    INFO(why_empty(session.scene().main));
    REQUIRE(why_empty(session.scene().main).empty());
    CHECK_NOTHROW(std::stod(session.scene().main.shown->translation));
    CHECK_THAT(texts_of(draw_panel(session.scene(), PanelId::Figure, {})), Contains("What the class token looks at"));
    session.measure_importance();
    settle(session);
    CHECK(shown_importance(session.scene()) == nullptr);
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const LoadedModel model(*backend, folder.file("roomy"));
    CHECK_THAT(check_request_with_target(model, {.source = some_picture()}).problem,
               Contains("gives a picture a number, not classes"));
}

TEST_CASE("A classifier says that it cannot read a text as its output", "[pictures]") {
    const TemporaryFolder folder;
    SessionOptions options = on_cpu(picture_classifier(), sentence(some_picture()));
    options.view.state.target = "a dog";
    Session session(options, [] {});
    settle(session);
    CHECK_THAT(errors_of(session), Contains("writes no text"));
    CHECK_FALSE(session.state().target.has_value());
    CHECK(why_empty(session.scene().main).empty());
}

TEST_CASE("The importance of a head for a picture is what switching it off costs", "[pictures]") {
    for (const bool classifies : {true, false}) {
        INFO((classifies ? "classifier" : "captioner"));
        PictureStage stage(classifies, PanelId::Surgery);
        if (!classifies) {
            stage.state().target = "a cat sleeps";
            settle(stage.session);
        }
        stage.session.measure_importance();
        settle(stage.session);
        const Importance* found = shown_importance(stage.scene());
        REQUIRE(found != nullptr);
        REQUIRE(found->problem.empty());
        CHECK(found->log_probability == Approx(stage.scene().main.shown->log_probability).margin(1e-4));
        const HeadImportance wanted = found->heads[1];
        const Exploration before = *stage.scene().main.shown;
        stage.state().edits = {{.site = wanted.site, .head = wanted.head}};
        settle(stage.session);
        const Exploration& edited = *stage.scene().main.shown;
        const double now = classifies ? probability_of(edited, before.steps.front().token) : edited.log_probability;
        CHECK(before.log_probability - now == Approx(wanted.loss).margin(1e-3));
        CHECK(edited.record.edited.find("off") != std::string::npos);
        CHECK_THAT(stage.texts(PanelId::Figure), Contains("Edited:"));
    }
}

TEST_CASE("All heads are small copies of the picture, and the matrix has one beside it", "[pictures]") {
    for (const bool classifies : {true, false}) {
        PictureStage stage(classifies);
        const Drawing all = stage.drawing(PanelId::Heads);
        CHECK_THAT(texts_of(all), Contains("L1 H1") && Contains("L2 H2"));
        const std::vector<Mark> cells = marks_of(all, Role::Cell, 2);
        REQUIRE_FALSE(cells.empty());
        CHECK(cells.front().layer == 1);
        CHECK(cells.back().layer == 2);
        stage.state().panel = PanelId::Matrix;
        stage.state().matrix = MatrixView::Rollout;
        settle(stage.session);
        CHECK_THAT(stage.texts(PanelId::Matrix), Contains("on average") || Contains("class token"));
        CHECK_THAT(stage.texts(PanelId::Matrix), Contains("\nattention rollout\n"));
        stage.state().kind = AttentionKind::Cross;
        stage.drawing(PanelId::Heads);
        stage.drawing(PanelId::Matrix);
        stage.drawing(PanelId::Compare);
    }
}

TEST_CASE("A narrow panel has smaller copies, below one another", "[pictures]") {
    PictureStage stage(false);
    const Drawing wide = stage.drawing(PanelId::Figure, 900.0);
    const Drawing narrow = stage.drawing(PanelId::Figure, 330.0);
    CHECK(narrow.width < wide.width);
    CHECK(narrow.height > wide.height);
}

TEST_CASE("A picture that cannot be read is a problem, after which others are read", "[pictures]") {
    PictureStage stage(true);
    stage.folder.write("damaged.png", read_all(some_picture()).substr(0, 300));
    stage.session.open(stage.folder.file("damaged.png"), "cpu");
    settle(stage.session);
    CHECK_THAT(stage.nothing(), Contains("damaged"));
    CHECK_THAT(stage.texts(PanelId::Figure), Contains("damaged"));
    stage.session.open(stage.folder.file("gone.png"), "cpu");
    settle(stage.session);
    CHECK_THAT(stage.nothing(), Contains("does not exist"));
    new_sentence(stage.state(), "");
    settle(stage.session);
    CHECK_THAT(stage.nothing(), Contains("Choose a picture"));
    stage.session.open(some_picture(), "cpu");
    settle(stage.session);
    CHECK(stage.nothing().empty());
    CHECK(stage.session.settings().recent_pictures.front() == some_picture());
    CHECK(errors_of(stage.session).empty());
}

TEST_CASE("A picture is for a model that reads pictures", "[pictures]") {
    const TemporaryFolder folder;
    const std::string text_model = write_model(folder, "tiny", 3);
    Session session(on_cpu(text_model, sentence()), [] {});
    settle(session);
    session.open(some_picture(), "cpu");
    CHECK_THAT(errors_of(session), Contains("tiny reads text: open a model that reads pictures first"));
    CHECK(session.state().text == kSentence);
    session.open(picture_classifier(), "cpu");
    settle(session);
    CHECK(session.state().text.empty());
    CHECK_THAT(why_empty(session.scene().main), Contains("Choose a picture"));
    session.open(text_model, "cpu");
    settle(session);
    CHECK(session.state().text == wording(Architecture()).examples.front());
}

TEST_CASE("--picture is shown once the model is open, and a view keeps its place", "[pictures]") {
    const TemporaryFolder folder;
    SessionOptions options = on_cpu(picture_classifier(), {});
    show_example(options.view.state, {});
    options.view.picture = some_picture();
    Session session(options, [] {});
    settle(session);
    CHECK(session.state().text == some_picture());
    CHECK(why_empty(session.scene().main).empty());
    session.save_view(folder.file("cat.headscope"));
    CHECK(read_view(folder.file("cat.headscope")).state.text == some_picture());
}

TEST_CASE("Pictures are offered beside models", "[pictures]") {
    const auto pictures_in = [](bool wanted) {
        int count = 0;
        for (const FilePlace& place : places_in(picture_classifier(), wanted)) {
            count += place.kind == FilePlaceKind::Picture ? 1 : 0;
        }
        return count;
    };
    CHECK(is_picture_file("Cat.JPeg"));
    CHECK(pictures_in(true) == 2);
    CHECK(pictures_in(false) == 0);
}
