// A thread that has a model reply to a message, so that the window and its heads go on meanwhile.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "viewer/session/conversed.h"
#include "viewer/session/worker.h"

namespace headscope::viewer {

struct ReplyNews {
    std::string text;          // so far; in the end as the conversation keeps it
    int left_out = 0;          // Conversed::left_out
    std::string note = {};     // what the user has to know; empty: nothing
    bool finished = false;     // the last news
    std::string problem = {};  // why there is no reply; empty if there is one
};

class ReplyWriter {
public:
    // Calls `wake` when poll() has something new.
    ReplyWriter(std::shared_ptr<const SharedModel> model, Conversed conversation, std::string message,
                std::function<void()> wake);
    ReplyWriter(const ReplyWriter&) = delete;
    ReplyWriter& operator=(const ReplyWriter&) = delete;
    // Stops the reply and waits for the thread, which takes up to a tenth of a second.
    ~ReplyWriter();

    // Whether this is the reply to the last message of such a conversation.
    bool answers(const std::string& message, const Conversed& conversation) const {
        return message == message_ && conversation.said == conversation_.said;
    }
    // What was written until then is the reply.
    void stop() { stopped_ = true; }
    // What has changed since the last call.
    std::optional<ReplyNews> poll();

private:
    void write();
    template <class Change>
    void tell(const Change& change);

    const std::shared_ptr<const SharedModel> model_;
    const Conversed conversation_;
    const std::string message_;
    const std::function<void()> wake_;
    std::atomic<bool> stopped_ = false;
    std::mutex mutex_;  // guards the members below
    ReplyNews news_;
    bool told_ = true;    // poll() has returned news_
    std::thread thread_;  // last: starts when the other members exist
};

}  // namespace headscope::viewer
