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

// `Recording` is whatever a run is kept as. A run is kept when it comes for the second time, since many never come
// again; of those kept, the one not used for longest makes room for the next. Where one could not be kept for lack of
// memory, all are run as they come for a while, twice as long each time, so that what a recording costs is not paid in
// vain again and again, and memory that comes free is made use of.
template <class Recording>
class Replays {
public:
    // `pause`: runs until the next attempt after the first that failed.
    explicit Replays(std::size_t most, std::uint64_t pause = 256) : most_(most), pause_(pause) {}

    enum class Turn : std::uint8_t { Run, Record, Launch };
    // What to do with a run of this key. After Record, keep() or nothing if that failed.
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

    void keep(const std::string& key, std::shared_ptr<const Recording> recording) {
        entries_.at(key).recording = std::move(recording);
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
    // There was no memory to keep a run.
    void postpone() {
        constexpr std::uint64_t kLongest = std::uint64_t{1} << 20U;
        waiting_ = pause_;
        pause_ = std::min(2 * pause_, kLongest);
    }
    std::size_t size() const { return entries_.size(); }

private:
    struct Entry {
        std::uint64_t runs = 0;
        std::uint64_t used = 0;
        std::shared_ptr<const Recording> recording;
    };

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
