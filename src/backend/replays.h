// Which sequences of ops repeat (Backend::replay), and which recordings a backend keeps: bookkeeping only, testable
// without a device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/arena.h"
#include "backend/backend.h"
#include "support/check.h"
#include "tensor/tensor.h"

namespace headscope {

// The error for an operation that is not allowed within a replay: `what` was done, in the past tense.
std::string not_in_a_replay(const std::string& what);

// While it lives, a backend's `Memory` allocates from another pool.
template <class Memory>
class PoolScope {
public:
    PoolScope(Memory& memory, Pool pool) : memory_(memory), before_(memory.pool()) { memory_.use(pool); }
    PoolScope(const PoolScope&) = delete;
    PoolScope& operator=(const PoolScope&) = delete;
    ~PoolScope() { memory_.use(before_); }

private:
    Memory& memory_;
    const Pool before_;
};

// Thrown if a recording cannot be made or launched on a working device: the ops run one by one instead.
class NotRecorded : public Error {
public:
    using Error::Error;
};

// The same, but the next attempt can succeed, since running the ops prepares what was missing.
class NotRecordedYet : public NotRecorded {
public:
    using NotRecorded::NotRecorded;
};

// `Recording` is what a backend keeps. A sequence is recorded when it comes for the second time, since many never
// repeat; the least recently used recording is evicted. After a failure (out of memory or NotRecorded) nothing is
// recorded for a while, twice as long each time, so that failures cost little and memory that becomes free is used
// again.
template <class Recording>
class Replays {
public:
    // `pause`: sequences until the next attempt after the first failure.
    explicit Replays(std::size_t most, std::uint64_t pause = 256) : most_(most), pause_(pause) {}

    enum class Turn : std::uint8_t { Run, Record, Launch };
    // What to do with a sequence of this key.
    Turn next(const std::string& key) {
        Entry& entry = entries_[key];
        entry.used = ++clock_;
        if (entry.recording != nullptr) {
            return Turn::Launch;
        }
        forget_surplus(entry);
        if (waiting_ > 0) {
            --waiting_;
            return Turn::Run;
        }
        return ++entry.runs == 1 ? Turn::Run : Turn::Record;
    }

    // Whether a recording was launched: an existing one, or a new one (record()).
    template <class Memory, class Make, class Launch>
    bool replay(const std::string& key, Memory& memory, const Make& make, const Launch& launch) {
        switch (next(key)) {
            case Turn::Launch: return relaunch(key, memory, launch);
            case Turn::Record: return record(key, memory, make, launch);
            default: return false;
        }
    }

    // Launches and keeps what `make` records; its ops use the recordings' memory pool. False if that fails; the caller
    // then runs the ops one by one. If memory ran out, old recordings were dropped and it was tried again. CheckFailure
    // if something allocated by `make` outlives it.
    template <class Memory, class Make, class Launch>
    bool record(const std::string& key, Memory& memory, const Make& make, const Launch& launch) {
        try {
            if (keep(key, memory, make, launch) || keep(key, memory, make, launch)) {
                return true;
            }
        } catch (const NotRecordedYet&) {
            return false;
        } catch (const NotRecorded&) {  // not for lack of memory
        }
        postpone();
        return false;
    }
    const std::shared_ptr<const Recording>& recording(const std::string& key) const {
        return entries_.at(key).recording;
    }
    // The sequence is not worth recording: its next run counts as the first again. The key may be forgotten already.
    void disregard(const std::string& key) {
        if (const auto entry = entries_.find(key); entry != entries_.end()) {
            entry->second.runs = 0;
        }
    }
    void clear() { entries_.clear(); }
    std::size_t size() const { return entries_.size(); }

private:
    struct Entry {
        std::uint64_t runs = 0;
        std::uint64_t used = 0;
        std::shared_ptr<const Recording> recording;
    };

    template <class Memory, class Make>
    static std::shared_ptr<const Recording> recorded(Memory& memory, const Make& make) {
        const PoolScope scope(memory, Pool::Recordings);
        const std::size_t before = memory.live(Pool::Recordings);
        std::shared_ptr<const Recording> made = make();
        HEADSCOPE_CHECK(memory.live(Pool::Recordings) == before,
                        "what the body of a replay allocates must not outlive it");
        return made;
    }

    // False if memory ran out: everything that can be spared has been freed.
    template <class Memory, class Make, class Launch>
    bool keep(const std::string& key, Memory& memory, const Make& make, const Launch& launch) {
        try {
            std::shared_ptr<const Recording> made = recorded(memory, make);
            launch(made);  // which may need memory, too
            Entry& entry = entries_[key];
            entry.used = clock_;
            entry.recording = std::move(made);
            return true;
        } catch (const OutOfMemory&) {
            memory.free_blocks();
            return false;
        }
    }

    // False if that fails; the recording is then dropped.
    template <class Memory, class Launch>
    bool relaunch(const std::string& key, Memory& memory, const Launch& launch) {
        try {
            const std::shared_ptr<const Recording> kept = recording(key);  // may be evicted to free memory
            launch(kept);
            return true;
        } catch (const OutOfMemory&) {
            memory.free_blocks();
        } catch (const NotRecorded&) {  // not for lack of memory
        }
        entries_.erase(key);
        postpone();
        return false;
    }

    void postpone() {
        constexpr std::uint64_t kLongest = std::uint64_t{1} << 20U;
        waiting_ = pause_;
        pause_ = std::min(2 * pause_, kLongest);
    }

    void forget_surplus(const Entry& but) {
        while (entries_.size() > most_) {
            auto oldest = entries_.end();
            for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
                if (&entry->second != &but && (oldest == entries_.end() || entry->second.used < oldest->second.used)) {
                    oldest = entry;
                }
            }
            entries_.erase(oldest);
        }
    }

    std::size_t most_;
    std::uint64_t pause_;        // after the next failure
    std::uint64_t waiting_ = 0;  // sequences until recording resumes
    std::uint64_t clock_ = 0;
    std::unordered_map<std::string, Entry> entries_;
};

}  // namespace headscope
