#include "infer/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <numeric>
#include <thread>
#include <utility>

#include "support/check.h"

namespace headscope {

namespace {

using Clock = std::chrono::steady_clock;

std::int64_t source_tokens(const std::vector<TranslationUnit*>& units) {
    std::int64_t tokens = 0;
    for (const TranslationUnit* unit : units) {
        tokens += static_cast<std::int64_t>(unit->sentence.source_ids.size());
    }
    return tokens;
}

// Smaller batches where there are few lines, so that there are some for every device.
TranslationOptions shared_out(TranslationOptions options, const std::vector<SourceLine>& lines, std::size_t devices) {
    constexpr std::int64_t kBatchesEach = 3;
    constexpr std::int64_t kFewest = 64;
    constexpr std::int64_t kBytesOfAPiece = 4;
    std::int64_t bytes = 0;
    for (const SourceLine& line : lines) {
        bytes += static_cast<std::int64_t>(line.text.size());
    }
    const std::int64_t share = bytes / kBytesOfAPiece / (kBatchesEach * static_cast<std::int64_t>(devices));
    if (devices > 1) {
        options.batch_tokens = std::min(options.batch_tokens, std::max(share, kFewest));
    }
    return options;
}

std::int64_t longest_of(const std::vector<Fleet::Member>& members) {
    std::int64_t least = members.front().translator->longest();
    for (const Fleet::Member& member : members) {
        least = std::min(least, member.translator->longest());
    }
    return least;
}

}  // namespace

// The batches of some lines, between the devices that work at them and the one that hands results out.
class Fleet::Window {
public:
    Window(const Fleet& fleet, const std::vector<SourceLine>& lines, const TranslationOptions& options)
        : fleet_(fleet),
          options_(shared_out(options, lines, fleet.members_.size())),
          work_(fleet.model_, lines, options_, fleet.longest_, TranslationWork::Order::SoonestFirst),
          hands_(fleet.members_.size()) {
        for (std::size_t batch = 0; batch < work_.batches(); ++batch) {
            open_.push_back(batch);
            tokens_.push_back(source_tokens(work_.units_of(batch)));
        }
    }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    ~Window() {
        {
            const std::lock_guard lock(mutex_);
            open_.clear();
            stopped_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }

    // To the end of the lines.
    void run(const TranslatedSink& sink) {
        for (std::size_t member = 0; member < fleet_.members_.size(); ++member) {
            if (fleet_.shares_[member].failure.empty()) {
                ++working_;
            }
        }
        for (std::size_t member = 0; member < fleet_.members_.size(); ++member) {
            if (fleet_.shares_[member].failure.empty()) {
                threads_.emplace_back([this, member] { work(member); });
            }
        }
        std::unique_lock lock(mutex_);
        for (bool first = true;; first = false) {
            changed_.wait(lock, [&] { return first || news_ || !warnings_.empty() || working_ == 0; });
            news_ = false;
            const std::vector<std::string> warnings = std::exchange(warnings_, {});
            std::vector<TranslatedSentence> next = work_.next();
            const std::size_t finished = work_.finished();
            const bool over = finished == work_.lines();
            const bool lost = working_ == 0 && !over;
            lock.unlock();
            for (const std::string& warning : warnings) {
                fleet_.warn_(warning);
            }
            sink(std::move(next), finished);
            if (over) {
                return;
            }
            if (lost) {
                if (last_failure_ == nullptr) {
                    throw Error("no device is left to translate on: each has failed before");
                }
                if (fleet_.members_.size() == 1) {
                    std::rethrow_exception(last_failure_);
                }
                throw Error("no device is left to translate on; the last one failed: " + what_of(last_failure_));
            }
            lock.lock();
        }
    }

private:
    // A device's thread: batch after batch, until none is open and none may come back.
    void work(std::size_t member) {
        const Member& own = fleet_.members_[member];
        TranslationOptions options = options_;
        options.compute = own.compute;
        std::unique_lock lock(mutex_);
        for (;;) {
            // Who leaves a batch to another looks again: the other may take longer than was expected of it.
            constexpr std::chrono::milliseconds kLook(20);
            while (!changed_.wait_for(lock, kLook,
                                      [&] { return stopped_ || may_take(member) || (open_.empty() && busy_ == 0); })) {
            }
            if (stopped_ || open_.empty()) {
                break;
            }
            const std::size_t batch = open_.front();
            open_.pop_front();
            ++busy_;
            const std::vector<TranslationUnit*> units = work_.units_of(batch);
            const Clock::time_point begin = Clock::now();
            hands_[member] = {.busy = true, .until = begin + expected(member, tokens_[batch])};
            lock.unlock();
            const std::exception_ptr failure = translated(member, units, options);
            lock.lock();
            hands_[member].busy = false;
            --busy_;
            if (failure != nullptr) {
                open_.push_front(batch);
                give_up(member, failure);
                break;
            }
            work_.done(batch);
            count(member, units, std::chrono::duration<double>(Clock::now() - begin).count());
            news_ = true;
            changed_.notify_all();
        }
        --working_;
        changed_.notify_all();
    }

    // How long the device takes for so many tokens, going by what it has done; no time where it has done nothing yet.
    Clock::duration expected(std::size_t member, std::int64_t tokens) const {
        const std::lock_guard lock(fleet_.mutex_);
        const Share& share = fleet_.shares_[member];
        const double each = share.source_tokens > 0 ? share.seconds / static_cast<double>(share.source_tokens) : 0.0;
        return std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(each * static_cast<double>(tokens)));
    }

