#include "engine/attempt.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/failures.h"

namespace headscope {

namespace {

bool all_stopped(std::span<const Attempted> works) {
    return std::ranges::all_of(works, [](const Attempted& each) { return each.work->job().stopped(); });
}

void run_together(Device& device, std::span<Attempted> works) {
    std::vector<Work*> together = undone(works);
    if (together.empty()) {
        return;
    }
    const OpenModel& model = *works.front().work->job().model;
    run_whole(device.place(model, [works] { return !all_stopped(works); }), together);
    std::ranges::for_each(works, [](Attempted& each) { each.done = true; });
    std::erase_if(together, [](const Work* work) { return work->job().stopped(); });
    model.known().remember(together);
}

std::exception_ptr failure_of(Device& device, const std::function<void()>& work) {
    try {
        work();
        return nullptr;
    } catch (...) {
        device.failed(std::current_exception());
        return std::current_exception();
    }
}

// After works have failed together.
std::exception_ptr divide(Device& device, std::span<Attempted> works, const std::exception_ptr& failure) {
    const auto attempt = [&](std::span<Attempted> part) {
        const std::exception_ptr why = failure_of(device, [&] { run_together(device, part); });
        return why == nullptr ? nullptr : divide(device, part, why);
    };
    const auto by_callback = [&](const Attempted& each) {
        return !device.lost() && each.work->job().callback_failure() != nullptr;
    };
    if (std::ranges::all_of(works, by_callback)) {
        return nullptr;
    }
    const bool full = classify(failure) == Fault::OutOfMemory;
    if (full && works.size() > 1) {
        const std::size_t half = works.size() / 2;
        const std::exception_ptr first = attempt(works.first(half));
        return first != nullptr ? first : attempt(works.subspan(half));
    }
    // Of several works, the first that succeeds alone shows that the device works.
    const bool doubtful = works.size() == 1 || device.lost() || !device.is_open();
    if (!full && doubtful && !device.works(*works.front().work->job().model)) {
        return failure;
    }
    if (works.size() == 1) {
        works.front().why = failure;
        return nullptr;
    }
    for (std::size_t i = 0; i < works.size(); ++i) {
        if (works[i].done || works[i].work->job().stopped()) {
            continue;
        }
        if (const std::exception_ptr given_up = attempt(works.subspan(i, 1))) {
            return given_up;
        }
    }
    return nullptr;
}

}  // namespace

std::vector<Work*> undone(std::span<const Attempted> works) {
    std::vector<Work*> left;
    for (const Attempted& each : works) {
        if (!each.done) {
            left.push_back(each.work);
        }
    }
    return left;
}

std::exception_ptr try_again(Device& device, std::span<Attempted> works, std::exception_ptr failure) {
    const std::exception_ptr left =
        failure_of(device, [&] { device.repeat(std::move(failure), [&] { run_together(device, works); }); });
    return left == nullptr ? nullptr : divide(device, works, left);
}

}  // namespace headscope
