// Engines on small devices, for tests: lines to translate, and devices that fail.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/forwarding_backend.h"
#include "engine/engine.h"
#include "engine/text_translator.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/infer/tiny_model.h"

namespace headscope {

// A gate that threads wait for, with a timeout.
class Gate {
public:
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        opened_.notify_all();
    }
    // Returns whether it is open.
    bool wait() {
        constexpr std::chrono::seconds kLongest(20);
        std::unique_lock lock(mutex_);
        return opened_.wait_for(lock, kLongest, [this] { return open_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
};

// Waits for an event of a device's thread.
template <class Done>
bool soon(const Done& done) {
    for (int i = 0; i < 20'000; ++i) {
        if (done()) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

// A device that is lost after some products, which opens a gate.
class DyingBackend final : public ForwardingBackend {
public:
    DyingBackend(std::unique_ptr<Backend> inner, int products, Gate* gate = nullptr)
        : ForwardingBackend(std::move(inner)), left_(products), gate_(gate) {}
    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        if (left_-- <= 0) {
            if (gate_ != nullptr) {
                gate_->open();
            }
            throw Error("the device is gone");
        }
        ForwardingBackend::run(op);
    }

private:
    int left_;
    Gate* gate_;
};

// A device whose products wait for a gate; each of them opens another. Counts them.
class GatedBackend final : public ForwardingBackend {
public:
    GatedBackend(std::unique_ptr<Backend> inner, Gate* waits_for, Gate* opens)
        : ForwardingBackend(std::move(inner)), waits_for_(waits_for), opens_(opens) {}
    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        ++products_;
        if (opens_ != nullptr) {
            opens_->open();
        }
        if (waits_for_ != nullptr && !waits_for_->wait()) {
            throw Error("timeout while waiting for a gate");
        }
        ForwardingBackend::run(op);
    }
    int products() const { return products_; }

private:
    Gate* waits_for_;
    Gate* opens_;
    int products_ = 0;
};

inline std::vector<SourceLine> many_lines() {
    const std::vector<std::string> words{"the", "dog", "cat", "sees", "big", "small", "mat", "on", "sleeps", "a"};
    std::vector<SourceLine> lines;
    for (std::uint32_t i = 0; i < 60; ++i) {
        std::string text;
        for (std::uint32_t word = 0; word < i % 9; ++word) {
            text += words[(i * 7 + word * 3) % words.size()] + " ";
        }
        lines.push_back({.text = text, .number = i + 1});
    }
    return lines;
}

// An engine with the tiny model.
struct Team {
    std::unique_ptr<Engine> engine;
    ModelHandle model;

    template <class Request>
    Ticket<Request> submit(Request request, Terms terms = {}) const {
        return engine->submit(model, std::move(request), std::move(terms));
    }
    TextTranslator lines() const { return {*engine, model}; }
    std::vector<DeviceUse> uses() const { return engine->devices(); }
};

inline std::unique_ptr<const LoadedModel> load_tiny(Backend& backend, const WeightStorage& /*storage*/) {
    return std::unique_ptr<const LoadedModel>(new LoadedModel(tiny_translator(backend)));
}

// A small model of any family.
inline LoadModel load_of(const ModelConfig& config) {
    return [config](Backend& backend, const WeightStorage& /*storage*/) {
        return std::unique_ptr<const LoadedModel>(new LoadedModel(tiny_translator(backend, config)));
    };
}

// The same with weights that are not numbers.
inline std::unique_ptr<const LoadedModel> load_damaged(Backend& backend, const WeightStorage& storage) {
    std::unique_ptr<const LoadedModel> loaded = load_tiny(backend, storage);
    const Tensor& weights = loaded->parameters().flat_values();
    from_host(
        backend, weights,
        std::vector<float>(static_cast<std::size_t>(weights.elements()), std::numeric_limits<float>::quiet_NaN()));
    return loaded;
}

// A device with a name of its own.
class NamedBackend final : public ForwardingBackend {
public:
    NamedBackend(std::unique_ptr<Backend> inner, const std::string& id)
        : ForwardingBackend(std::move(inner)), info_(ForwardingBackend::device()) {
        info_.id = id;
    }
    const DeviceInfo& device() const override { return info_; }

private:
    DeviceInfo info_;
};

// The devices of an engine.
struct Crew {
    using Open = std::function<std::unique_ptr<Backend>()>;
    std::vector<Backend*> backends;  // those that are open
    std::vector<std::string> warnings;
    std::function<void(const std::string& message)> warn = [this](const std::string& message) {
        warnings.push_back(message);
    };

    // Opens again when it is lost.
    void add(Open open) {
        opens_.push_back(std::move(open));
        backends.push_back(nullptr);
    }
    // Cannot be opened again.
    void add(std::unique_ptr<Backend> backend) {
        const auto once = std::make_shared<std::unique_ptr<Backend>>(std::move(backend));
        add(Open([once] {
            if (*once == nullptr) {
                throw Error("it is gone for good");
            }
            return std::move(*once);
        }));
    }
    Team team(const LoadModel& load = load_tiny, const Bounds& bounds = {}) {
        EngineOptions options{.devices = {}, .bounds = bounds};
        for (std::size_t i = 0; i < opens_.size(); ++i) {
            options.devices.push_back("device " + std::to_string(i));
        }
        options.open_device = [this](const std::string& id) {
            const std::size_t device = std::stoul(id.substr(id.find(' ')));
            std::unique_ptr<Backend> backend = opens_.at(device)();
            backends.at(device) = backend.get();
            return std::make_unique<NamedBackend>(std::move(backend), id);
        };
        Team team{.engine = std::make_unique<Engine>(options, warn), .model = nullptr};
        team.model = team.engine->open(load);
        return team;
    }

private:
    std::vector<Open> opens_;
};

inline constexpr std::int64_t kBatchTokens = 32;

inline std::vector<std::string> texts(const TextTranslator& translator) {
    std::vector<std::string> found;
    std::size_t finished_before = 0;
    translator.translate_in_order(many_lines(), {.search = {}, .batch_tokens = kBatchTokens},
                                  [&](std::vector<TextResult> next, std::size_t finished) {
                                      for (const TextResult& sentence : next) {
                                          found.push_back(sentence.text);
                                      }
                                      CHECK(finished >= found.size());
                                      CHECK(finished >= finished_before);
                                      finished_before = finished;
                                  });
    return found;
}

inline std::vector<std::string> expected() {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    std::vector<std::string> found;
    for (TextResult& sentence :
         tiny_translator(*cpu).translate(many_lines(), {.search = {}, .batch_tokens = kBatchTokens})) {
        found.push_back(std::move(sentence.text));
    }
    return found;
}

inline int products_of_all_lines() {
    GatedBackend counting(open_device("cpu"), nullptr, nullptr);
    static_cast<void>(tiny_translator(counting).translate(many_lines(), {.search = {}, .batch_tokens = kBatchTokens}));
    return counting.products();
}

inline std::int64_t sentences_of(const std::vector<DeviceUse>& uses) {
    return std::accumulate(uses.begin(), uses.end(), std::int64_t{0},
                           [](std::int64_t sum, const DeviceUse& use) { return sum + use.sentences; });
}

inline std::int64_t sentences_with_words() {
    std::int64_t count = 0;
    for (const SourceLine& line : many_lines()) {
        count += line.text.empty() ? 0 : 1;
    }
    return count;
}

}  // namespace headscope
