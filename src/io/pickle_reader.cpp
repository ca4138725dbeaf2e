#include "io/pickle_reader.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "io/pickle_calls.h"
#include "support/check.h"
#include "support/utf8.h"

namespace headscope {

namespace {

using Kind = PickleKind;

class Unpickler {
public:
    Unpickler(ByteReader& bytes, PickleArena& arena) : bytes_(bytes), arena_(arena) {}

    const PickleValue& run() {
        for (;;) {
            const auto opcode = bytes_.number<std::uint8_t>();
            if (opcode == '.') {
                return pop();
            }
            if (!push_plain(opcode) && !build_container(opcode) && !use_memo(opcode) && !use_global(opcode)) {
                throw PickleError(fmt::format("its pickle has the opcode 0x{:02x}, which is not supported", opcode));
            }
        }
    }

private:
    bool push_plain(std::uint8_t opcode) {
        switch (opcode) {
            case 0x80: require_protocol(); return true;
            case 0x95: bytes_.take(8); return true;  // FRAME
            case 'N': push(Kind::None); return true;
            case 0x88:
            case 0x89: push(Kind::Bool).integer = opcode == 0x88 ? 1 : 0; return true;
            case 'J': push_int(static_cast<std::int32_t>(bytes_.number<std::uint32_t>())); return true;
            case 'K': push_int(bytes_.number<std::uint8_t>()); return true;
            case 'M': push_int(bytes_.number<std::uint16_t>()); return true;
            case 0x8a: push_long(bytes_.number<std::uint8_t>()); return true;
            case 0x8b: push_long(bytes_.number<std::uint32_t>()); return true;
            case 'G': push(Kind::Float).number = big_endian_double(); return true;
            case 'X': push_text(bytes_.number<std::uint32_t>()); return true;
            case 0x8c: push_text(bytes_.number<std::uint8_t>()); return true;
            case 0x8d: push_text(bytes_.number<std::uint64_t>()); return true;
            case 'U': push_python2_string(bytes_.number<std::uint8_t>()); return true;
            case 'T': push_python2_string(bytes_.number<std::uint32_t>()); return true;
            case 'B': push_bytes(bytes_.number<std::uint32_t>()); return true;
            case 'C': push_bytes(bytes_.number<std::uint8_t>()); return true;
            case 0x8e:
            case 0x96: push_bytes(bytes_.number<std::uint64_t>()); return true;
            default: return false;
        }
    }

    bool build_container(std::uint8_t opcode) {
        switch (opcode) {
            case '(': marks_.push_back(stack_.size()); return true;
            case '0': pop(); return true;
            case '1': pop_marked(); return true;
            case ')': push(Kind::Tuple); return true;
            case ']': push(Kind::List); return true;
            case '}': push(Kind::Dict); return true;
            case 0x8f: push(Kind::Set); return true;
            case 't': push_items(Kind::Tuple, pop_marked()); return true;
            case 0x91: push_items(Kind::Set, pop_marked()); return true;
            case 0x85:
            case 0x86:
            case 0x87: push_items(Kind::Tuple, pop_several(opcode - 0x84U)); return true;
            case 'a': append(pop_several(1), Kind::List); return true;
            case 'e': append(pop_marked(), Kind::List); return true;
            case 0x90: append(pop_marked(), Kind::Set); return true;
            case 's': append(pop_several(2), Kind::Dict); return true;
            case 'u': append(pop_marked(), Kind::Dict); return true;
            default: return false;
        }
    }

    bool use_memo(std::uint8_t opcode) {
        switch (opcode) {
            case 'q': memorize(bytes_.number<std::uint8_t>()); return true;
            case 'r': memorize(bytes_.number<std::uint32_t>()); return true;
            case 0x94: memorize(static_cast<std::uint32_t>(memo_.size())); return true;
            case 'h': push_memo(bytes_.number<std::uint8_t>()); return true;
            case 'j': push_memo(bytes_.number<std::uint32_t>()); return true;
            default: return false;
        }
    }

    bool use_global(std::uint8_t opcode) {
        switch (opcode) {
            case 'c': {
                const std::string_view module = line();
                push_global(module, line());
                return true;
            }
            case 0x93: {
                const std::string_view name = pop(Kind::Text).text;
                push_global(pop(Kind::Text).text, name);
                return true;
            }
            case 'Q': push(persistent_storage(arena_, pop())); return true;
            case 'R': {
                const PickleValue& arguments = pop();
                push(call_global(arena_, pop(), arguments));
                return true;
            }
            case 0x92:
                if (!pop(Kind::Dict).items.empty()) {
                    throw PickleError("its pickle makes an object from keywords, which is not supported");
                }
                [[fallthrough]];
            case 0x81: {
                const PickleValue& arguments = pop();
                push(new_instance(arena_, pop(), arguments));
                return true;
            }
            case 'b': {
                const PickleValue& state = pop();
                set_state(top(), state);
                return true;
            }
            default: return false;
        }
    }

    void require_protocol() {
        if (const auto protocol = bytes_.number<std::uint8_t>(); protocol < 2 || protocol > 5) {
            throw PickleError(fmt::format("its pickle has the protocol {}, expected 2 to 5", protocol));
        }
    }

    void push_int(std::int64_t value) { push(Kind::Int).integer = value; }

