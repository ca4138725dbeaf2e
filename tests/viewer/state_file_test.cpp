// Saved views: round trips and errors.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "support/random.h"
#include "tests/io/temporary_folder.h"
#include "viewer/session/state_file.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

int below(Random& random, int limit) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(limit)));
}
bool coin(Random& random) {
    return below(random, 2) == 1;
}

std::string random_text(Random& random) {
    static const std::vector<std::string> pieces{"a",    " ",      "\"",     "\\",         "\n", "\t", "ß",
                                                 "„Ω“ ", "\u2581", "\u200f", "\U0001F600", "<",  "{",  "\x01"};
    std::string text;
    for (int i = below(random, 20); i > 0; --i) {
        text += pieces[static_cast<std::size_t>(below(random, static_cast<int>(pieces.size())))];
    }
    return text;
}

AttentionEdit random_edit(Random& random) {
    return {.site = {static_cast<AttentionKind>(below(random, 3)), below(random, 6)},
            .head = 1 + below(random, 16),
            .kind = static_cast<EditKind>(below(random, 4)),
            .query = below(random, 40) - 1,
            .key = below(random, 40) - 1};
}

// Every field differs from its default in some of these.
SavedView random_view(std::uint64_t seed) {
    Random random(seed);
    ViewState state;
    state.text = random_text(random);
    if (coin(random)) {
        state.target = random_text(random);
    }
    state.source_language = random_text(random);
    state.target_language = random_text(random);
    state.beam = 1 + below(random, SearchOptions::kMaxBeam);
    state.length_penalty = static_cast<double>(below(random, 3'000'000)) / 1e6;
    state.continuation_beam = 1 + below(random, 3);
    state.max_tokens = 1 + below(random, kMaxTokens);
    state.chat = coin(random);
    for (int i = below(random, 4); i > 0; --i) {
        state.edits.push_back(random_edit(random));
    }
    state.panel = static_cast<PanelId>(below(random, kPanels));
    state.kind = static_cast<AttentionKind>(below(random, 3));
    state.layer = 1 + below(random, 12);
    for (int head = 1; head <= 16; ++head) {
        if (coin(random)) {
            state.heads.push_back(head);
        }
    }
    state.word = below(random, 30) - 1;
    state.direction = static_cast<Direction>(below(random, 2));
    state.key = below(random, 30) - 1;
    if (coin(random)) {
        state.overview = coin(random);
    }
    state.least = static_cast<double>(below(random, 1000)) / 1000.0;
    state.top = below(random, 20);
    state.numbers = coin(random);
    state.second = random_text(random);
    state.rule = static_cast<SentenceRule>(below(random, 4));
    if (coin(random)) {
        state.chosen = {static_cast<AttentionKind>(below(random, 3)), below(random, 12), below(random, 16),
                        random_text(random)};
    }
    state.join_words = coin(random);
    state.show_special = coin(random);
    state.show_first = coin(random);
    state.palette = static_cast<Palette>(below(random, 2));
    state.order = static_cast<HeadOrder>(below(random, kHeadOrders.size()));
    state.small_figures = coin(random);
    state.heads_page = below(random, 9);
    state.matrix = static_cast<MatrixView>(below(random, 4));
    state.logarithmic = coin(random);
    state.step = below(random, 50) - 1;
    state.show_fallen = coin(random);
    state.by_piece = coin(random);
    state.block = random_text(random);
    if (coin(random)) {
        state.checkpoint = static_cast<std::int64_t>(random.below(std::uint64_t{1} << 62));
    }
    state.conversation.system = random_text(random);
    for (int i = below(random, 3); i > 0; --i) {
        state.conversation.said.push_back({ChatRole::User, random_text(random)});
        state.conversation.said.push_back({ChatRole::Assistant, random_text(random)});
    }
    state.conversation.left_out = below(random, static_cast<int>(state.conversation.said.size()) / 2 + 1);
    state.conversation.sample = coin(random);
    state.conversation.temperature = state.conversation.sample ? 0.1 * (1 + below(random, 20)) : 1.0;
    if (coin(random)) {
        state.conversation.reply = random_text(random);
    }
    return {.state = state,
            .model = random_text(random),
            .model_name = random_text(random),
            .parameters = static_cast<std::int64_t>(random.below(std::uint64_t{1} << 62)),
            .device = random_text(random),
            .other_model = random_text(random),
            .other_device = random_text(random),
            .other_checkpoint =
                random.below(2) == 0 ? std::nullopt : std::optional(static_cast<std::int64_t>(random.below(10000)))};
}

