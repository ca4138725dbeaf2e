// Where headscope conform writes what it found: the table on standard output, files beside it.
#pragma once

#include <string>

#include "conformance/report.h"

namespace headscope {

struct ConformOutputs {
    std::string json;   // a file, "-" for standard output in the table's place, or empty for none
    std::string junit;  // likewise
};

// Error where two would be one, or a file cannot be written now: that is not worth minutes. Leaves nothing behind.
void require_writable(const ConformOutputs& outputs);

// All of them, whichever fail: then an Error says which, and why.
void write_report(const conformance::Report& report, const ConformOutputs& outputs);

}  // namespace headscope
