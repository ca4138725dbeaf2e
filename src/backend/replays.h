// Which runs of ops come again (Backend::replay), and what a backend keeps of them: bookkeeping alone, tested without a
// device.
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

// Where a tensor's first element lies: a block of a backend's memory, and the byte in it.
struct Address {
    std::uint64_t block = 0;
    std::uint64_t byte = 0;
};

// The name of a run and where its operands lie: two runs of one key are the same ops over the same memory. Bytes, not
// text: one is made at every step of decoding, of every parameter.
std::string replay_key(const std::string& name, const std::vector<Tensor>& operands,
                       const std::function<Address(const Tensor&)>& address_of);

// Why a backend refuses what it was asked for within a replay: `what` it was, in the past tense.
std::string not_in_a_replay(const std::string& what);

// Within its life a backend's `Memory` gives from another pool.
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

// Thrown by what makes a recording, or launches it, where that cannot be, on a device that works: op by op the same is
// computed.
class NotRecorded : public Error {
public:
    using Error::Error;
};

// The same of something that the run itself makes ready where it is not recorded: the next one can be.
class NotRecordedYet : public NotRecorded {
public:
    using NotRecorded::NotRecorded;
};

// `Recording` is whatever a run is kept as. A run is kept when it comes for the second time, since many never come
// again; of those kept, the one not used for longest makes room for the next. Where one could not be kept, for
// lack of memory or because the device refused (NotRecorded), all are run as they come for a while, twice as long each
// time, so that what a recording costs is not paid in vain again and again, and memory that comes free is made use of.
template <class Recording>
class Replays {
public:
    // `pause`: runs until the next attempt after the first that failed.
    explicit Replays(std::size_t most, std::uint64_t pause = 256) : most_(most), pause_(pause) {}

    enum class Turn : std::uint8_t { Run, Record, Launch };
    // What to do with a run of this key.
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

    // Whether a run of this key was launched: what was kept, or what is kept from now on (record()).
    template <class Memory, class Make, class Launch>
    bool replay(const std::string& key, Memory& memory, const Make& make, const Launch& launch) {
        switch (next(key)) {
            case Turn::Launch: return relaunch(key, memory, launch);
            case Turn::Record: return record(key, memory, make, launch);
            default: return false;
        }
    }

    // Launches what `make` records, whose ops have `memory` of the recordings' own, and keeps it. False where that
    // cannot be, and op by op the same is computed, a little slower; where there was too little memory, what was kept
    // has made room, and it was tried again. CheckFailure if something allocated by `make` outlives it.
    template <class Memory, class Make, class Launch>
    bool record(const std::string& key, Memory& memory, const Make& make, const Launch& launch) {
        try {
            if (keep(key, memory, make, launch) || keep(key, memory, make, launch)) {
                return true;
            }
        } catch (const NotRecordedYet&) {
            return false;
        } catch (const NotRecorded&) {  // there was memory enough
        }
        postpone();
        return false;
    }
    const std::shared_ptr<const Recording>& recording(const std::string& key) const {
        return entries_.at(key).recording;
    }
    // A run that is not worth keeping: the next of this key is taken for the first, too. It may be forgotten already.
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

    // False where there was too little memory: what can be spared has been freed.
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

    // False where that cannot be: then it is kept no longer.
    template <class Memory, class Launch>
    bool relaunch(const std::string& key, Memory& memory, const Launch& launch) {
        try {
            const std::shared_ptr<const Recording> kept = recording(key);  // which may go for the sake of memory
            launch(kept);
            return true;
        } catch (const OutOfMemory&) {
            memory.free_blocks();
        } catch (const NotRecorded&) {  // there was memory enough
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
    std::uint64_t pause_;        // the next one
    std::uint64_t waiting_ = 0;  // runs until something may be kept again
    std::uint64_t clock_ = 0;
    std::unordered_map<std::string, Entry> entries_;
};

}  // namespace headscope
