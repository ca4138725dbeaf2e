#include "conformance/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "conformance/harness.h"
#include "support/check.h"
#include "support/counted.h"

namespace headscope::conformance {

namespace {

bool names(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

void require_ops(const Plan& plan, const std::vector<Family>& families) {
    std::vector<std::string> ops;
    for (const Family& family : families) {
        ops.push_back(family.name);
        for (const Group& group : family.groups) {
            for (const Case& stated : group.is_left_out() ? std::vector<Case>{} : group.cases()) {
                ops.push_back(stated.op_name());
            }
        }
    }
    require_known_ops(plan.ops, ops);
}

void require_dtypes(const Plan& plan) {
    const std::vector<std::string> dtypes{"f32", "f16", "bf16", "tf32", "i8", "i32"};
    for (const std::string& dtype : plan.dtypes) {
        if (!names(dtypes, dtype)) {
            throw Error(fmt::format("unknown dtype \"{}\"; known are {}", dtype, fmt::join(dtypes, ", ")));
        }
    }
}

// Every case of these ops and dtypes, whatever its title.
std::vector<std::string> titles_of(Plan plan, const std::vector<Family>& families) {
    plan.case_text.clear();
    plan.part = {};
    std::vector<std::string> titles;
    for (const Unit& unit : units_of(plan, families)) {
        for (const Case& stated : unit.group.cases()) {
            for (const Case& stored : stored_cases(unit.group, stated)) {
                if (asks_for(plan, unit.family, stored)) {
                    titles.push_back(stored.title());
                }
            }
        }
    }
    return titles;
}

void require_case(const Plan& plan, const std::vector<Family>& families) {
    constexpr std::size_t kFew = 3;
    const std::vector<std::string> titles =
        plan.case_text.empty() ? std::vector<std::string>{} : titles_of(plan, families);
    const bool found = std::any_of(titles.begin(), titles.end(), [&](const std::string& title) {
        return title.find(plan.case_text) != std::string::npos;
    });
    if (!found && !titles.empty()) {
        throw Error(
            fmt::format("no case is called \"{}\"; of those ops and dtypes there {} {}, such as: {}", plan.case_text,
                        titles.size() == 1 ? "is" : "are", counted(titles.size(), "case"),
                        fmt::join(titles.begin(),
                                  titles.begin() + static_cast<std::ptrdiff_t>(std::min(kFew, titles.size())), "; ")));
    }
}

}  // namespace

std::vector<Unit> units_of(const Plan& plan, const std::vector<Family>& families) {
    std::vector<Unit> units;
    std::size_t number = 0;
    for (const Family& family : families) {
        for (const Group& group : family.groups) {
            if (group.is_left_out() && !plan.full) {
                continue;
            }
            if (plan.part.has(number)) {
                units.push_back({family, group, number});
            }
            ++number;
        }
    }
    return units;
}

std::vector<Case> stored_cases(const Group& group, const Case& stated) {
    std::vector<Case> all{stated};
    for (const DType dtype : group.is_large ? std::vector<DType>{} : storages_of(stated)) {
        all.push_back(stated.stored_in(dtype));
    }
    return all;
}

void require_known(const Plan& plan, const std::vector<Family>& families) {
    require_ops(plan, families);
    require_dtypes(plan);
    require_case(plan, families);
}

}  // namespace headscope::conformance
