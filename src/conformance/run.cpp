#include "conformance/run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ctime>
#include <system_error>

#include "conformance/device_report.h"
#include "conformance/selection.h"
#include "support/check.h"
#include "support/edit_distance.h"
#include "support/usage_error.h"

namespace headscope::conformance {

namespace {

bool has(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::string lower(const char* name) {
    std::string text = name;
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return text;
}

void require_paths(const std::vector<std::string>& wanted, const DeviceInfo& device) {
    for (const std::string& path : wanted) {
        if (path != kChosenPath && !has(device.paths, path)) {
            throw Error(fmt::format("the device {} has no path \"{}\"; it has {}", device.id, path,
                                    device.paths.empty()
                                        ? kChosenPath
                                        : fmt::format("{}, {}", kChosenPath, fmt::join(device.paths, ", "))));
        }
    }
}

// A typo, or a part of a name.
std::string meant_by(const std::string& op, const std::vector<std::string>& names) {
    if (std::string guess = nearest(op, names); !guess.empty()) {
        return guess;
    }
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const std::string& name) { return name.find(op) != std::string::npos; });
    return found == names.end() ? "" : *found;
}

}  // namespace

void require_known_ops(const std::vector<std::string>& wanted, const std::vector<std::string>& known) {
    std::vector<std::string> names;  // each once
    for (const std::string& name : known) {
        if (!has(names, name)) {
            names.push_back(name);
        }
    }
    for (const std::string& op : wanted) {
        if (!has(names, op)) {
            const std::string guess = meant_by(op, names);
            throw Error(fmt::format("unknown op or family \"{}\"; {}known are {}", op,
                                    guess.empty() ? "" : fmt::format("did you mean \"{}\"? ", guess),
                                    fmt::join(names, ", ")));
        }
    }
}

Part parse_part(const std::string& text) {
    constexpr std::size_t kMost = 1000;
    Part part;
    const char* const end = text.data() + text.size();
    const std::from_chars_result which = std::from_chars(text.data(), end, part.which);
    const bool has_slash = which.ec == std::errc() && which.ptr != end && *which.ptr == '/';
    const std::from_chars_result of = has_slash ? std::from_chars(which.ptr + 1, end, part.of) : which;
    if (!has_slash || of.ec != std::errc() || of.ptr != end || part.which < 1 || part.of < part.which ||
        part.of > kMost) {
        throw UsageError(fmt::format("a part is one of at most {}, such as 1/8 or 8/8, got \"{}\"", kMost, text));
    }
    return part;
}

bool asks_for(const Plan& plan, const Family& family, const Case& stated) {
    if (!plan.ops.empty() && !has(plan.ops, stated.op_name()) && !has(plan.ops, family.name)) {
        return false;
    }
    if (!plan.case_text.empty() && stated.title().find(plan.case_text) == std::string::npos) {
        return false;
    }
    const std::string precision = precision_of(stated);
    return plan.dtypes.empty() || std::any_of(plan.dtypes.begin(), plan.dtypes.end(), [&](const std::string& dtype) {
               // Whole words: "f16" must not match "bf16 products".
               return (" " + precision + " ").find(" " + dtype + " ") != std::string::npos ||
                      ("+" + precision + "+").find("+" + dtype + "+") != std::string::npos;
           });
}

std::string precision_of(const Case& stated, DType real) {
    if (stated.storage) {
        return lower(name_of(*stated.storage));
    }
    if (stated.compute) {
        return lower(name_of(*stated.compute)) + " products";
    }
    std::set<DType> dtypes;  // in the order of the enumeration: the widest first
    for (const Operand& operand : stated.operands) {
        const DType dtype = stated.dtype_of(operand, real);
        if (operand.is_narrow) {
            return lower(name_of(dtype)) + " weights";
        }
        const bool is_index = dtype == DType::I32 && stated.operands.size() > 1 && !operand.written();
        if (!is_index) {
            dtypes.insert(dtype);
        }
    }
    std::vector<std::string> names;
    for (const DType dtype : dtypes) {
        names.push_back(lower(name_of(dtype)));
    }
    return fmt::format("{}", fmt::join(names, "+"));
}

std::string date_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

Report run(const Plan& plan, const std::vector<Family>& families) {
    require_known(plan, families);
    Report report;
    report.scope = plan.full ? "full" : "quick";
    for (const std::string& id : plan.devices) {  // report missing devices before spending minutes on others
        require_paths(plan.paths, plan.open("", id)->device());
    }
    for (const std::string& id : plan.devices) {
        report.devices.push_back(report_of(plan, id, families));
        if (report.devices.back().results.empty() && report.devices.back().failure.empty()) {
            throw Error(fmt::format("nothing to do on {}: no case of this part has the requested ops and dtypes", id));
        }
    }
    return report;
}

}  // namespace headscope::conformance
