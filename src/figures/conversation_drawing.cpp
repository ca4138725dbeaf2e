#include "figures/conversation_drawing.h"

#include <algorithm>
#include <vector>

#include "figures/layout.h"
#include "paint/text_width.h"

namespace headscope {

namespace {

constexpr double kNarrowestTalk = 20.0;  // widths of the whole
constexpr double kWidestTalk = 62.0;
constexpr double kTalkLetters = 1.1;
constexpr double kTalkLine = 1.45 * kTalkLetters;  // between baselines
constexpr double kTalkAscent = 0.95 * kTalkLetters;
constexpr double kGroundPadding = 0.8;
constexpr double kUsersShare = 0.78;  // of the width, at most
constexpr double kTurnGap = 1.1;      // between messages
constexpr const char* kGrowing = "\u2026";

class ConversationDrawing {
public:
    explicit ConversationDrawing(const ConversationOptions& options)
        : options_(options),
          sketch_(options.look),
          ink_(sketch_.ink()),
          width_(std::clamp(options.width, kNarrowestTalk, kWidestTalk) - 2.0 * kMargin) {}

    Drawing draw(std::span<const ChatMessage> messages) {
        int exchanges = 0;
        bool left_out = false;  // the message before
        for (std::size_t i = 0; i < messages.size(); ++i) {
            const ChatMessage& message = messages[i];
            exchanges += message.role == ChatRole::User ? 1 : 0;
            const bool is_read = message.role == ChatRole::System || exchanges > options_.left_out;
            if (is_read && left_out) {
                border();
            }
            left_out = !is_read;
            const bool grows = options_.growing && i + 1 == messages.size();
            add(message, static_cast<int>(i), is_read, grows);
        }
        return sketch_.finish(width_ + 2.0 * kMargin, y_ - kTurnGap + kMargin, "Conversation with " + options_.model,
                              told_);
    }

private:
    void add(const ChatMessage& message, int number, bool is_read, bool grows) {
        const std::string text = grows ? message.content + " " + kGrowing : message.content;
        const Colour colour = is_read ? ink_.text : ink_.faint;
        const Mark mark{.role = Role::Label, .item = number};
        if (message.role == ChatRole::User) {
            users(mark, colour, text);
        } else {
            const bool system = message.role == ChatRole::System;
            const std::string speaker = system ? "System" : options_.model;
            sketch_.text({.role = Role::Note, .item = number}, ink_.faint,
                         {kMargin, y_ + kSmall, kSmall, Anchor::Start, false, true, shortened(speaker, width_)});
            y_ += kSmall + 0.55;
            write(mark, system ? ink_.faint : colour, kMargin, wrapped(text, width_ / kTalkLetters));
            y_ += kTurnGap;
            tell(speaker, text);
        }
    }

    void users(const Mark& mark, Colour colour, const std::string& text) {
        const std::vector<std::string> lines =
            wrapped(text, (kUsersShare * width_ - 2.0 * kGroundPadding) / kTalkLetters);
        double longest = 0.0;
        for (const std::string& line : lines) {
            longest = std::max(longest, kTalkLetters * text_width(line));
        }
        const double left = kMargin + width_ - longest - 2.0 * kGroundPadding;
        const double height =
            kTalkLine * static_cast<double>(lines.size()) + 2.0 * kGroundPadding - (kTalkLine - 1.2 * kTalkLetters);
        sketch_.rect({.role = Role::Block, .item = mark.item}, mixed(ink_.surface, ink_.accent, 0.13),
                     {left, y_, longest + 2.0 * kGroundPadding, height, 0.6});
        const double below = y_ + height;
        y_ += kGroundPadding;
        write(mark, colour, left + kGroundPadding, lines);
        y_ = below + kTurnGap;
        tell("You", text);
    }

    // From the upper edge y_ to the lower one.
    void write(const Mark& mark, Colour colour, double x, const std::vector<std::string>& lines) {
        for (const std::string& line : lines) {
            sketch_.text(mark, colour, {x, y_ + kTalkAscent, kTalkLetters, Anchor::Start, false, false, line});
            y_ += kTalkLine;
        }
    }

    // Between what the model no longer reads and the rest.
    void border() {
        const std::string text = "The context is full: the model no longer reads what is above.";
        const Mark mark{.role = Role::Note};
        sketch_.line({.role = Role::Grid}, ink_.rule, {kMargin, y_, kMargin + width_, y_, 0.08});
        y_ += 0.5;
        for (const std::string& line : wrapped(text, width_ / kSmall)) {
            sketch_.text(mark, ink_.faint, {kMargin, y_ + kSmall, kSmall, Anchor::Start, false, false, line});
            y_ += 1.4 * kSmall;
        }
        y_ += kTurnGap;
    }

    void tell(const std::string& speaker, const std::string& text) {
        told_ += (told_.empty() ? "" : " ") + speaker + ": " + text;
    }

    const ConversationOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    const double width_;
    double y_ = kMargin;
    std::string told_;  // the text alternative
};

}  // namespace

Drawing draw_conversation(std::span<const ChatMessage> messages, const ConversationOptions& options) {
    return ConversationDrawing(options).draw(messages);
}

}  // namespace headscope