json written(std::uint64_t seed = 1) {
    return json::parse(to_json(random_view(seed)));
}

std::string refusal(const json& document) {
    const std::string problem = error_of([&] { parse_view(document.dump(), "a.headscope"); });
    CHECK_THAT(problem, Contains("a.headscope"));
    return problem;
}

}  // namespace

TEST_CASE("Saving and opening a view restores it", "[state]") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const SavedView view = random_view(seed);
        const SavedView again = parse_view(to_json(view), "again");
        INFO("seed " << seed << "\n" << to_json(view));
        CHECK(again.state == view.state);
        CHECK(again.model == view.model);
        CHECK(again.model_name == view.model_name);
        CHECK(again.parameters == view.parameters);
        CHECK(again.device == view.device);
        CHECK(again.other_model == view.other_model);
        CHECK(again.other_device == view.other_device);
        CHECK(again.other_checkpoint == view.other_checkpoint);
        REQUIRE(to_json(again) == to_json(view));
    }
    CHECK(parse_view(to_json(SavedView{}), "default").state == ViewState{});
    for (const char* key : {"continuation_beam", "max_tokens"}) {
        CHECK_FALSE(json::parse(to_json(SavedView{})).at("view").contains(key));  // as older versions wrote it
    }
    SavedView bytes;
    bytes.state.text = "\xff";
    CHECK(error_of([&] { parse_view(to_json(bytes), "bytes"); }).empty());
}

TEST_CASE("A wrong value of any key is an error that names the key", "[state]") {
    SavedView view = random_view(1);
    view.state.target = "Die Katze.";
    view.state.checkpoint = 8;
    view.state.continuation_beam = 2;
    view.state.max_tokens = 8;
    view.state.overview = true;
    view.state.least = 0.25;
    view.state.top = 2;
    view.state.numbers = true;
    view.state.by_piece = true;
    view.state.second = "A dog.";
    view.state.rule = SentenceRule::Previous;
    view.state.chosen = {AttentionKind::Cross, 2, 3, "A cat."};
    view.state.conversation = {.system = "Be brief."};
    const json whole = json::parse(to_json(view));
    REQUIRE(whole["view"].size() == 38);
    const std::vector<json> wrong{nullptr, json::object(), json::array({json::array()}), "no such name", -7, 0.5, 1e300,
                                  true};
    // These take any text, and numbers are clamped.
    const std::vector<std::string> free{"model",  "model_name", "device", "other_model",     "other_device",   "text",
                                        "target", "second",     "block",  "source_language", "target_language"};
    const auto fits = [&](const std::string& key, const json& value) {
        const bool named = std::find(free.begin(), free.end(), key) != free.end();
        return (named && value.is_string()) || ((key == "length_penalty" || key == "least") && value.is_number()) ||
               ((key == "view" || key == "chosen" || key == "conversation") && value.is_object());
    };
    for (const char* part : {"", "view"}) {
        const json& object = *part == '\0' ? whole : whole[part];
        for (const auto& [key, right] : object.items()) {
            for (const json& value : wrong) {
                const bool limited = right.is_number() && key != "version" && (value == -7 || value == 1e300);
                if (fits(key, value) || limited || (right.is_boolean() && value.is_boolean())) {
                    continue;
                }
                json changed = whole;
                (*part == '\0' ? changed : changed[part])[key] = value;
                INFO(key << ": " << value.dump());
                CHECK_THAT(refusal(changed), Contains(key));
            }
        }
    }
}

