// The conversation of a session: what the user says, and how the reply grows.
#include <utility>

#include "text/normalised.h"
#include "viewer/session/session.h"
#include "viewer/session/shown.h"

namespace headscope::viewer {

void Session::say(const std::string& message) {
    if (replying() || is_empty_text(message)) {
        return;
    }
    const std::optional<Opened>& open = scene_.main.model;
    const std::shared_ptr<const SharedModel> model = open.has_value() ? open->shared.lock() : nullptr;
    if (model == nullptr || !open->no_chat.empty()) {
        unsaid_ = message;
        report_error(model == nullptr ? "no model is open" : open->no_chat);
        return;
    }
    ViewState& state = scene_.state;
    before_saying_ = state;
    std::vector<ChatMessage> said = said_in(scene_);
    if (said.size() % 2 == 1) {  // the last message got no reply
        said.pop_back();
    }
    new_sentence(state, "");  // even if the message is the same
    state.text = message;
    state.target.reset();
    state.conversation.said = std::move(said);
    state.conversation.left_out = state.chat ? state.conversation.left_out : 0;
    state.conversation.reply = "";  // the heads of the prompt, until there is more
    state.chat = true;
    writer_ = std::make_unique<ReplyWriter>(model, state.conversation, message, wake_);
    scene_.growing_reply = std::make_shared<const std::string>();
}

void Session::stop_reply() {
    if (writer_ != nullptr) {
        writer_->stop();
    }
}

void Session::begin_conversation() {
    end_writing();
    ViewState& state = scene_.state;
    new_sentence(state, "");
    state.target.reset();
    const Conversed before = std::exchange(state.conversation, {});
    state.conversation.system = before.system;
    state.conversation.sample = before.sample;
    state.conversation.temperature = before.temperature;
    state.chat = true;
}

std::optional<std::string> Session::take_unsaid() {
    return std::exchange(unsaid_, std::nullopt);
}

// The thread may have to wait for a step of the model, so another one waits for it.
void Session::end_writing() {
    if (writer_ != nullptr) {
        writer_->stop();
        retire(std::move(writer_));
    }
    scene_.growing_reply.reset();
}

void Session::take_reply() {
    if (writer_ == nullptr) {
        return;
    }
    ViewState& state = scene_.state;
    if (!state.chat || !state.conversation.reply.has_value() || !writer_->answers(state.text, state.conversation)) {
        end_writing();  // the message was undone or edited
        return;
    }
    const std::optional<ReplyNews> news = writer_->poll();
    if (!news.has_value()) {
        return;
    }
    if (!news->note.empty()) {
        notify(news->note);
    }
    if (!news->problem.empty()) {
        unsaid_ = state.text;
        state.text = before_saying_.text;
        state.target = before_saying_.target;
        state.chat = before_saying_.chat;
        state.conversation = before_saying_.conversation;
        history_.amend(state);
        end_writing();
        report_error(news->problem);
        return;
    }
    state.conversation.left_out = news->left_out;
    if (news->finished || !main_.exploring) {  // the heads follow as fast as the model reads
        state.conversation.reply = news->text;
    }
    history_.amend(state);
    if (news->finished) {
        end_writing();
    } else {
        scene_.growing_reply = std::make_shared<const std::string>(news->text);
    }
}

}  // namespace headscope::viewer
