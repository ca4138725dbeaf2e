// Conversations: who said what, and what the model no longer reads.
#include "figures/conversation_drawing.h"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "layout_checks.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

const std::vector<ChatMessage> kMessages{
    {ChatRole::System, "Answer in one sentence."},
    {ChatRole::User, "Who are you?"},
    {ChatRole::Assistant, "A model.\n\nOf two paragraphs, the second of which is so long that it takes several lines."},
    {ChatRole::User, "And what do you read, if I ask something that is so long that it takes more than one line?"},
    {ChatRole::Assistant, "All of it"}};

Text text_that_begins(const Drawing& drawing, const std::string& begin, Colour* colour = nullptr) {
    for (const Primitive& primitive : drawing.primitives) {
        const auto* text = std::get_if<Text>(&primitive.shape);
        if (text != nullptr && text->content.starts_with(begin)) {
            if (colour != nullptr) {
                *colour = primitive.colour;
            }
            return *text;
        }
    }
    FAIL("there is no text that begins with " << begin);
    return {};
}

}  // namespace

TEST_CASE("A conversation is drawn from top to bottom, the user's messages to the right", "[conversation]") {
    const auto draw = [](const Look& look) {
        return draw_conversation(kMessages, {.model = "talker", .left_out = 1, .growing = true, .look = look});
    };
    test::check_looks(draw);
    const Drawing drawing = draw({});
    CHECK_THAT(drawing.description,
               Contains("System: Answer") && Contains("You: Who are you?") && Contains("talker: All of it \u2026"));
    const Text user = text_that_begins(drawing, "Who are you?");
    const Text reply = text_that_begins(drawing, "A model.");
    CHECK(user.x > reply.x);
    CHECK(user.y < reply.y);
    CHECK(test::all_of<Rect>(drawing, Role::Block).size() == 2);
    for (const double width : {5.0, 24.0, 300.0}) {
        test::check_layout(draw_conversation(kMessages, {.model = std::string(300, 'm'), .width = width}));
    }
}

TEST_CASE("What the model no longer reads is faint, above a border that says so", "[conversation]") {
    Colour old{}, system{}, read{};
    const Drawing drawing = draw_conversation(kMessages, {.left_out = 1});
    const Text left_out = text_that_begins(drawing, "A model.", &old);
    const Text border = text_that_begins(drawing, "The context is full");
    const Text newest = text_that_begins(drawing, "All of it", &read);
    text_that_begins(drawing, "Answer in", &system);
    CHECK(left_out.y < border.y);
    CHECK(border.y < newest.y);
    CHECK(old == kLightInk.faint);
    CHECK(read == kLightInk.text);
    CHECK_THAT(draw_conversation(kMessages, {}).description, !Contains("\u2026"));
    text_that_begins(draw_conversation(kMessages, {}), "A model.", &old);
    CHECK(old == kLightInk.text);
}