TEST_CASE("A conversation of a view is checked message by message", "[state]") {
    SavedView view;
    view.state.conversation = {
        .said = {{ChatRole::User, "Who are you?"}, {ChatRole::Assistant, "A model."}}, .left_out = 1, .reply = "Yes."};
    const json whole = json::parse(to_json(view));
    const auto with = [&](const char* key, const json& value) {
        json changed = whole;
        changed["view"]["conversation"][key] = value;
        return changed;
    };
    const json user{{"role", "user"}, {"content", "Who are you?"}}, reply{{"role", "assistant"}, {"content", "Me."}};
    CHECK(parse_view(with("said", {user, reply}).dump(), "a").state.conversation.said.back().content == "Me.");
    CHECK_THAT(refusal(with("said", json::array({user}))),
               Contains("view.conversation.said") && Contains("must end with"));
    CHECK_THAT(refusal(with("said", {reply, user})), Contains("in turn, from the user's"));
    CHECK_THAT(refusal(with("said", {{{"role", "system"}, {"content", ""}}, reply})), Contains("said.role"));
    CHECK_THAT(refusal(with("left_out", 2)), Contains("left_out"));
    CHECK_THAT(refusal(with("reply", 3)), Contains("reply"));
    CHECK_THAT(refusal(with("sample", "often")), Contains("sample"));
    CHECK_THAT(refusal(with("temperature", 3.0)), Contains("temperature"));
    CHECK_THAT(refusal(with("mood", "good")), Contains("mood"));
}

TEST_CASE("Edits of a view are checked one by one", "[state]") {
    SavedView view;
    view.state.edits = {{.site = {AttentionKind::Cross, 2}, .head = 3, .kind = EditKind::Pin, .query = 1, .key = 4}};
    const json whole = json::parse(to_json(view));
    const auto with = [&](const char* key, const json& value) {
        json changed = whole;
        changed["view"]["edits"][0][key] = value;
        return changed;
    };
    CHECK_THAT(refusal(with("edit", "away")), Contains("view.edits.edit") && Contains("uniform"));
    CHECK_THAT(refusal(with("kind", "sideways")), Contains("view.edits.kind") && Contains("cross"));
    CHECK_THAT(refusal(with("kez", 2)), Contains("view.edits.kez") && Contains("key"));
    json text = whole;
    text["view"]["edits"] = "off";
    CHECK_THAT(refusal(text), Contains("view.edits"));
    text["view"]["edits"] = json::array({"off"});
    CHECK_THAT(refusal(text), Contains("view.edits"));
    for (const json& heads : {json::array({2, 2}), json::array({3, 1}), json::array({"1"}), json::array({1.5})}) {
        json changed = whole;
        changed["view"]["heads"] = heads;
        INFO(heads.dump());
        CHECK_THAT(refusal(changed), Contains("view.heads"));
    }
}

