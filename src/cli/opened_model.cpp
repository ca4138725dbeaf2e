#include "cli/opened_model.h"

#include "cli/command.h"
#include "import/open_model.h"

namespace headscope {

ModelDirectory open_with_remarks(const std::string& path) {
    ModelDirectory model = open_model(path);
    for (const std::string& remark : model.remarks) {
        log_line(remark);
    }
    return model;
}

}  // namespace headscope
