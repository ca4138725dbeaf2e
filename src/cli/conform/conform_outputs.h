// The outputs of headscope conform: a table on standard output, and files.
#pragma once

#include <string>

#include "conformance/report.h"

namespace headscope {

struct ConformOutputs {
    std::string json;   // a file, "-" for standard output instead of the table, or empty for none
    std::string junit;  // likewise
};

// Checks, before minutes of work, that the files are different and can be written. Leaves nothing behind.
void require_writable(const ConformOutputs& outputs);

// Writes all outputs, even if some fail; then an Error names those and the reasons.
void write_report(const conformance::Report& report, const ConformOutputs& outputs);

}  // namespace headscope