TEST_CASE("Numbers out of range are clamped and reported", "[state]") {
    SavedView view;
    view.state.edits = {{.site = {AttentionKind::Cross, 2}, .head = 3, .kind = EditKind::Pin, .query = 1, .key = 4}};
    view.state.checkpoint = 8;
    const json whole = json::parse(to_json(view));
    REQUIRE(parse_view(whole.dump(), "a").notes.empty());
    const auto opened = [&](const char* pointer, const json& value) {
        json changed = whole;
        changed[json::json_pointer(pointer)] = value;
        const SavedView found = parse_view(changed.dump(), "a.headscope");
        INFO(pointer << " " << value.dump());
        REQUIRE(found.notes.size() == 1);
        CHECK_THAT(found.notes.front(), Contains(value.dump()) && Contains("using "));
        CHECK(parse_view(to_json(found), "again").notes.empty());
        return found;
    };
    CHECK(opened("/view/beam", 99).state.beam == SearchOptions::kMaxBeam);
    CHECK(opened("/view/beam", 0).state.beam == 1);
    CHECK(opened("/view/beam", -7).state.beam == 1);
    CHECK(opened("/view/beam", 1e300).state.beam == SearchOptions::kMaxBeam);
    CHECK(opened("/view/continuation_beam", 99).state.continuation_beam == SearchOptions::kMaxBeam);
    CHECK(opened("/view/max_tokens", 0).state.max_tokens == 1);
    CHECK(opened("/view/length_penalty", 50).state.length_penalty == SearchOptions::kMaxLengthPenalty);
    CHECK(opened("/view/length_penalty", -0.5).state.length_penalty == 0.0);
    CHECK(opened("/view/layer", 0).state.layer == 1);
    CHECK(opened("/view/word", -2).state.word == -1);
    CHECK(opened("/view/step", std::uint64_t{1} << 63).state.step == 1'000'000);
    CHECK(opened("/view/checkpoint", -1).state.checkpoint == 0);
    CHECK(opened("/view/edits/0/layer", 0).state.edits.front().site.layer == 0);
    CHECK(opened("/view/edits/0/head", -3).state.edits.front().head == 1);
    CHECK(opened("/view/edits/0/query", -2).state.edits.front().query == -1);
    json changed = whole;
    changed["view"]["heads"] = {-1, 0, 1, 4, std::uint64_t{1} << 40};
    const SavedView heads = parse_view(changed.dump(), "a");
    CHECK(heads.state.heads == std::vector<int>{1, 4, 1'000'000});
    CHECK(heads.notes.size() == 3);
    CHECK(parse_view("\xef\xbb\xbf" + whole.dump(), "marked").state == view.state);
}

TEST_CASE("Unknown keys and values are errors", "[state]") {
    json changed = written();
    changed["view"]["laser"] = 5;
    CHECK_THAT(refusal(changed), Contains("\"view.laser\" is unknown"));
    changed = written();
    changed["laser"] = 5;
    CHECK_THAT(refusal(changed), Contains("\"laser\" is unknown"));
    changed = written();
    changed["version"] = 2;
    CHECK_THAT(refusal(changed), Contains("version") && Contains("is 2"));
    changed = written();
    changed.erase("version");
    CHECK_THAT(refusal(changed), Contains("version"));
    changed = written();
    changed["format"] = "headscope attention record";
    CHECK_THAT(refusal(changed), Contains("this is not a saved view"));
    changed = written();
    changed.erase("view");
    CHECK_THAT(refusal(changed), Contains("view"));
    CHECK_THAT(refusal(json::array()), Contains("object"));
}

TEST_CASE("A file that is not a view is an error that names it", "[state]") {
    const TemporaryFolder folder;
    const auto problem = [&](const std::string& bytes) {
        const std::string file = folder.write("bad.headscope", bytes);
        const std::string said = error_of([&] { read_view(file); });
        CHECK_THAT(said, Contains("bad.headscope"));
        return said;
    };
    problem("");
    problem("not JSON");
    problem(std::string("\x89PNG\r\n\x1a\n\0\0", 10));
    problem(std::string(200000, '['));
    CHECK_THAT(problem("{\"format\": \"headscope view\", \"version\": 1, \"version\": 1, \"view\": {}}"),
               Contains("duplicate key \"version\""));
    CHECK_THAT(error_of([&] { read_view(folder.file("missing.headscope")); }), Contains("missing.headscope"));
    CHECK_THAT(error_of([&] { read_view(folder.file("")); }), Contains(folder.file("")) && Contains("Is a directory"));

    const std::string whole = to_json(random_view(7));
    for (std::size_t bytes = 0; bytes + 2 < whole.size(); ++bytes) {
        REQUIRE_FALSE(error_of([&] { parse_view(whole.substr(0, bytes), "cut"); }).empty());
    }
}
