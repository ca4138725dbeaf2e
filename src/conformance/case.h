// A test of an op: named operands with shapes, and how to make the op from them. The harness (harness.h, gradients.h)
// adds the rest: values, memory, layouts, writes, aliases, devices and tolerances.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/dropout_rule.h"
#include "support/random.h"

namespace headscope::conformance {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;
using HostValues = std::map<std::string, Values>;

// Makes `count` values; they are then rounded to the operand's dtype.
using Generator = std::function<Values(std::int64_t count, Random& random)>;

Generator normal(double deviation = 1.0);
Generator uniform(double low, double high);
Generator integers(std::int64_t low, std::int64_t high);  // low <= value < high
Generator these(Values values);                           // repeated as often as needed
// Multiples of 0.1, plus half a step if `odd`: the sum of an odd and an even one is never close to a kink at 0.
Generator grid(bool odd);

enum class Role {
    In,        // never changes
    Out,       // overwritten, whatever it contained
    Gradient,  // its op takes a Write (or matmul's beta): tested both ways
    InOut,     // read, then changed
};

// What a case states of an operand is its shape and values; the rest follows from what its op declares.
struct Operand {
    Operand(std::string operand_name, const Shape& operand_shape, Generator generator = normal())
        : name(std::move(operand_name)), shape(operand_shape), values(std::move(generator)) {}

    std::string name;
    Shape shape;
    Generator values;
    Role role = Role::In;
    std::optional<DType> dtype = {};  // default: the case's storage, or the backend's real type
    bool is_full = false;             // not T in its header: the backend's real type, whatever the storage
    bool may_stride = false;
    bool is_exact = false;
    bool is_narrow = false;
    bool is_weight = false;  // may be packed (Backend::pack)
    bool sums_rounded = false;
    double share = 1.0;  // of it, that the op must touch: counted in speeds in bytes

    Operand filled(Generator generator) const;
    Operand typed(DType type) const;
    Operand full() const;              // F32 where its header also allows T
    Operand narrow(DType type) const;  // a weight narrower than T (backend/declarations.h)
    Operand sum_of_rounded() const;    // F32 that sums what may have been rounded to the case's storage before
    Operand exact() const;             // when overwritten, equals the oracle's value rounded to its dtype bit for bit
    bool written() const { return role != Role::In; }
};

// A case's tensors on one device.
class Operands {
public:
    std::map<std::string, Tensor> tensors;
    std::set<std::string> accumulated;  // gradients that are accumulated

    const Tensor& operator[](const std::string& name) const;
    Tensor maybe(const std::string& name) const;  // undefined if the case has no such operand
    Write write(const std::string& name) const;
};

struct Case {
    using Run = std::function<void(Backend&, const Operands&)>;
    // Whether `got` is acceptable in place of `expected` at one index of an output, given all inputs.
    using Accept = std::function<bool(const std::string& output, std::size_t index, double got, const HostValues&)>;

    OpId op = OpId::Fill;
    std::string name;
    std::vector<Operand> operands;
    Run run;
    Run magnitude;            // the same op on absolute values: the scale of rounding errors
    double terms = 1.0;       // the length of the longest sum
    double cancelling = 0.0;  // the size of terms that cancel within the op
    std::vector<std::pair<std::string, std::string>> aliases;  // outputs that may be the same view as an input
    Accept accept;
    std::optional<DType> storage = {};    // of the operands that are T
    std::optional<Compute> compute = {};  // of a product with F32 operands
    double operand_roundoff = 0.0;        // by how much devices may differ in rounding an operand for that
    bool one_layout = false;              // only contiguous
    double arithmetic = 0.0;              // operations of one run, if those limit the speed and not bytes

    std::string op_name() const { return name_of(op); }
    const Operand& operand(const std::string& operand_name) const;
    std::string title() const;
    // The same case with its T operands stored in this dtype.
    Case stored_in(DType type) const;
    // An operand's dtype on a backend with this real type; the oracle has only the 16-bit operands that the case names.
    DType dtype_of(const Operand& operand, DType real = DType::F32) const;
    Case sums(double count) const;

    // Tensors without values, all gradients accumulated: what an op is made of to see what it declares of them.
    Operands stand_ins() const;
    // Roles, dtypes, layouts and aliases of the operands. CheckFailure if the op leaves one of them out.
    void take(const Declarations& declared, const Operands& stand_ins);

    Case cancels(double size) const;
    // The same with more rows than one dimension of a grid has workgroups. Only tested in one layout.
    Case past_a_grid() const;
    Case named(std::string other_name) const;
    // The same with `value` at one index of an operand, to see how NaN and infinity spread.
    Case holding(double value, const std::string& operand_name, std::size_t index) const;
};

// `build` makes the op struct: [](const Operands& t) { return Fill{.out = t["out"]}; }
template <class Build>
Case::Run runs(Build build) {
    return [build](Backend& backend, const Operands& operands) { backend.run(build(operands)); };
}

template <class Build>
Case make_case(std::string name, std::vector<Operand> operands, Build build) {
    using Op = std::invoke_result_t<Build, const Operands&>;
    Case made;
    made.op = id_of<Op>();
    made.name = std::move(name);
    made.operands = std::move(operands);
    made.run = runs(build);
    const Operands stand_ins = made.stand_ins();
    const Op op = build(stand_ins);
    made.take(operands_of(op), stand_ins);
    return made;
}

// The values of all operands; they depend only on the names of case and operand, so all devices get the same.
HostValues generate(const Case& stated);

// The operands that a dropout needs, and its rule. Ordinals are not just 0, 1, 2..
std::vector<Operand> with_dropout(std::vector<Operand> operands, std::int64_t batch, float rate);
DropoutRule rule(const Operands& operands, float rate);

}  // namespace headscope::conformance
