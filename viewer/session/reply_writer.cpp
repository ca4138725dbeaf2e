#include "viewer/session/reply_writer.h"

#include <exception>
#include <utility>

#include "engine/talk.h"

namespace headscope::viewer {

ReplyWriter::ReplyWriter(std::shared_ptr<const SharedModel> model, Conversed conversation, std::string message,
                         std::function<void()> wake)
    : model_(std::move(model)),
      conversation_(std::move(conversation)),
      message_(std::move(message)),
      wake_(std::move(wake)),
      news_{.text = {}, .left_out = conversation_.left_out},
      thread_([this] { write(); }) {}

ReplyWriter::~ReplyWriter() {
    stop();
    thread_.join();
}

std::optional<ReplyNews> ReplyWriter::poll() {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(told_, true)) {
        return std::nullopt;
    }
    ReplyNews news = news_;
    news_.note.clear();  // said once
    return news;
}

template <class Change>
void ReplyWriter::tell(const Change& change) {
    {
        const std::scoped_lock lock(mutex_);
        change(news_);
        told_ = false;
    }
    if (wake_) {
        wake_();
    }
}

// No exception leaves the thread.
void ReplyWriter::write() {
    std::string problem;
    try {
        DecodingChoices choices;
        if (conversation_.sample) {
            choices.sample = true;
            choices.temperature = conversation_.temperature;
        }
        Talk talk(*model_->engine, model_->handle,
                  {.system = conversation_.system, .choices = choices, .note = [&](const std::string& note) {
                       tell([&](ReplyNews& news) { news.note = note; });
                   }});
        talk.resume(std::span(conversation_.said).subspan(2 * static_cast<std::size_t>(conversation_.left_out)),
                    conversation_.left_out);
        std::string before;
        talk.answer(message_, [&](std::string_view so_far) {
            if (so_far != before) {
                before = so_far;
                tell([&](ReplyNews& news) {
                    news.text = so_far;
                    news.left_out = talk.conversation().left_out();
                });
            }
            return !stopped_;
        });
        tell([&](ReplyNews& news) {
            news.text = talk.conversation().messages().back().content;
            news.left_out = talk.conversation().left_out();
            news.finished = true;
        });
        return;
    } catch (const std::exception& error) {
        problem = error.what();
    }
    tell([&](ReplyNews& news) {
        news.problem = problem;
        news.finished = true;
    });
}

}  // namespace headscope::viewer
