// A worker, and a client that waits for its results, for tests.
#pragma once

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "backend/forwarding_backend.h"
#include "model/model_directory.h"
#include "registry/registry.h"
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
    const Tokenizer pieces = Tokenizer::from_bytes(
        train_tokenizer({.sentences = {"the small dog sees the big cat", "a cat sleeps on the mat",
                                       "der kleine hund sieht die grosse katze"},
                         .vocabulary_size = 60}),
        "tokenizer");
    const std::unique_ptr<Backend> backend = open_device("cpu");
    ModelConfig config = tiny_config(pieces.size());
    config.max_length = 200;
    const TinyModel model(*backend, config, seed);
    write_model_directory(*backend, folder.file(name), config, *model.parameters, DType::F32, pieces, pieces);
    return folder.file(name);
}

struct Faults {
    std::atomic<int> milliseconds{0};  // each token takes
    std::atomic<bool> lost{false};
    std::atomic<bool> broken{false};  // searches throw
    std::atomic<bool> dead{false};    // waiting for the device throws an Error, not DeviceLost
    std::atomic<int> full{0};         // the number of allocations that fail
    std::atomic<int> steps{0};
    std::atomic<int> opened{0};
};
class FaultyBackend final : public ForwardingBackend {
public:
    explicit FaultyBackend(Faults& faults) : ForwardingBackend(open_device("cpu")), faults_(faults) {}
    using ForwardingBackend::run;
    Tensor empty(const Shape& shape, DType dtype) override {
        check_lost();
        if (faults_.full > 0) {
            --faults_.full;
            throw OutOfMemory("the device is full");
        }
        return ForwardingBackend::empty(shape, dtype);
    }
    void synchronize() override {
        if (faults_.dead) {
            throw Error("the device does not answer");
        }
        ForwardingBackend::synchronize();
    }
    void run(const LogSoftmaxTopK& op) override {
        ++faults_.steps;
        std::this_thread::sleep_for(std::chrono::milliseconds(faults_.milliseconds));
        check_lost();
        if (faults_.broken) {
            throw Error("the search failed");
        }
        ForwardingBackend::run(op);
    }

private:
    void check_lost() const {
        if (faults_.lost) {
            throw DeviceLost("the device is lost");
        }
    }

    Faults& faults_;
};

// A worker and all events that it reported.
struct WorkerClient {
    explicit WorkerClient(Worker::OpenDevice open_device = {}) : worker([this] { ++wakes; }, std::move(open_device)) {}
    explicit WorkerClient(Faults& faults)
        : WorkerClient([&faults](const std::string&) {
              ++faults.opened;
              return std::make_unique<FaultyBackend>(faults);
          }) {}

    // Polls until `done` returns true for an event, or the time is over. Later events are kept for the next call.
    template <class Done>
    bool wait(const Done& done, double seconds = 20.0) {
        const Clock::time_point start = Clock::now();
        while (seconds_since(start) < seconds) {
            for (WorkerEvent& event : worker.poll()) {
                unread.push_back(std::move(event));
            }
            while (!unread.empty()) {
                received.push_back(std::move(unread.front()));
                unread.pop_front();
                if (done(received.back())) {
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
        REQUIRE(wait([&](const WorkerEvent& event) {
            if (const auto* failed = std::get_if<Failed>(&event)) {
                FAIL(failed->message);
            }
            const auto* opened = std::get_if<Opened>(&event);
            found = opened != nullptr ? *opened : Opened{};
            return found.tag == tag;
        }));
        return found;
    }
    std::shared_ptr<const Exploration> finished(Tag tag) {
        std::shared_ptr<const Exploration> found;
        REQUIRE(wait([&](const WorkerEvent& event) {
            const auto* explored = std::get_if<Explored>(&event);
            if (explored != nullptr && explored->tag == tag && explored->exploration->finished) {
                found = explored->exploration;
            }
            return found != nullptr;
        }));
        return found;
    }
    std::string failure(Tag tag) {
        std::string message;
        REQUIRE(wait([&](const WorkerEvent& event) {
            const auto* failed = std::get_if<Failed>(&event);
            if (failed != nullptr && failed->tag == tag) {
                message = failed->message;
            }
            return !message.empty();
        }));
        return message;
    }

    std::atomic<int> wakes{0};
    std::vector<WorkerEvent> received;
    std::deque<WorkerEvent> unread;
    Worker worker;  // last: its thread counts wakes
};

inline ExploreRequest request(const std::string& text = "the small dog sees the big cat") {
    return {.source = text, .search = {.beam = 4, .max_extra = 50}};
}

}  // namespace headscope::viewer
