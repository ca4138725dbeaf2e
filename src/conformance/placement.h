// Where a case's operands lie on a device: every one in the middle of a larger buffer full of sentinel bytes.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance/case.h"

namespace headscope::conformance {

// How the operands lie that may be strided; the others are always contiguous.
enum class Layout {
    Contiguous,
    PaddedRows,  // every row and every plane a little apart
    Heads,       // [batch, heads, length, depth] over memory [batch, length, heads, depth]; rank 3: outer two exchanged
    Packed,      // operands of one shape and dtype interleave row by row in one buffer, as packed q/k/v do
};

// One way to run a case.
struct Variant {
    Layout layout = Layout::Contiguous;
    std::set<std::string> accumulated = {};
    std::string alias_output = {};  // shares the tensor of alias_input
    std::string alias_input = {};
    bool packed_weights = false;  // weights are laid out as the device packs them
    bool misaligned = false;      // views begin at odd elements, not where vectors of 4 or 16 would

    std::string title() const;
};

// Two kinds of garbage for what is overwritten: NaN, and large numbers.
enum class Garbage { Nan, Large };

// Where every element of a tensor lies in its region, in row-major order.
class Places {
public:
    // `begin`: the first element of the region.
    Places(const Tensor& tensor, std::int64_t begin);
    Places() = default;
    std::size_t size() const { return size_; }
    std::size_t operator[](std::size_t index) const { return listed_.empty() ? first_ + index : listed_[index]; }

private:
    std::size_t size_ = 0;
    std::size_t first_ = 0;            // of a contiguous one, whose elements may be many
    std::vector<std::size_t> listed_;  // of any other
};

class Placement {
public:
    Placement(Backend& backend, const Case& stated, const Variant& variant);

    const Operands& operands() const { return operands_; }

    // Puts values, garbage and sentinels in place.
    void fill(const HostValues& values, Garbage garbage);
    // Reads every buffer back; then the calls below tell what the op did.
    void read();

    // The first byte that changed and does not belong to an output, in words; empty if there is none.
    std::string stray_write() const;
    Values values_of(const std::string& name) const;
    // The stored bytes of every output, to be compared with those of another run.
    std::vector<std::byte> output_bytes() const;

private:
    struct Region {
        Tensor whole;
        std::vector<std::byte> before;
        std::vector<std::byte> after;
        std::vector<char> writable;  // for each element
        std::vector<const Operand*> members;
    };
    void place(const std::vector<const Operand*>& group, Layout layout);
    bool may_change(const Operand& operand) const;
    void pack_weights();

    Backend& backend_;
    const Case& case_;
    Variant variant_;
    Operands operands_;
    std::map<std::string, Places> places_;
    std::vector<Region> regions_;
};

}  // namespace headscope::conformance