    // A two's complement number of any size. Those past 64 bits, such as legacy files' magic number, are kept as bytes.
    void push_long(std::size_t count) {
        const std::span<const std::byte> digits = bytes_.take(count);
        if (count > sizeof(std::int64_t)) {
            push(Kind::Bytes).text = as_text(digits);
            return;
        }
        const bool negative = count > 0 && (digits.back() & std::byte{0x80}) != std::byte{0};
        std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
        for (std::size_t digit = count; digit-- > 0;) {
            value = (value << 8U) | std::to_integer<std::uint64_t>(digits[digit]);
        }
        push_int(static_cast<std::int64_t>(value));
    }

    double big_endian_double() {
        std::uint64_t bits = 0;
        for (const std::byte byte : bytes_.take(sizeof(double))) {
            bits = (bits << 8U) | std::to_integer<std::uint64_t>(byte);
        }
        return std::bit_cast<double>(bits);
    }

    void push_bytes(std::uint64_t count) { push(Kind::Bytes).text = bytes_.text(count); }
    void push_text(std::uint64_t count) {
        const std::string_view text = bytes_.text(count);
        if (first_invalid_utf8(text)) {
            throw PickleError("its pickle has a text that is not UTF-8");
        }
        push(Kind::Text).text = text;
    }
    void push_python2_string(std::size_t count) {
        const std::string_view text = bytes_.text(count);
        push(first_invalid_utf8(text) ? Kind::Bytes : Kind::Text).text = text;
    }

    std::string_view line() {
        ByteReader ahead = bytes_;
        std::size_t length = 0;
        while (ahead.number<std::uint8_t>() != '\n') {
            ++length;
        }
        const std::string_view text = bytes_.text(length);
        bytes_.take(1);
        return text;
    }

    void push_global(std::string_view module, std::string_view name) {
        constexpr std::size_t kLongest = 1000;
        if (module.size() + name.size() > kLongest || first_invalid_utf8(module) || first_invalid_utf8(name)) {
            throw PickleError("its pickle is damaged: a class has no valid name");
        }
        PickleValue& global = push(Kind::Global);
        global.text = module;
        global.name = name;
    }

    // Attributes of an object; those of dicts and tensors (versions of modules, for example) are not read.
    void set_state(PickleValue& object, const PickleValue& state) {
        if (object.kind == Kind::Dict || object.kind == Kind::Tensor) {
            return;
        }
        if (object.kind == Kind::Object && !object.name.empty()) {  // numpy's dtype: (version, byte order, ..)
            if (state.items.size() > 1 && state.items[1]->text == ">") {
                throw PickleError("it has big-endian numbers of numpy");
            }
            return;
        }
        if (object.kind != Kind::Object) {
            throw PickleError("its pickle is damaged: a plain value has attributes");
        }
        const bool slots = state.kind == Kind::Tuple && state.items.size() == 2;
        for (const PickleValue* part : slots ? state.items : std::vector<const PickleValue*>{&state}) {
            if (part->kind == Kind::Dict) {
                arena_.spend(part->items.size());
                object.items.insert(object.items.end(), part->items.begin(), part->items.end());
            } else if (part->kind != Kind::None) {
                throw PickleError("its pickle has an object whose state is not a dict of attributes");
            }
        }
    }

    void append(const std::vector<const PickleValue*>& items, Kind kind) {
        PickleValue& container = top();
        const bool fits = container.kind == kind || (kind == Kind::Dict && container.kind == Kind::Object);
        if (!fits || (kind == Kind::Dict && items.size() % 2 != 0)) {
            throw PickleError("its pickle is damaged: an item is added to something else than a container");
        }
        container.items.insert(container.items.end(), items.begin(), items.end());
    }

    void push_items(Kind kind, std::vector<const PickleValue*> items) { push(kind).items = std::move(items); }

    void memorize(std::uint32_t number) {
        arena_.spend(1);
        memo_[number] = &top();
    }
    void push_memo(std::uint32_t number) {
        const auto found = memo_.find(number);
        if (found == memo_.end()) {
            throw PickleError(fmt::format("its pickle is damaged: it uses the value {}, which is not stored", number));
        }
        arena_.spend(1);
        stack_.push_back(found->second);
    }

    PickleValue& push(PickleValue& value) {
        stack_.push_back(&value);
        return value;
    }
    PickleValue& push(Kind kind) { return push(arena_.make(kind)); }

    PickleValue& top() {
        if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
            throw PickleError("its pickle is damaged: a value is missing");
        }
        return *stack_.back();
    }
    PickleValue& pop() {
        PickleValue& value = top();
        stack_.pop_back();
        return value;
    }
    PickleValue& pop(Kind kind) {
        PickleValue& value = pop();
        if (value.kind != kind) {
            throw PickleError("its pickle is damaged: a value is of another kind than expected");
        }
        return value;
    }
    std::vector<const PickleValue*> pop_from(std::size_t begin) {
        std::vector<const PickleValue*> items(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
        stack_.resize(begin);
        return items;
    }
    std::vector<const PickleValue*> pop_several(std::size_t count) {
        if (stack_.size() - (marks_.empty() ? 0 : marks_.back()) < count) {
            throw PickleError("its pickle is damaged: a value is missing");
        }
        return pop_from(stack_.size() - count);
    }
    std::vector<const PickleValue*> pop_marked() {
        if (marks_.empty()) {
            throw PickleError("its pickle is damaged: a mark is missing");
        }
        const std::size_t begin = marks_.back();
        marks_.pop_back();
        return pop_from(begin);
    }

    ByteReader& bytes_;
    PickleArena& arena_;
    std::vector<PickleValue*> stack_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::uint32_t, PickleValue*> memo_;
};

}  // namespace

const PickleValue& read_pickle(ByteReader& bytes, PickleArena& arena) {
    return Unpickler(bytes, arena).run();
}

}  // namespace headscope
