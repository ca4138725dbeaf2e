// Milliseconds until the first text of a translation, on an idle device and while it completes a prompt by 1,000 tokens
// for the same client or another.
// bench_first_text DEVICE REPEAT, in the folder of the bundled models
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace {

using namespace headscope;

constexpr std::int64_t kTokens = 1000;

// The bundled language model was trained for shorter texts, but its positions go on.
std::unique_ptr<const LoadedModel> load_longer(Backend& backend, const WeightStorage& storage) {
    const auto whole = std::make_shared<const LoadedModel>(backend, "en-causal", storage);
    ModelDirectory longer = whole->model();
    longer.config.max_length = kTokens + 24;
    return std::make_unique<const LoadedModel>(backend, std::move(longer),
                                               std::shared_ptr<const Parameters>(whole, &whole->parameters()));
}

class Bench {
public:
    Bench(const std::string& device, int repeat)
        : engine_({.devices = {device}}, [](const std::string& message) { fmt::print("{}\n", message); }),
          translating_(engine_.open(std::vector<std::string>{"en-de"})),
          completing_(engine_.open(load_longer)),
          repeat_(repeat) {
        static_cast<void>(first_text());  // compiles kernels
    }

    // Milliseconds, sorted. `beside`: the client of a completion that runs meanwhile.
    std::vector<double> measure(const std::optional<std::string>& beside) {
        std::vector<double> times;
        while (std::ssize(times) < repeat_) {
            if (!beside) {
                times.push_back(first_text());
                continue;
            }
            const Ticket<TextRequest> completion = complete(*beside);
            while (std::ssize(times) < repeat_ && !completion.wait_for({})) {
                const double time = first_text();
                if (!completion.wait_for({})) {
                    times.push_back(time);
                }
            }
            completion.cancel();
            completion.settle();
        }
        std::sort(times.begin(), times.end());
        return times;
    }

private:
    double first_text() {
        TextRequest request{
            .line = {.text = "A man in a blue shirt is standing on a ladder cleaning a window.", .number = 1},
            .options = {.search = translating_->search_options({})},
            .streams = true};
        const auto begin = std::chrono::steady_clock::now();
        const Ticket<TextRequest> ticket = engine_.submit(translating_, std::move(request));
        std::string text;
        while (text.empty()) {
            text = ticket.next().value().text;
        }
        const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
        ticket.cancel();
        ticket.settle();
        return time.count();
    }
    // One that has begun.
    Ticket<TextRequest> complete(const std::string& client) {
        TextRequest request{
            .line = {.text = "The woman", .number = 1},
            .options = {.search = completing_->search_options({.max_extra = kTokens, .min_length = kTokens})},
            .streams = true};
        Ticket<TextRequest> ticket = engine_.submit(completing_, std::move(request), {.client = client});
        static_cast<void>(ticket.next());
        return ticket;
    }

    Engine engine_;
    const ModelHandle translating_, completing_;
    const int repeat_;
};

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        fmt::print("expected: bench_first_text DEVICE REPEAT\n");
        return 1;
    }
    Bench bench(arguments[1], std::atoi(arguments[2]));
    double alone = 0.0;
    for (const auto& [name, beside] : {std::pair<const char*, std::optional<std::string>>{"alone", {}},
                                       {"beside a completion of the same client", ""},
                                       {"beside a completion of another client", "other"}}) {
        const std::vector<double> times = bench.measure(beside);
        const double median = times.at(times.size() / 2);
        alone = beside ? alone : median;
        fmt::print("{:<40} median {:6.2f} ms, longest {:6.2f} ms; {:4.2f} times alone\n", name, median, times.back(),
                   median / alone);
    }
    return 0;
}
