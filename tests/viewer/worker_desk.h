// A worker and somebody who waits for it, for tests.
#pragma once

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "model/model_directory.h"
#include "registry/registry.h"
#include "tests/backend/forwarding_backend.h"
#include "tests/infer/tiny_model.h"
#include "tests/io/temporary_folder.h"
#include "text/tokenizer_training.h"
#include "viewer/session/worker.h"

namespace headscope::viewer {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// A model directory of random weights.
inline std::string write_model(const TemporaryFolder& folder, const std::string& name, std::uint64_t seed) {
    const std::string tokenizer = folder.write(
        "tokenizer", train_tokenizer({.sentences = {"the small dog sees the big cat", "a cat sleeps on the mat",
                                                    "der kleine hund sieht die grosse katze"},
                                      .vocabulary_size = 60}));
    const std::unique_ptr<Backend> backend = open_device("cpu");
    ModelConfig config = tiny_config(Tokenizer::load(tokenizer).size());
    config.max_length = 200;
    const TinyModel model(*backend, config, seed);
    write_model_directory(*backend, folder.file(name), config, *model.parameters, DType::F32, tokenizer, tokenizer);
    return folder.file(name);
}

struct Trouble {
    std::atomic<int> milliseconds{0};  // each token takes
    std::atomic<bool> lost{false};
    std::atomic<bool> broken{false};  // searches throw
    std::atomic<int> full{0};         // the number of allocations that fail
    std::atomic<int> steps{0};
    std::atomic<int> opened{0};
};
class TroubledBackend final : public ForwardingBackend {
public:
    explicit TroubledBackend(Trouble& trouble) : ForwardingBackend(open_device("cpu")), trouble_(trouble) {}
    using ForwardingBackend::run;
    Tensor empty(const Shape& shape, DType dtype) override {
        check_lost();
        if (trouble_.full > 0) {
            --trouble_.full;
            throw OutOfMemory("the device is full");
        }
        return ForwardingBackend::empty(shape, dtype);
    }
    void run(const LogSoftmaxTopK& op) override {
        ++trouble_.steps;
        std::this_thread::sleep_for(std::chrono::milliseconds(trouble_.milliseconds));
        check_lost();
        if (trouble_.broken) {
            throw Error("the search failed");
        }
        ForwardingBackend::run(op);
    }

private:
    void check_lost() const {
        if (trouble_.lost) {
            throw DeviceLost("the device is lost");
        }
    }

    Trouble& trouble_;
};

// A worker, and all that it told.
struct Desk {
    explicit Desk(Worker::OpenDevice open_device = {}) : worker([this] { ++wakes; }, std::move(open_device)) {}
    explicit Desk(Trouble& trouble)
        : Desk([&trouble](const std::string&) {
              ++trouble.opened;
              return std::make_unique<TroubledBackend>(trouble);
          }) {}

    // Polls until `done` finds what it waits for among the news, or so many seconds have passed. What came together
    // with it is for the next to wait.
    template <class Done>
    bool wait(const Done& done, double seconds = 20.0) {
        const Clock::time_point start = Clock::now();
        while (seconds_since(start) < seconds) {
            for (News& news : worker.poll()) {
                unread.push_back(std::move(news));
            }
            while (!unread.empty()) {
                heard.push_back(std::move(unread.front()));
                unread.pop_front();
                if (done(heard.back())) {
                    return true;
                }
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return false;
    }
    Opened open(const std::string& model, const std::string& device = "cpu") {
        const Tag tag = worker.open({.model = model, .device = device});
        Opened found;
        REQUIRE(wait([&](const News& news) {
            if (const auto* failed = std::get_if<Failed>(&news)) {
                FAIL(failed->message);
            }
            const auto* opened = std::get_if<Opened>(&news);
            found = opened != nullptr ? *opened : Opened{};
            return found.tag == tag;
        }));
        return found;
    }
    std::shared_ptr<const Exploration> finished(Tag tag) {
        std::shared_ptr<const Exploration> found;
        REQUIRE(wait([&](const News& news) {
            const auto* explored = std::get_if<Explored>(&news);
            if (explored != nullptr && explored->tag == tag && explored->exploration->finished) {
                found = explored->exploration;
            }
            return found != nullptr;
        }));
        return found;
    }
    std::string failure(Tag tag) {
        std::string message;
        REQUIRE(wait([&](const News& news) {
            const auto* failed = std::get_if<Failed>(&news);
            if (failed != nullptr && failed->tag == tag) {
                message = failed->message;
            }
            return !message.empty();
        }));
        return message;
    }

    std::atomic<int> wakes{0};
    std::vector<News> heard;
    std::deque<News> unread;
    Worker worker;  // last: its thread counts wakes
};

inline ExploreRequest request(const std::string& text = "the small dog sees the big cat") {
    return {.source = text, .search = {.beam = 4, .max_extra = 50}};
}

}  // namespace headscope::viewer