    // Whether the device works, and its pace is known.
    bool is_known(std::size_t member) const {
        const std::lock_guard lock(fleet_.mutex_);
        const Share& share = fleet_.shares_[member];
        return share.failure.empty() && share.source_tokens > 0;
    }

    // When a device may take its next batch. One that is late by now is taken to be half way.
    Clock::time_point free_at(std::size_t member, Clock::time_point now) const {
        const Hand& hand = hands_[member];
        return !hand.busy ? now : hand.until > now ? hand.until : now + (now - hand.until);
    }

    // Whether there is a batch, and no other device that would be done with all of them before this one with it. The
    // fastest device always takes it, and who has done nothing yet, so that its pace becomes known.
    bool may_take(std::size_t member) const {
        if (open_.empty()) {
            return false;
        }
        const Clock::time_point now = Clock::now();
        const Clock::time_point done = now + expected(member, tokens_[open_.front()]);
        const std::int64_t all =
            std::accumulate(open_.begin(), open_.end(), std::int64_t{0},
                            [this](std::int64_t sum, std::size_t batch) { return sum + tokens_[batch]; });
        for (std::size_t other = 0; other < fleet_.members_.size(); ++other) {
            if (other != member && is_known(other) && free_at(other, now) + expected(other, all) < done) {
                return false;
            }
        }
        return true;
    }

    // Null where all went well. Not under the lock.
    std::exception_ptr translated(std::size_t member, const std::vector<TranslationUnit*>& units,
                                  const TranslationOptions& options) {
        const Member& own = fleet_.members_[member];
        const Translator*& translator = fleet_.translators_[member];
        const auto work = [&] { translator->translate_units(units, options); };
        try {
            if (own.reopen == nullptr) {
                work();
                return nullptr;
            }
            with_fresh_device(
                fleet_.chances_[member], work, [&] { translator = own.reopen(); },
                [&](const std::string& what) {
                    const std::lock_guard lock(mutex_);
                    warnings_.push_back(fmt::format("{} was opened again and goes on: {}", own.name, what));
                    changed_.notify_all();
                });
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    void give_up(std::size_t member, const std::exception_ptr& failure) {
        const std::string& name = fleet_.members_[member].name;
        last_failure_ = failure;
        const std::string what = what_of(failure);
        {
            const std::lock_guard lock(fleet_.mutex_);
            fleet_.shares_[member].failure = what;
        }
        if (working_ > 1) {
            warnings_.push_back(fmt::format("{} failed, and the other devices go on with its work: {}", name, what));
        }
    }

    void count(std::size_t member, const std::vector<TranslationUnit*>& units, double seconds) {
        const std::lock_guard lock(fleet_.mutex_);
        Share& share = fleet_.shares_[member];
        ++share.batches;
        share.sentences += static_cast<std::int64_t>(units.size());
        share.source_tokens += source_tokens(units);
        share.seconds += seconds;
        for (const TranslationUnit* unit : units) {
            share.target_tokens += static_cast<std::int64_t>(unit->sentence.target_ids.size());
        }
    }

    const Fleet& fleet_;
    const TranslationOptions options_;
    TranslationWork work_;
    std::vector<std::int64_t> tokens_;  // of each batch's source
    struct Hand {
        bool busy = false;
        Clock::time_point until = {};  // when it is expected to be done
    };
    std::vector<Hand> hands_;  // of the devices
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::size_t> open_;  // batches that nobody works at
    std::size_t busy_ = 0;          // devices that work at one
    std::size_t working_ = 0;       // devices whose thread runs
    bool news_ = false;
    bool stopped_ = false;
    std::vector<std::string> warnings_;
    std::exception_ptr last_failure_;
    std::vector<std::thread> threads_;
};

Fleet::Fleet(std::vector<Member> members, std::function<void(const std::string&)> warn)
    : members_(std::move(members)),
      model_(members_.at(0).translator->model()),
      longest_(longest_of(members_)),
      warn_(std::move(warn)),
      chances_(members_.size()) {
    for (const Member& member : members_) {
        shares_.emplace_back().name = member.name;
        translators_.push_back(member.translator);
    }
}

void Fleet::translate_in_order(const std::vector<SourceLine>& lines, const TranslationOptions& options,
                               const TranslatedSink& sink) const {
    Window(*this, lines, options).run(sink);
}

std::vector<Fleet::Share> Fleet::shares() const {
    const std::lock_guard lock(mutex_);
    return shares_;
}

}  // namespace headscope
