// Trainings in a thread of their own.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "capi/failures.h"
#include "capi/options.h"
#include "capi/text.h"
#include "data/task.h"
#include "engine/process.h"
#include "options/version.h"
#include "registry/registry.h"
#include "train/training_job.h"

namespace headscope {

namespace {

// Sets every value of an object in another by its full name: "model.d_model".
void set_all(RunConfig& config, const nlohmann::json& values, const std::string& prefix) {
    for (const auto& [key, value] : values.items()) {
        const std::string name = prefix + key;
        if (value.is_object()) {
            set_all(config, value, name + ".");
        } else {
            config.set_at(name, value);
        }
    }
}

TrainingRequest request_of(const nlohmann::json& config, const ChosenOptions& chosen) {
    const auto language = [&](const char* key) { return chosen.has(key) ? chosen.text(key) : std::string(); };
    TrainingRequest request{.texts = {.source = chosen.text("source"),
                                      .target = chosen.text("target"),
                                      .text = chosen.text("text"),
                                      .languages = {language("source_language"), language("target_language")}},
                            .output = chosen.text("output"),
                            .from = chosen.text("from"),
                            .resume = chosen.on("resume"),
                            .program = version_line("libheadscope")};
    if (request.output.empty()) {
        throw Failure(HS_INVALID, "a training needs the option \"output\", the folder of the run");
    }
    request.texts.task = find_task(chosen.text("task"))->task;
    if (request.texts.source.empty() != request.texts.target.empty() ||
        (!request.texts.source.empty() && !request.texts.text.empty())) {
        throw Failure(HS_INVALID, "a training reads the files \"source\" and \"target\", or \"text\"");
    }
    for (const char* key : {"task", "data"}) {
        const bool obeyed = std::string_view(key) == "task" ? !request.texts.text.empty() : !request.texts.given();
        if (chosen.has(key) && !obeyed) {
            throw Failure(HS_INVALID, fmt::format("option: \"{}\" is for {}", key,
                                                  std::string_view(key) == "task" ? "the file \"text\""
                                                                                  : "a configuration with data files"));
        }
    }
    if (request.texts.given() && request.resume) {
        throw Failure(HS_INVALID, "a training that goes on reads the files of its run: leave the others out");
    }
    if (request.texts.given()) {
        request.adjust = [config](RunConfig& chosen_by_size) { set_all(chosen_by_size, config, ""); };
    } else if (config.empty()) {
        request.config = RunConfig::of_run(request.output);
    } else {
        request.config = RunConfig(RunConfig::with_data(config, chosen.text("data")), "the configuration");
    }
    require_output(request.output, request.resume, request.purpose);
    return request;
}

}  // namespace

class TrainingThread {
public:
    TrainingThread(TrainingRequest request, std::string device, OpenOptions open)
        : thread_([this, request = std::move(request), device = std::move(device), open = std::move(open)]() mutable {
              try {
                  train(std::move(request), device, open);
                  end(nullptr);
              } catch (...) {
                  end(std::current_exception());
              }
          }) {}
    TrainingThread(const TrainingThread&) = delete;
    TrainingThread& operator=(const TrainingThread&) = delete;
    ~TrainingThread() {
        stop();
        thread_.join();
    }

    void stop() { stopped_ = true; }

    hs_status next(std::int64_t timeout_ms, std::string& event) {
        process_.check();
        std::unique_lock lock(mutex_);
        const auto news = [&] { return !events_.empty() || ended_; };
        constexpr std::int64_t kYear = std::int64_t{365} * 24 * 60 * 60 * 1000;
        if (timeout_ms < 0) {
            news_.wait(lock, news);
        } else if (!news_.wait_for(lock, std::chrono::milliseconds(std::min(timeout_ms, kYear)), news)) {
            return HS_AGAIN;
        }
        if (events_.empty()) {
            if (failure_ != nullptr) {
                std::rethrow_exception(failure_);
            }
            return HS_END;
        }
        event = std::move(events_.front());
        events_.pop_front();
        return HS_OK;
    }

private:
    void train(TrainingRequest request, const std::string& device, const OpenOptions& open) {
        const Log say = [this](const std::string& note) { tell({{"event", "note"}, {"text", note}}); };
        TrainingJob job(std::move(request), say);
        std::unique_ptr<Backend> backend;
        const TrainingResult result = job.run(
            [&]() -> Backend& {
                try {
                    backend = open_device(device, open);
                } catch (const Error& error) {
                    throw Failure(HS_DEVICE, error.what());
                }
                return *backend;
            },
            [&](Backend&) {
                return RunHooks{.say = say,
                                .report =
                                    [this](const Report& report) {
                                        nlohmann::json json = report.json();
                                        json["event"] = "report";
                                        tell(json);
                                    },
                                .stop_requested = [this] { return stopped_.load(); }};
            });
        tell({{"event", "end"},
              {"step", result.step},
              {"seconds", result.minutes * 60.0},
              {"ended_by", result.end == RunEnd::Stopped ? "stop" : result.ended_by},
              {"finished", result.end == RunEnd::Finished}});
    }
    void tell(const nlohmann::json& event) {
        {
            const std::lock_guard lock(mutex_);
            events_.push_back(event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        }
        news_.notify_all();
    }
    void end(std::exception_ptr failure) {
        {
            const std::lock_guard lock(mutex_);
            failure_ = std::move(failure);
            ended_ = true;
        }
        news_.notify_all();
    }

    const OwnProcess process_;
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<std::string> events_;
    std::exception_ptr failure_;
    bool ended_ = false;
    std::thread thread_;  // the last member: it uses the others
};

}  // namespace headscope

struct hs_training {
    std::shared_ptr<headscope::TrainingThread> thread;  // make_owned(): it is not there in a child
};

using namespace headscope;  // NOLINT(google-build-using-namespace): the functions of the header are global

hs_status hs_training_start(hs_text config, const hs_options* options, hs_training** training, hs_error** error) {
    return guarded_input(error, [&] {
        hs_training*& place = given(training, "the place for the training");
        const std::string text = taken(config, "the configuration");
        const nlohmann::json json = text.empty() ? nlohmann::json::object() : parsed(text, "the configuration");
        if (!json.is_object()) {
            throw Failure(HS_INVALID, "the configuration is no JSON object: see docs/training.md");
        }
        const ChosenOptions chosen(options, kTraining);
        const OpenOptions open{.settings = chosen.settings()};
        place = new hs_training{make_owned<TrainingThread>(request_of(json, chosen), chosen.text("device"), open)};
    });
}

hs_status hs_training_next(hs_training* training, int64_t timeout_ms, hs_buffer** json, hs_error** error) {
    return guarded(error, [&] {
        given(json, "the place for the buffer");
        std::string event;
        const hs_status status = given(training, "training").thread->next(timeout_ms, event);
        if (status == HS_OK) {
            give(json, std::move(event));
        }
        return status;
    });
}

void hs_training_stop(hs_training* training) {
    if (training != nullptr) {
        training->thread->stop();
    }
}

void hs_training_free(hs_training* training) {
    delete training;
}
